package archtest_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	link    = regexp.MustCompile(`\]\(([^()#:\s]*)(?:#([\w-]+))?\)`)
	// A file, or a folder from the root, between backquotes. Files that operators and gateways have are no Go, SQL or
	// page.
	quotedPath = regexp.MustCompile("`((?:[\\w.-]+/)*[\\w-][\\w.-]*\\.(?:go|sql|md)|" +
		"(?:cmd|docs|migrations|modules|platform|sql|testutil|tools|web)(?:/[\\w.-]+)+/?)`")
	// A page, and the heading in it that a comment cites: docs/operations.md, The webhook log.
	citation = regexp.MustCompile(`\b(docs/[\w/-]+\.md)(?:, ([A-Z][^;()]*))?`)
	nextLine = regexp.MustCompile(`\n\s*(?://|--)\s?`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// papers are the texts of the tree that people read, and what they may cite.
type papers struct {
	files    map[string]string // .md, .go and .sql by path, but for generated code
	paths    map[string]bool   // all files and folders
	headings map[string][]string
}

// wrong are the citations of a text at a path that lead nowhere.
func (p papers) wrong(at, text string) (all []string) {
	isPage := path.Ext(at) == ".md"
	if isPage {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := at
			if m[1] != "" {
				to = path.Join(path.Dir(at), m[1])
			}
			anchors := p.headings[to]
			if !p.paths[to] || m[2] != "" && !slices.ContainsFunc(anchors, func(h string) bool { return anchor(h) == m[2] }) {
				all = append(all, m[1]+"#"+m[2])
			}
		}
		for _, m := range quotedPath.FindAllStringSubmatch(text, -1) {
			name := strings.TrimSuffix(m[1], "/")
			if !p.paths[name] && !p.paths["*/"+name] {
				all = append(all, name)
			}
		}
		return all
	}
	for _, m := range citation.FindAllStringSubmatch(nextLine.ReplaceAllString(text, " "), -1) {
		first, _, _ := strings.Cut(m[2], " ")
		cited := func(h string) bool { // more words of the sentence may follow it; of A10 that alone is cited
			return strings.HasPrefix(m[2], h) || strings.HasPrefix(h, strings.Trim(first, ",.:")+". ")
		}
		if !p.paths[m[1]] || m[2] != "" && !slices.ContainsFunc(p.headings[m[1]], cited) {
			all = append(all, strings.TrimSuffix(m[1]+", "+m[2], ", "))
		}
	}
	return all
}

// anchor is a heading as a link names it.
func anchor(heading string) string {
	return strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// TestPapersCiteWhatIsThere: a page links and names files of the tree and headings of its pages, and so do comments.
func TestPapersCiteWhatIsThere(t *testing.T) {
	t.Parallel()
	p := papers{map[string]string{}, map[string]bool{}, map[string][]string{}}
	require.NoError(t, filepath.WalkDir(root(t), func(file string, entry fs.DirEntry, err error) error {
		at, _ := filepath.Rel(root(t), file)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (at == ".git" || at == "bin" || entry.Name() == "node_modules"):
			return fs.SkipDir
		}
		p.paths[at] = true
		for i := range at {
			if at[i] == '/' {
				p.paths["*"+at[i:]] = true
			}
		}
		if ext := path.Ext(at); entry.IsDir() || ext != ".md" && ext != ".go" && ext != ".sql" ||
			at == "sql/schema.sql" || strings.HasPrefix(at, "migrations/0") || strings.Contains(at, "db/") ||
			strings.Contains(at, "/testdata/") {
			return nil
		}
		text, err := os.ReadFile(file)
		p.files[at] = string(text)
		if path.Ext(at) == ".md" {
			for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
				p.headings[at] = append(p.headings[at], strings.ReplaceAll(m[1], "`", ""))
			}
		}
		return err
	}))
	require.Greater(t, len(p.files), 500)
	for at, text := range p.files {
		if at != "testutil/archtest/papers_test.go" {
			assert.Empty(t, p.wrong(at, text), "%s cites what is not there", at)
		}
	}
	require.Equal(t, []string{"gone.md#", "gateways.md#gone", "action.go", "modules/gone"}, p.wrong("docs/planted.md",
		"[a](gone.md) [b](gateways.md#gone) [c](gateways.md#a-new-event) `action.go` `modules/gone` `event_sample_test.go`"))
	require.Equal(t, []string{"docs/gone.md", "docs/operations.md, Gone"}, p.wrong("planted.go",
		"// docs/gone.md; docs/operations.md, Gone; docs/operations.md, After a\n// restore"))
}
