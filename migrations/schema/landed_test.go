package schema_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/golden"
)

// TestLandedMigrationsStayAsTheyAre: databases have them, and goose goes by their numbers alone, so that an edited one
// would make two kinds of databases. UPDATE_GOLDEN=1, as make generate sets it, lists the new ones and changes no line:
// that of a migration which has not landed yet is taken out by hand when it is edited.
func TestLandedMigrationsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const file = "testdata/landed.sum"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	listed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	names, err := fs.Glob(schema.FS, "*.sql")
	require.NoError(t, err)
	update := os.Getenv("UPDATE_GOLDEN") != ""
	for _, name := range names {
		raw, err := fs.ReadFile(schema.FS, name)
		require.NoError(t, err)
		digest := sha256.Sum256(raw)
		sum := hex.EncodeToString(digest[:])
		if update && listed[name] == "" {
			listed[name] = sum
		}
		require.NotEmpty(t, listed[name], "migrations/%s is new: make generate lists it in %s", name, file)
		require.Equal(t, listed[name], sum, "migrations/%s has landed: what it leaves wrong is mended by a new one", name)
	}
	for name := range listed {
		require.Contains(t, names, name, "a migration that has landed is gone")
	}
	if update {
		all := ""
		for _, name := range slices.Sorted(maps.Keys(listed)) {
			all += listed[name] + "  " + name + "\n"
		}
		require.NoError(t, os.WriteFile(file, []byte(all), 0o600))
	}
}

// TestTheArchiveHoldsTheFiles: a program runs the files of the folder. UPDATE_GOLDEN=1 makes the archive anew.
func TestTheArchiveHoldsTheFiles(t *testing.T) {
	t.Parallel()
	files := golden.FilesBelow(t, os.DirFS(".."), ".")
	maps.DeleteFunc(files, func(path, _ string) bool { return filepath.Dir(path) != "." || filepath.Ext(path) != ".sql" })
	golden.Archive(t, "../files.zip", files)
}
