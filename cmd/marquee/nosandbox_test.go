package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/soak"
)

// TestABinaryForProductionHoldsNoSandbox: built with -tags nosandbox, dev and sandbox say so and end with status 2, and
// neither the sandbox nor the private Postgres is linked.
func TestABinaryForProductionHoldsNoSandbox(t *testing.T) {
	t.Parallel()
	linked := func(tags string) string {
		out, err := exec.Command("go", "list", "-deps", "-tags", tags, ".").Output()
		require.NoError(t, err)
		return string(out)
	}
	for _, development := range []string{
		"marquee/testutil/sandbox/gwa\n", "marquee/testutil/sandbox/gwb\n", "marquee/testutil/localpg\n",
	} {
		require.Contains(t, linked(""), development, "this test looks for the right names")
	}
	require.NotContains(t, linked("nosandbox"), "marquee/testutil/")

	binary := build(t, "nosandbox")
	for _, args := range []string{
		"dev", "dev --json --addr 127.0.0.1:0", "sandbox", "sandbox --json --gwa-addr 127.0.0.1:0",
	} {
		c := exec.Command(binary, strings.Fields(args)...)
		out, err := c.CombinedOutput()
		require.Error(t, err, args)
		require.Equal(t, 2, c.ProcessState.ExitCode(), args)
		require.Equal(t,
			"marquee: this binary is built for production (-tags nosandbox): it holds neither the sandbox gateways nor the private Postgres that dev and sandbox run\n", string(out), args)
	}
	out, err := exec.Command(binary, "serve", "--help").CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(out), "DATABASE_URL")
}

// TestABinaryForProductionLinksWhatItUsesLong: nothing in a release finds methods by names or numbers that are known at run
// time alone, for which the linker would keep all of every type (docs/decisions/linked-methods.md).
func TestABinaryForProductionLinksWhatItUsesLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "marquee")
	// Compiled as the tests are (Makefile), since a release would take minutes: without what inlining adds: 42 MiB of a release are 40.5 MB here.
	// A release itself is measured by TestAReleaseTwiceIsEqualOps.
	link := exec.Command("go", "build", "-tags", "nosandbox,nodynamic", "-gcflags", "all=-dwarf=false -l",
		"-ldflags", "-s -w -dumpdep", "-o", binary, ".")
	out, err := link.CombinedOutput()
	require.NoError(t, err, "%.2000s", out)
	lines := strings.Split(string(out), "\n")
	require.Greater(t, len(lines), 100_000, "the linker says what needs what")
	var finders []string
	for _, line := range lines {
		if strings.HasSuffix(line, "<ReflectMethod>") {
			finders = append(finders, line)
		}
	}
	require.Empty(t, finders)
	info, err := os.Stat(binary)
	require.NoError(t, err)
	require.Less(t, info.Size()-sizeBelow(t, "../../web/dist"), int64(40_500_000), "without the front ends")
}

// sizeBelow is how many bytes the files below a folder have.
func sizeBelow(t *testing.T, folder string) (bytes int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		bytes += info.Size()
		return err
	}))
	return bytes
}
