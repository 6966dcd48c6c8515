package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersionSaysWhatWasBuilt: --json has the commit and its time as git knows them, Go, and the newest migration.
func TestVersionSaysWhatWasBuilt(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(build(t, "nosandbox"), "version", "--json").Output()
	require.NoError(t, err)
	var version struct {
		Version, Commit, Time, Go string
		Modified                  *bool
		Schema                    int
	}
	require.NoError(t, json.Unmarshal(out, &version), "%s", out)
	require.Equal(t, runtime.Version(), version.Go)
	require.NotEmpty(t, version.Version)
	require.NotNil(t, version.Modified)
	files, err := filepath.Glob("../../migrations/*.sql")
	require.NoError(t, err)
	require.Regexp(t, fmt.Sprintf("/0*%d_", version.Schema), files[len(files)-1])
	if version.Commit == "" {
		t.Skip("Go marks no build in a linked work tree, outside of a clone, or with -buildvcs=false: nothing to compare")
	}
	git := exec.Command("git", "log", "-1", "--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ")
	git.Env = append(os.Environ(), "TZ=UTC")
	commit, err := git.Output()
	require.NoError(t, err)
	require.Equal(t, string(commit), version.Commit+" "+version.Time+"\n")
}
