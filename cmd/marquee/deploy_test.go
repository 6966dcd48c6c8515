package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
)

// deploy is the folder of what the platform is run by; its tests start the programs that read it.
const deploy = "../../deploy"

// program finds one that not every machine has, or skips the test.
func program(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian's package %s): nothing was asked of it", name, debian)
	}
	return path
}

// tool runs one of the module of tools/, or skips the test where it cannot be had.
func tool(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	text, err := exec.Command("go", append([]string{"tool", "-modfile=../../tools/go.mod"}, args...)...).CombinedOutput()
	if err != nil && strings.Contains(string(text), "dial tcp") {
		t.Skipf("%s cannot be had: %s", args[0], text)
	}
	return string(text), err
}

// read is a file of deploy.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, name))
	require.NoError(t, err)
	return string(text)
}

// TestUnitsOfSystemdAreSoundAndHardened: systemd-analyze knows every word of them, and finds little that they may do.
func TestUnitsOfSystemdAreSoundAndHardened(t *testing.T) {
	t.Parallel()
	analyze, dir := program(t, "systemd-analyze", "systemd"), t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(deploy, "systemd"))))
	ask := func(args ...string) (string, error) {
		c := exec.Command(analyze, args...)
		c.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	units := []string{"marquee-serve.service", "marquee-work.service"}
	for _, unit := range units {
		path := filepath.Join(dir, unit)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		installed := strings.ReplaceAll(string(text), "/usr/local/bin/marquee", build(t, "nosandbox"))
		require.NoError(t, os.WriteFile(path, []byte(installed), 0o600))
		out, err := ask("verify", "--man=no", unit)
		require.NoError(t, err, out)
		require.Empty(t, out)
		out, err = ask("security", "--offline=true", "--threshold=15", unit) // of 100
		require.NoError(t, err, out)
	}
	hardening := filepath.Join(dir, "marquee-.service.d", "hardening.conf")
	require.NoError(t, os.WriteFile(hardening, []byte("[Service]\nProtectHoem=yes\n"), 0o600))
	out, _ := ask("verify", "--man=no", units[0])
	require.Contains(t, out, "Unknown key 'ProtectHoem'")
	_, err := ask("security", "--offline=true", "--threshold=15", units[0])
	require.Error(t, err)
}

// TestManifestsOfKubernetesFitItsAPI: kubeconform knows every field of them, by the schemas beside them.
func TestManifestsOfKubernetesFitItsAPI(t *testing.T) {
	t.Parallel()
	check := func(files ...string) (string, error) {
		return tool(t, append([]string{
			"kubeconform", "-strict", "-summary", "-schema-location",
			deploy + "/kubernetes/schemas/{{.ResourceKind}}{{.KindSuffix}}.json",
		}, files...)...)
	}
	out, err := check(deploy+"/kubernetes/serve.yaml", deploy+"/kubernetes/work.yaml")
	require.NoError(t, err, out)
	require.Contains(t, out, "4 resources found in 2 files - Valid: 4, Invalid: 0, Errors: 0, Skipped: 0")

	serve, path := read(t, "kubernetes/serve.yaml"), filepath.Join(t.TempDir(), "planted.yaml")
	for from, to := range map[string]string{
		"readinessProbe": "readynessProbe", "replicas: 2": "replicas: two", "kind: Service": "kind: Srevice",
	} {
		require.Contains(t, serve, from)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(serve, from, to, 1)), 0o600))
		out, err = check(path)
		require.Error(t, err, "%s: %s", to, out)
	}
}

// TestTheExampleOfTheEnvironmentIsWhole: filled in, it is all that serve and work need, and what deploy sets is read.
func TestTheExampleOfTheEnvironmentIsWhole(t *testing.T) {
	t.Parallel()
	example := read(t, "marquee.env.example")
	check := func(text string) (string, error) {
		c := exec.Command(build(t, "nosandbox"), "config", "check")
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				c.Env = append(c.Env, line)
			}
		}
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := check(example)
	require.Error(t, err)
	require.Contains(t, out, "6 variables would keep serve and work from starting")
	long := strings.Repeat("k", 32)
	filled := strings.ReplaceAll(example, "TOKEN_KEYS=a:\n", "TOKEN_KEYS=a:"+long+"\n")
	filled = regexp.MustCompile(`(?m)^(FILE_KEY|GW\w+)=$`).ReplaceAllString(filled, "$1="+long)
	out, err = check(filled)
	require.NoError(t, err, out)

	known := app.DescribeConfig()
	names := regexp.MustCompile(`\b[A-Z]+_[A-Z_]+\b`)
	for _, file := range []string{"marquee.env.example", "compose.yaml", "kubernetes/serve.yaml", "kubernetes/work.yaml"} {
		for _, name := range names.FindAllString(read(t, file), -1) {
			if !strings.HasPrefix(name, "POSTGRES_") {
				require.Contains(t, known, name, file)
			}
		}
	}
}
