package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// installDebianPackage installs Debian's Postgres. The package would make and start a
// cluster of its own; its configuration is told not to before it is unpacked.
func (f fetcher) installDebianPackage(ctx context.Context) error {
	fmt.Fprintln(f.progress, "Installing Debian's Postgres (apt-get install postgresql)")
	if err := f.apt(ctx, "update"); err != nil {
		return err
	}
	if err := f.apt(ctx, "install", "-y", "--no-install-recommends", "postgresql-common"); err != nil {
		return err
	}
	restore, err := f.suppressMainCluster()
	if err != nil {
		return err
	}
	defer restore()
	return f.apt(ctx, "install", "-y", "--no-install-recommends", "postgresql")
}

// suppressMainCluster turns off the cluster that the package makes at its installation,
// for this one; what the machine's administrator does later is their choice.
func (f fetcher) suppressMainCluster() (restore func(), err error) {
	dir := filepath.Join(f.aptConf, "createcluster.d")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "marquee.conf")
	if err := os.WriteFile(path, []byte("create_main_cluster = false\n"), 0o644); err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(path) }, nil
}

func (f fetcher) apt(ctx context.Context, args ...string) error {
	stop := f.tick()
	defer stop()
	cmd := exec.CommandContext(ctx, f.aptGet, append([]string{"-q"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Dir = "/"
	// Cut off hard, it would leave half-configured packages to the administrator.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, lastLine(string(out)))
	}
	return nil
}
