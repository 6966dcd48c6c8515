package payments_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBuildStripeMockOnAFreshMachine: what go says of modules that it downloads is
// not taken for where the tool is.
func TestBuildStripeMockOnAFreshMachine(t *testing.T) {
	folder := t.TempDir()
	script := "#!/bin/sh\necho 'go: downloading github.com/stripe/stripe-mock v0.203.0' >&2\necho /cache/stripe-mock\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go"), []byte(script), 0o700)) //nolint:gosec // has to be run
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	path, err := buildStripeMock(t.Context())
	require.NoError(t, err)
	require.Equal(t, "/cache/stripe-mock", path)
}
