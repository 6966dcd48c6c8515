package golden

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Section compares got with the part of a page that stands between the comments
// <!-- name … --> and <!-- end of name -->, or writes that part when UPDATE_GOLDEN is 1.
func Section(t testing.TB, page, name, got string) {
	t.Helper()
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
