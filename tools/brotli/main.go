// Command brotli writes, beside each text file below a folder, the file by Brotli under its name
// and .br. It is made in Go so that it is the same bytes whatever Node built the file.
//
//	go -C tools run ./brotli folder
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/andybalholm/brotli"
)

// texts are the endings of files that gain from it.
var texts = []string{".css", ".html", ".js", ".json", ".svg", ".wasm", ".webmanifest"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: brotli folder")
		os.Exit(2)
	}
	if err := compressAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compressAll compresses the text files below folder; one that would not become smaller stays alone.
func compressAll(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains(texts, filepath.Ext(path)) {
			return err
		}
		plain, err := root.ReadFile(path)
		if err != nil {
			return err
		}
		small, err := compress(plain)
		if err != nil {
			return fmt.Errorf("compress %s: %w", path, err)
		}
		if len(small) >= len(plain) {
			return nil
		}
		return root.WriteFile(path+".br", small, 0o600)
	})
}

func compress(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	w := brotli.NewWriterLevel(&out, brotli.BestCompression)
	_, err := w.Write(plain)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}
