package schema_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
)

// gooseTags leave out what goose's command has for other databases.
const gooseTags = "no_clickhouse no_libsql no_mssql no_mysql no_sqlite3 no_vertica no_ydb no_duckdb no_spanner"

// TestGoosesOwnCommandOps: the command that docs/operations.md names, of the version that go.mod has, takes the files
// up, each of them down and all up again, and ours goes on from there.
func TestGoosesOwnCommandOps(t *testing.T) {
	t.Parallel()
	if os.Getenv("OPS") == "" {
		t.Skip("builds goose's command: make test-ops")
	}
	operations, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/pressly/goose/v3").Output()
	require.NoError(t, err)
	command := "github.com/pressly/goose/v3/cmd/goose@" + strings.TrimSpace(string(version))
	require.Contains(t, string(operations), "`go install "+command+"`")
	bin := t.TempDir()
	install := exec.Command("go", "install", "-tags", gooseTags, command)
	install.Env = append(os.Environ(), "GOBIN="+bin)
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)

	database := newDatabase(t, "goose")
	goose := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(bin+"/goose", append([]string{"-dir", ".."}, args...)...).CombinedOutput()
		require.NoError(t, err, "goose %s: %s", strings.Join(args, " "), out)
		return string(out)
	}
	goose("validate")
	goose("postgres", database, "up")
	require.NotContains(t, goose("postgres", database, "status"), "Pending")
	conn := connect(t, database)
	made := objects(t, conn)
	require.Greater(t, len(made), 1000)

	all, err := schema.List(t.Context(), database)
	require.NoError(t, err)
	for i := len(all) - 1; i >= 0; i-- {
		require.Contains(t, goose("postgres", database, "down"), all[i].File)
	}
	require.Len(t, regexp.MustCompile("Pending").FindAllString(goose("postgres", database, "status"), -1), len(all))
	require.Empty(t, objects(t, conn))

	goose("postgres", database, "up")
	require.Equal(t, made, objects(t, conn))
	applied, err := schema.Up(t.Context(), database)
	require.NoError(t, err)
	require.Zero(t, applied)
}
