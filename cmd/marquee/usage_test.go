package main_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAWrongCommandLineExitsWith2: before anything is read or done, and with a sentence that names what is wrong.
func TestAWrongCommandLineExitsWith2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says string
		args []string
	}{
		{`unknown command "serv" for "marquee"`, []string{"serv"}},
		{`unknown command "upp" for "marquee migrate"`, []string{"migrate", "upp"}},
		{`unknown command "now" for "marquee serve"`, []string{"serve", "now"}},
		{`unknown flag: --port`, []string{"dev", "--port", "1"}},
		{`required flag(s) "since" not set`, []string{"reconcile"}},
		{`--gateway: "gwc" is neither gwa nor gwb`, []string{"reconcile", "--since", "1h", "--gateway", "gwc"}},
		{`[apply dry-run] were all set`, []string{"reconcile", "--since", "1h", "--apply", "--dry-run"}},
		{
			`[customer root] were all set`,
			[]string{"user", "create", "--username", "u", "--email", "e", "--root", "--customer"},
		},
		{`required flag(s) "email" not set`, []string{"user", "create", "--username", "u"}},
		{`required flag(s) "username" not set`, []string{"user", "mfa-reset"}},
		{`invalid argument "gwc"`, []string{"gateway", "trust", "gwc"}},
		{`accepts 1 arg(s), received 0`, []string{"analyst", "create"}},
	} {
		out, err := exec.Command(build(t, ""), c.args...).CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%v: %s", c.args, out)
		require.Equal(t, 2, exit.ExitCode(), "%v: %s", c.args, out)
		require.Contains(t, string(out), c.says)
		require.Contains(t, string(out), `--help" for what it takes.`)
	}
	for _, args := range [][]string{nil, {"--help"}, {"migrate"}, {"serve", "--help"}} {
		out, err := exec.Command(build(t, ""), args...).Output()
		require.NoError(t, err, "%v", args)
		require.Contains(t, string(out), "Usage:\n  marquee")
	}
}
