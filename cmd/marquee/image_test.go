package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// TestTheImageRunsOps: buildah makes the image of a release, which is small; migrate, serve and work run in it, of a user
// without rights, and serve is well.
func TestTheImageRunsOps(t *testing.T) {
	if os.Getenv("OPS") == "" {
		t.Skip("builds a release and its image: make test-ops")
	}
	buildah, dir := program(t, "buildah", "buildah"), t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, args, out)
		return strings.TrimSpace(string(out))
	}
	release, archive := filepath.Join(dir, "release"), filepath.Join(dir, "image.tar")
	run("go", "-C", "../../tools", "run", "./release", "-o", release)
	ours := []string{"--storage-driver", "vfs", "--root", filepath.Join(dir, "storage"), "--runroot", filepath.Join(dir, "run")}
	with := func(args ...string) []string { return append(ours[:len(ours):len(ours)], args...) }
	run(buildah, with("bud", "--isolation", "chroot", "-f", filepath.Join(deploy, "Dockerfile"), "-t", "marquee", release)...)
	run(buildah, with("push", "-q", "marquee", "oci-archive:"+archive)...)
	info, err := os.Stat(archive)
	require.NoError(t, err)
	binary, err := os.Stat(filepath.Join(release, "linux-amd64", "marquee"))
	require.NoError(t, err)
	t.Logf("the image has %.1f MB, %.1f MB compressed", float64(binary.Size())/1e6, float64(info.Size())/1e6)
	require.Less(t, info.Size(), int64(50_000_000), "as it is pushed and pulled")

	require.Equal(t, "65532:65532", run(buildah, with("inspect", "--type", "image", "--format", "{{.OCIv1.Config.User}}", "marquee")...))
	database, long := pgtest.URL(t), strings.Repeat("k", 32)
	addr := loopback()
	container := run(buildah, with("from", "marquee")...)
	for _, variable := range []string{
		"DATABASE_URL=" + database, "ADDR=" + addr, "METRICS_ADDR=off",
		"WORK_METRICS_ADDR=off", "DRAIN_DELAY=0", "PUBLIC_URL=http://" + addr, "TOKEN_KEYS=a:" + long,
		"FILE_KEY=" + long, "GWA_API_KEY=key", "GWA_WEBHOOK_TOKEN=" + long, "GWB_SECRET_KEY=key", "GWB_WEBHOOK_SECRET=" + long,
		"SMTP_URL=smtp://127.0.0.1:1", "DATABASE_MAX_CONNS=4",
	} {
		run(buildah, with("config", "--env", variable, container)...)
	}
	inside := func(args ...string) []string {
		return with(append([]string{"run", "--isolation", "chroot", container, "--", "/marquee"}, args...)...)
	}
	require.Contains(t, run(buildah, inside("migrate", "up")...), "applied: 0")
	require.Contains(t, run(buildah, inside("version", "--json")...), `"commit":"`)
	for _, command := range []string{"serve", "work"} {
		c, log := exec.Command(buildah, inside(command)...), &secrettest.Log{}
		c.Stderr = log
		require.NoError(t, c.Start())
		eventually(t, command+" does not run", func() bool { return processOf("/marquee", command) > 0 })
		pid := processOf("/marquee", command)
		t.Cleanup(func() {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			require.NoError(t, c.Wait(), "%s: %s", command, log)
		})
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		require.NoError(t, err)
		require.Contains(t, string(status), "Uid:\t65532\t65532\t")
		require.Contains(t, string(status), "CapEff:\t0000000000000000")
	}
	eventually(t, "serve is not well", func() bool {
		status, _, err := tryCall(http.MethodGet, "http://"+addr+"/api/v1/health", "", nil)
		return err == nil && status == http.StatusOK
	})
}

// processOf is the id of the process with these arguments; 0 where there is none.
func processOf(args ...string) int {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range found {
		line, err := os.ReadFile(file)
		if err == nil && string(line) == strings.Join(args, "\x00")+"\x00" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	return 0
}
