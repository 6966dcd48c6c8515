// Command release makes of a commit what is released of it: for each architecture an archive with the binary for
// production, its bill of materials, the license, and what systemd needs; their sums, and what the image of
// deploy/Dockerfile is made of. Equal commits give equal bytes wherever they lie, as long as Go is the same: `make
// release` takes the Makefile's RELEASE_GO, in which known vulnerabilities are looked for.
//
//	GOTOOLCHAIN=go1.… go -C tools run ./release [-o bin/release]
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	out := flag.String("o", "", "folder that is made anew; by default bin/release of the repository")
	flag.Parse()
	root, err := git(".", "rev-parse", "--show-toplevel")
	if *out == "" {
		*out = filepath.Join(root, "bin", "release")
	}
	if err == nil {
		*out, err = filepath.Abs(*out)
	}
	if err == nil {
		err = release(root, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release makes the folder out, of the commit at which the repository at root stands. It builds in a clone of its own:
// Go marks none in a linked work tree, and what is not committed is not released. env is added to that of the builds.
func release(root, out string, env ...string) error {
	clone, err := os.MkdirTemp("", "marquee-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(clone) }()
	if _, err := git(root, "clone", "--quiet", "--shared", ".", clone); err != nil {
		return err
	}
	return releaseOf(clone, out, env)
}

// releaseOf makes the folder out of a clone.
func releaseOf(root, out string, env []string) error {
	committed, err := commitTime(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(out, "tmp"), 0o755); err != nil { // the image's /tmp
		return err
	}
	if err := writeRoots(filepath.Join(out, "ca-certificates.crt")); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, arch := range []string{"amd64", "arm64"} {
		dir := filepath.Join(out, "linux-"+arch)
		version, err := build(root, dir, arch, committed, env)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("marquee-%s-linux-%s.tar.gz", version, arch)
		archive, err := pack(dir, committed)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), archive, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s  %.1f MB\n", name, float64(len(archive))/1e6)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums.Bytes(), 0o644)
}

// build fills a folder with what an archive holds, and tells the version.
func build(root, dir, arch string, committed time.Time, env []string) (version string, err error) {
	binary := filepath.Join(dir, "marquee")
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-tags", "nosandbox,nodynamic",
		"-ldflags", "-s -w", "-o", binary, "./cmd/marquee")
	command.Dir, command.Stderr = root, os.Stderr
	command.Env = append(append(os.Environ(), env...), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("build for %s: %w", arch, err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", err
	}
	locks, err := lockfiles(root)
	if err != nil {
		return "", err
	}
	materials, err := billOfMaterials(info, locks, committed)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "marquee.cdx.json"), materials, 0o644); err != nil {
		return "", err
	}
	for from, to := range map[string]string{
		"LICENSE": "LICENSE", "deploy/marquee.env.example": "marquee.env.example", "deploy/systemd": "systemd",
	} {
		if err := copyTree(filepath.Join(root, from), filepath.Join(dir, to)); err != nil {
			return "", err
		}
	}
	return info.Main.Version, nil
}

func commitTime(root string) (time.Time, error) {
	text, err := git(root, "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err
}

// lockfiles are the contents of each package-lock.json of the tree.
func lockfiles(root string) ([][]byte, error) {
	names, err := git(root, "ls-files", "package-lock.json", "*/package-lock.json")
	if err != nil {
		return nil, err
	}
	var locks [][]byte
	for name := range strings.FieldsSeq(names) {
		lock, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		locks = append(locks, lock)
	}
	return locks, nil
}

func git(dir string, args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	out, err := command.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// writeRoots writes the certificate authorities that the gateways are known by where there are none of the system.
// Those with a condition that no file can say are left out.
func writeRoots(path string) error {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return err
		}
	}
	return os.WriteFile(path, roots.Bytes(), 0o644)
}
