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
	mapRow       = regexp.MustCompile("^\\|[^|]*\\| `([a-z0-9/]+)` \\|(.*)\\|$")
	requirement  = regexp.MustCompile(`^\| (\d+\.\d+\.\d+) \|`)
)

// TestEveryTestThatTheDocumentsNameExists: what docs/*.md names as a proof is there, and a
// row of the table of requirements names one or says what is not met.
func TestEveryTestThatTheDocumentsNameExists(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	for _, names := range declaredTests(t) {
		for name := range names {
			tests[name] = true
		}
	}
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
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
				require.True(t, proof || len(found) > 0, "%s:%d names neither a test nor what is missing",
					filepath.Base(page), i+1)
			}
		}
	}
	require.Greater(t, named, 100)
	require.Greater(t, len(rows), 100)
}

// TestTheMapIsTrue: each row of the map in docs/testing.md names a package and tests that are
// in it, and each package with tests has a row.
func TestTheMapIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "testing.md"))
	require.NoError(t, err)
	tests, mapped := declaredTests(t), map[string]bool{}
	for i, line := range strings.Split(string(page), "\n") {
		row := mapRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		dir, found := row[1], namedTest.FindAllStringSubmatch(row[2], -1)
		mapped[dir] = true
		require.NotEmpty(t, found, "testing.md:%d names no test", i+1)
		for _, name := range found {
			require.True(t, tests[dir][name[1]], "testing.md:%d names %s, which is not in %s", i+1, name[1], dir)
		}
	}
	for dir := range tests {
		require.True(t, mapped[dir], "%s has tests and no row in docs/testing.md", dir)
	}
}

// declaredTests are the tests of the main Go module, by the folder of their package.
func declaredTests(t *testing.T) map[string]map[string]bool {
	t.Helper()
	tests, dir := map[string]map[string]bool{}, root(t)
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path == filepath.Join(dir, "tools"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		at, err := filepath.Rel(dir, filepath.Dir(path))
		for _, found := range declaredTest.FindAllSubmatch(source, -1) {
			if tests[at] == nil {
				tests[at] = map[string]bool{}
			}
			tests[at][string(found[1])] = true
		}
		return err
	}))
	return tests
}
