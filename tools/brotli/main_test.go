package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

func TestTextsAreCompressedBesideThemselves(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := []byte(strings.Repeat("export const many = 'words';\n", 100))
	for name, content := range map[string][]byte{"a.js": text, "tiny.css": []byte("a{}"), "picture.png": text} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := compressAll(folder); err != nil {
		t.Fatal(err)
	}
	small, err := os.ReadFile(filepath.Join(folder, "a.js.br"))
	if err != nil {
		t.Fatal(err)
	}
	back, err := io.ReadAll(brotli.NewReader(bytes.NewReader(small)))
	if err != nil || !bytes.Equal(back, text) {
		t.Fatalf("a.js.br is not a.js: %v", err)
	}
	for _, name := range []string{"tiny.css.br", "picture.png.br"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}
