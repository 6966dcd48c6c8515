package localpg

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unpack writes the native/ part of an npm tarball into dir and makes the links that the
// package lists, since npm tarballs carry none. os.Root keeps every entry inside dir.
func unpack(tarball, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := extract(tarball, root); err != nil {
		return err
	}
	return makeLinks(root)
}

func extract(tarball string, root *os.Root) error {
	file, err := os.Open(tarball)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for entries := tar.NewReader(unzipped); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, ours := strings.CutPrefix(header.Name, "package/")
		if header.Typeflag != tar.TypeReg || !ours || !strings.HasPrefix(name, "native/") {
			continue
		}
		if err := writeEntry(root, name, header.FileInfo().Mode(), entries); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// writeEntry opens everything for reading, whatever the umask: the account that Postgres
// runs as need not be the one that fetches.
func writeEntry(root *os.Root, name string, mode fs.FileMode, content io.Reader) error {
	if err := makeRootDirs(root, filepath.Dir(name)); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, content); err != nil {
		return err
	}
	if err := file.Chmod(0o644 | mode&0o111); err != nil {
		return err
	}
	return file.Close()
}

func makeRootDirs(root *os.Root, dir string) error {
	if _, err := root.Stat(dir); err == nil {
		return nil
	}
	if parent := filepath.Dir(dir); parent != "." {
		if err := makeRootDirs(root, parent); err != nil {
			return err
		}
	}
	if err := root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return root.Chmod(dir, 0o755)
}

// makeLinks reads native/pg-symlinks.json: [{"source": "native/lib/libpq.so.5.15", "target":
// "native/lib/libpq.so.5"}], where the target is the link and the source what it points to.
func makeLinks(root *os.Root) error {
	raw, err := root.ReadFile("native/pg-symlinks.json")
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(raw, &links); err != nil {
		return fmt.Errorf("pg-symlinks.json: %w", err)
	}
	for _, link := range links {
		if _, err := root.Stat(link.Source); err != nil {
			return err
		}
		to, err := filepath.Rel(filepath.Dir(link.Target), link.Source)
		if err != nil {
			return err
		}
		if err := root.Symlink(to, link.Target); err != nil {
			return err
		}
	}
	return nil
}
