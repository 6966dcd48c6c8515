//go:build !nosandbox

package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecretsOfAnOlderDataDirectory: what is kept stays, and users that came
// later get passwords that are kept too.
func TestSecretsOfAnOlderDataDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "secrets.json")
	require.NoError(t, os.WriteFile(path,
		[]byte(`{"token_key":"kept","passwords":{"root":"r","admin":"a","customer":"c"}}`), 0o600))
	first, err := loadDevSecrets(dir)
	require.NoError(t, err)
	require.Equal(t, "kept", first.TokenKey)
	require.Equal(t, "r", first.Passwords["root"])
	require.NotEmpty(t, first.Passwords[migratedUser])
	require.NotEmpty(t, first.Passwords[migratedFlaggedUser])
	again, err := loadDevSecrets(dir)
	require.NoError(t, err)
	require.Equal(t, first, again)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
