// Package golden holds contracts in files: what the code produces has to equal
// the file, and a change of it is seen in review. UPDATE_GOLDEN=1 writes the
// files anew.
package golden

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/transition"
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

// Section compares got with the part of a page that stands between the comments
// <!-- name … --> and <!-- end of name -->, or writes that part when UPDATE_GOLDEN is 1.
func Section(t testing.TB, page, name, got string) {
	t.Helper()
	pages.Lock()
	defer pages.Unlock()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), "<!-- "+name+":")
	require.True(t, ok, "%s has no section %s", page, name)
	how, rest, ok := strings.Cut(rest, "-->\n")
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, "<!-- end of "+name+" -->")
	require.True(t, ok, "%s does not end section %s", page, name)
	Equal(t, page, head+"<!-- "+name+":"+how+"-->\n\n"+got+"\n<!-- end of "+name+" -->"+tail)
}

// pages is held while a page is read and written anew: tests beside each other write sections of the same one.
var pages sync.Mutex

// Move is a permitted move of a row's state: from "" begins one.
type Move struct{ From, By, To string }

// Diagram draws moves for a page, one arrow for all that lead from one state to another.
func Diagram(moves []Move) string {
	type arrow struct{ from, to string }
	var arrows []arrow
	labels := map[arrow][]string{}
	for _, m := range moves {
		a := arrow{m.From, m.To}
		if m.From == m.To {
			continue
		}
		if !slices.Contains(arrows, a) {
			arrows = append(arrows, a)
		}
		if m.By != "" {
			labels[a] = append(labels[a], strings.ReplaceAll(m.By, "_", " "))
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, a := range arrows {
		from := a.from
		if from == "" {
			from = "[*]"
		}
		fmt.Fprintf(&b, "    %s --> %s", from, a.to)
		if by := labels[a]; len(by) > 0 {
			b.WriteString(": " + strings.Join(by, ", "))
		}
		b.WriteString("\n")
	}
	return b.String() + "```\n"
}

// Arrow writes one move in a table.
func (m Move) Arrow() string {
	switch m.From {
	case "":
		return "new → " + m.To
	case m.To:
		return m.To + " stays"
	}
	return m.From + " → " + m.To
}

// Moves are the moves of a lifecycle's table, by states and actions in their order. It fails
// for a state that is not given, or that nothing reaches, and for an action that stands twice.
func Moves[S, A ~string](t testing.TB, table transition.Table[S, A], states ...S) (all []Move) {
	t.Helper()
	acts, reached, n := map[A]bool{}, map[S]bool{"": true}, 0
	for _, row := range table {
		require.False(t, acts[row.By], "%s stands twice", row.By)
		acts[row.By] = true
		for from, to := range row.Moves {
			reached[to], n = reached[to] || from != to, n+1
		}
	}
	for _, from := range append([]S{""}, states...) {
		require.True(t, reached[from], "nothing leads to %s", from)
		for _, row := range table {
			if to, ok := row.Moves[from]; ok {
				all = append(all, Move{From: string(from), By: string(row.By), To: string(to)})
			}
		}
	}
	require.Len(t, all, n, "a state is not given")
	return all
}

// Table lists a lifecycle's moves for a page, with the reasons where there are any.
func Table[S, A ~string](t testing.TB, table transition.Table[S, A], states ...S) string {
	t.Helper()
	all := Moves(t, table, states...)
	reasons := slices.ContainsFunc(table, func(r transition.Row[S, A]) bool { return r.Reason != "" })
	rows := []string{"| action | from → to |\n|---|---|\n"}
	if reasons {
		rows[0] = "| action | reason | from → to |\n|---|---|---|\n"
	}
	for _, row := range table {
		cells := []string{"`" + string(row.By) + "`"}
		if reasons {
			cells = append(cells, row.Reason)
		}
		var arrows []string
		for _, m := range all {
			if m.By == string(row.By) {
				arrows = append(arrows, m.Arrow())
			}
		}
		cells = append(cells, strings.Join(arrows, ", "))
		rows = append(rows, "| "+strings.Join(cells, " | ")+" |\n")
	}
	return strings.Join(rows, "")
}

// Archive holds a zip archive, which a binary has of files of the tree, to these files by their names. With
// UPDATE_GOLDEN=1 it is made anew, the same bytes each time.
func Archive(t testing.TB, file string, files map[string]string) {
	t.Helper()
	require.NotEmpty(t, files)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		var archive bytes.Buffer
		w := zip.NewWriter(&archive)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			entry, err := w.Create(name)
			require.NoError(t, err)
			_, err = entry.Write([]byte(files[name]))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(file, archive.Bytes(), 0o600))
	}
	archive, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer func() { _ = archive.Close() }()
	require.Equal(t, files, FilesBelow(t, archive, "."), "%s: make generate", file)
}

// FilesBelow are the texts of the files below a folder by their paths in it.
func FilesBelow(t testing.TB, dir fs.FS, folder string) map[string]string {
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
