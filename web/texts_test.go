package web

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheArchiveHoldsTheTexts: what the binary says of the API is what stands in the folders. UPDATE_GOLDEN=1 makes the
// archive anew.
func TestTheArchiveHoldsTheTexts(t *testing.T) {
	t.Parallel()
	folders := map[string]string{}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, folder := range []string{"docs", "mail", "openapi", "pages", "undo-email-change.html", "withdraw-tickets.html"} {
		maps.Copy(folders, filesBelow(t, os.DirFS("."), folder))
	}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		file, err := w.Create(name)
		require.NoError(t, err)
		_, err = file.Write([]byte(folders[name]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile("texts.zip", archive.Bytes(), 0o600))
		return
	}
	require.NotEmpty(t, folders)
	require.Equal(t, folders, filesBelow(t, texts(), "."), "make generate")
}

func filesBelow(t *testing.T, dir fs.FS, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(dir, folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(dir, path)
		files[path] = string(raw)
		return err
	}))
	return files
}
