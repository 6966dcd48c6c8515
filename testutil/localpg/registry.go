package localpg

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// configuredRegistry is the registry that the environment or the user's .npmrc names, for
// machines that are set up for npm packages but have no npm. Empty when none is named.
func configuredRegistry(env func(string) string) string {
	for _, name := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		if registry := env(name); registry != "" {
			return registry
		}
	}
	file, err := os.Open(filepath.Join(env("HOME"), ".npmrc"))
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "=")
		if strings.TrimSpace(name) == "registry" {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// tarballURL follows the registry's fixed layout: <base>/<name>/-/<last part>-<version>.tgz.
func (f fetcher) tarballURL() string {
	return strings.TrimSuffix(f.registry, "/") + "/" + f.pkg.name + "/-/" + path.Base(f.pkg.name) + "-" +
		f.pkg.version + ".tgz"
}

func (f fetcher) downloadTarball(ctx context.Context, dir string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.tarballURL(), nil)
	if err != nil {
		return "", fmt.Errorf("the configured npm registry is no URL: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the configured npm registry answers %s", resp.Status)
	}
	tarball := filepath.Join(dir, "package.tgz")
	file, err := os.Create(tarball)
	if err != nil {
		return "", err
	}
	defer file.Close()
	counter := &progressWriter{to: f.progress, total: resp.ContentLength, last: time.Now()}
	if _, err := io.Copy(io.MultiWriter(file, counter), resp.Body); err != nil {
		return "", err
	}
	return tarball, file.Close()
}

// progressWriter counts what passes and says so about once a second.
type progressWriter struct {
	to          io.Writer
	done, total int64
	last        time.Time
}

func (w *progressWriter) Write(p []byte) (int, error) {
	w.done += int64(len(p))
	if time.Since(w.last) >= time.Second {
		w.last = time.Now()
		if w.total > 0 {
			fmt.Fprintf(w.to, "  … %d %%\n", 100*w.done/w.total)
		} else {
			fmt.Fprintf(w.to, "  … %d MB\n", w.done>>20)
		}
	}
	return len(p), nil
}
