package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)`")
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	requirement  = regexp.MustCompile(`^\| (\d+\.\d+\.\d+) \|`)
)

// TestEveryTestThatTheDocumentsNameExists: what docs/*.md names as a proof is there, and a
// row of the table of requirements names one or says what is not met.
func TestEveryTestThatTheDocumentsNameExists(t *testing.T) {
	t.Parallel()
	dir, tests := root(t), map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range declaredTest.FindAllSubmatch(source, -1) {
			tests[string(found[1])] = true
		}
		return err
	}))
	pages, err := filepath.Glob(filepath.Join(dir, "docs", "*.md"))
	require.NoError(t, err)
	named, rows := 0, map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			found := namedTest.FindAllStringSubmatch(line, -1)
			for _, name := range found {
				named++
				require.True(t, tests[name[1]], "%s:%d names %s, which is nowhere", filepath.Base(page), i+1, name[1])
			}
			if row := requirement.FindStringSubmatch(line); row != nil {
				require.False(t, rows[row[1]], "%s has two rows", row[1])
				rows[row[1]] = true
				proof := strings.Contains(strings.ToLower(line), "not met") || strings.Contains(line, "by review")
				require.True(t, proof || len(found) > 0, "%s:%d names neither a test nor what is missing", filepath.Base(page), i+1)
			}
		}
	}
	require.Greater(t, named, 100)
	require.Greater(t, len(rows), 100)
}
