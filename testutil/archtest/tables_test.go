package archtest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTableOfModulesHasNoWayUp(t *testing.T) {
	t.Parallel()
	for i, m := range modules {
		require.Equal(t, i, place(m.name), "%s is listed twice", m.name)
		for _, lower := range m.uses {
			require.GreaterOrEqual(t, place(lower), 0, "%s uses %s, which is not listed", m.name, lower)
			require.Less(t, place(lower), i, "%s uses %s, which is not below it", m.name, lower)
		}
	}
}

// The table of docs/architecture.md says of each room what it is for.
func TestThePageNamesEveryRoom(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	for module, all := range rooms {
		row := regexp.MustCompile("(?m)^\\| `" + module + "` \\| `.*$").FindString(string(page))
		require.NotEmpty(t, row, module)
		require.Len(t, regexp.MustCompile("(?m)^\\| `"+module+"` \\| [^`]").FindAllString(string(page), -1), 1, module)
		for _, r := range all {
			if r.name != "" && !strings.HasPrefix(r.name, "internal/") {
				require.Contains(t, row, "`"+r.name+"`", module)
			}
		}
	}
}

func TestTheTableOfRoomsHasNoWayUp(t *testing.T) {
	t.Parallel()
	for name, all := range rooms {
		require.True(t, isModule(name), name)
		var below []string
		for _, r := range all {
			require.NotContains(t, below, r.name, "%s/%s is listed twice", name, r.name)
			require.Subset(t, below, r.uses, "%s/%s uses what is not listed before it", name, r.name)
			below = append(below, r.name)
		}
	}
}

func TestThePlatformTableHasNoCircle(t *testing.T) {
	t.Parallel()
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		require.NotContains(t, path, name)
		for _, used := range platformUses[name] {
			require.Contains(t, platformUses, used)
			visit(used, append(path, name))
		}
	}
	for name := range platformUses {
		require.NotContains(t, foundation, name)
		visit(name, nil)
	}
}
