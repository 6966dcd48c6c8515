// Package golden holds contracts in files: what the code produces has to equal
// the file, and a change of it is seen in review. UPDATE_GOLDEN=1 writes the
// files anew.
package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Equal compares got with the file, or writes the file when UPDATE_GOLDEN is 1.
func Equal(t testing.TB, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "UPDATE_GOLDEN=1 makes the file")
	require.Equal(t, string(want), got, "%s is out of date; UPDATE_GOLDEN=1 writes it anew", path)
}
