package archtest_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"marquee/testutil/archtest"
)

func TestTheTreeKeepsToTheArchitecture(t *testing.T) {
	t.Parallel()
	found, err := archtest.Check(os.DirFS(root(t)))
	require.NoError(t, err)
	for _, v := range found {
		t.Error(v)
	}
}

// root is the folder above us that holds go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, parent, dir, "no go.mod above the test")
		dir = parent
	}
}

// check runs over one planted file and returns the rules that it breaks, with lines.
func check(t *testing.T, file, content string) []archtest.Violation {
	t.Helper()
	found, err := archtest.Check(fstest.MapFS{
		"go.mod": {Data: []byte("module marquee\n\ngo 1.26.0\n")},
		file:     {Data: []byte(content)},
	})
	require.NoError(t, err)
	for i := range found {
		require.Equal(t, file, found[i].File)
		require.NotEmpty(t, found[i].Text)
		found[i].File, found[i].Text = "", ""
	}
	return found
}

func TestImports(t *testing.T) {
	t.Parallel()
	const allowed, forbidden = true, false
	for name, c := range map[string]struct {
		file, imports string
		want          bool
	}{
		"platform: a module":                     {"platform/jobs/a.go", "modules/accounts", forbidden},
		"platform: a module, in a test":          {"platform/jobs/a_test.go", "modules/accounts", forbidden},
		"platform: the foundation":               {"platform/jobs/a.go", "platform/postgres", allowed},
		"platform: a listed neighbour":           {"platform/resource/a.go", "platform/query", allowed},
		"platform: an unlisted neighbour":        {"platform/query/a.go", "platform/resource", forbidden},
		"platform: an unlisted one, in a test":   {"platform/jobs/a_test.go", "platform/export", allowed},
		"platform: the foundation uses itself":   {"platform/clock/a.go", "platform/money", forbidden},
		"platform: its own subpackage":           {"platform/query/a.go", "platform/query/internal/pgregex", allowed},
		"platform: testutil":                     {"platform/jobs/a.go", "testutil/pgtest", forbidden},
		"platform: testutil, in a test":          {"platform/jobs/a_test.go", "testutil/pgtest", allowed},
		"platform: the composition root":         {"platform/jobs/a_test.go", "cmd/internal/app", forbidden},
		"platform: migrations":                   {"platform/jobs/a.go", "migrations", forbidden},
		"module: platform":                       {"modules/files/a.go", "platform/resource", allowed},
		"module: a lower one that is listed":     {"modules/payments/a.go", "modules/accounts", allowed},
		"module: a lower one that is not listed": {"modules/payments/a.go", "modules/files", forbidden},
		"module: what a listed one may use":      {"modules/subscriptions/a.go", "modules/settings", forbidden},
		"module: a higher one":                   {"modules/accounts/a.go", "modules/payments", forbidden},
		"module: a higher one, in a test":        {"modules/accounts/a_test.go", "modules/payments", forbidden},
		"module: finance imports none":           {"modules/finance/a.go", "modules/payments", forbidden},
		"module: another one's subpackage":       {"modules/subscriptions/a.go", "modules/payments/gwa", forbidden},
		"module: another one's open room":        {"modules/subscriptions/a.go", "modules/payments/intent", allowed},
		"module: the open room of a higher one":  {"modules/accounts/a.go", "modules/payments/intent", forbidden},
		"module: another one's generated code": {
			"modules/subscriptions/a.go", "modules/payments/internal/paymentsdb", forbidden,
		},
		"module: its own generated code": {
			"modules/payments/a.go", "modules/payments/internal/paymentsdb", allowed,
		},
		"module: its root from its fixtures":      {"modules/catalog/catalogtest/a.go", "modules/catalog", allowed},
		"module: a subpackage has no more rights": {"modules/payments/gwa/a.go", "modules/files", forbidden},
		"module: an unknown one":                  {"modules/accounts/a.go", "modules/loyalty", forbidden},
		"module: an unknown platform package":     {"modules/accounts/a.go", "platform/helper", forbidden},
		"module: another one's fixtures": {
			"modules/payments/a.go", "modules/accounts/accountstest", forbidden,
		},
		"module: another one's fixtures in a test": {
			"modules/payments/a_test.go", "modules/accounts/accountstest", allowed,
		},
		"module: a higher one's fixtures": {
			"modules/accounts/a_test.go", "modules/payments/paymentstest", forbidden,
		},
		"room: one that is listed": {
			"modules/tickets/internal/ticketsdb/a.go", "modules/tickets/state", allowed,
		},
		"room: one that is not listed": {
			"modules/tickets/state/a.go", "modules/tickets/internal/ticketsdb", forbidden,
		},
		"room: its root":                           {"modules/tickets/state/a.go", "modules/tickets", forbidden},
		"room: its root, in a test":                {"modules/tickets/state/a_test.go", "modules/tickets", allowed},
		"room: from its root":                      {"modules/tickets/a.go", "modules/tickets/state", allowed},
		"room: an adapter knows the words":         {"modules/payments/gwa/a.go", "modules/payments/gateway", allowed},
		"room: an adapter does not know the root":  {"modules/payments/gwa/a.go", "modules/payments", forbidden},
		"room: words on the database":              {"modules/payments/gateway/a.go", "platform/postgres", forbidden},
		"room: words on the foundation":            {"modules/payments/gateway/a.go", "platform/money", allowed},
		"room: words that are open to those above": {"modules/tickets/a.go", "modules/payments/gateway", allowed},
		"room: an adapter, from above":             {"modules/tickets/a.go", "modules/payments/gwa", forbidden},
		"room: another module's":                   {"modules/promos/a.go", "modules/tickets/state", forbidden},
		"room: one without a place":                {"modules/tickets/a.go", "modules/tickets/closet", forbidden},
		"fixtures: lower fixtures": {
			"modules/payments/paymentstest/a.go", "modules/accounts/accountstest", allowed,
		},
		"fixtures: testutil":                     {"modules/payments/paymentstest/a.go", "testutil/pgtest", allowed},
		"module: testutil":                       {"modules/payments/a.go", "testutil/pgtest", forbidden},
		"module: the sandbox":                    {"modules/payments/a.go", "testutil/sandbox", forbidden},
		"module: the sandbox, in a test":         {"modules/payments/a_test.go", "testutil/sandbox/gwa", allowed},
		"module: migrations":                     {"modules/payments/a.go", "migrations", forbidden},
		"module: the invariants":                 {"modules/payments/a.go", "sql/invariants", forbidden},
		"module: the invariants, in a test":      {"modules/payments/a_test.go", "sql/invariants", allowed},
		"module: finance has the invariants":     {"modules/finance/a.go", "sql/invariants", allowed},
		"invariants: platform":                   {"sql/invariants/a.go", "platform/postgres", forbidden},
		"invariants: testutil, in a test":        {"sql/invariants/a_test.go", "testutil/pgtest", allowed},
		"module: web":                            {"modules/accounts/a.go", "web", allowed},
		"module: the composition root":           {"modules/accounts/a.go", "cmd/internal/app", forbidden},
		"testutil: platform":                     {"testutil/apitest/a.go", "platform/httpapi", allowed},
		"testutil: migrations":                   {"testutil/pgtest/a.go", "migrations", allowed},
		"testutil: the sandbox":                  {"testutil/apitest/a.go", "testutil/sandbox", forbidden},
		"testutil: the sandbox, in a test":       {"testutil/apitest/a_test.go", "testutil/sandbox", allowed},
		"testutil: the private Postgres":         {"testutil/apitest/a.go", "testutil/localpg", forbidden},
		"testutil: the private Postgres, listed": {"testutil/pgtest/a.go", "testutil/localpg", allowed},
		"sandbox: its own subpackage":            {"testutil/sandbox/gwa/a.go", "testutil/sandbox/stage", allowed},
		"sandbox: platform":                      {"testutil/sandbox/gwa/a.go", "platform/taxid", forbidden},
		"sandbox: platform, in a test":           {"testutil/sandbox/gwa/a_test.go", "platform/taxid", allowed},
		"sandbox: the private Postgres":          {"testutil/sandbox/a.go", "testutil/localpg", forbidden},
		"private Postgres: testutil":             {"testutil/localpg/a.go", "testutil/golden", forbidden},
		"testutil: a module":                     {"testutil/apitest/a.go", "modules/accounts", forbidden},
		"testutil: a module, in a test":          {"testutil/apitest/a_test.go", "modules/accounts", forbidden},
		"testutil: the composition root":         {"testutil/apitest/a.go", "cmd/internal/app", forbidden},
		"composition root: a module":             {"cmd/internal/app/a.go", "modules/catalog", allowed},
		"composition root: an adapter":           {"cmd/internal/app/a.go", "modules/payments/gwa", allowed},
		"composition root: an open room":         {"cmd/internal/app/a.go", "modules/payments/gateway", allowed},
		"composition root: a room":               {"cmd/internal/app/a.go", "modules/payments/health", forbidden},
		"composition root: a room, in a test":    {"cmd/internal/app/a_test.go", "modules/tickets/orders", forbidden},
		"composition root: fixtures, in a test":  {"cmd/internal/app/a_test.go", "modules/accounts/accountstest", allowed},
		"composition root: testutil":             {"cmd/internal/app/a.go", "testutil/pgtest", forbidden},
		"composition root: fixtures":             {"cmd/internal/app/a.go", "modules/accounts/accountstest", forbidden},
		"cmd/marquee: a module":                  {"cmd/marquee/a.go", "modules/catalog", allowed},
		"cmd/marquee: a room":                    {"cmd/marquee/a.go", "modules/tickets/orders", forbidden},
		"cmd/marquee: the composition root":      {"cmd/marquee/a.go", "cmd/internal/app", allowed},
		"another command: a module":              {"cmd/bench/a.go", "modules/catalog", forbidden},
		"another command: testutil":              {"cmd/other/a.go", "testutil/pgtest", forbidden},
		"what measures: testutil":                {"cmd/bench/a.go", "testutil/localpg", allowed},
		"another command: platform":              {"cmd/bench/a.go", "platform/clock", allowed},
		"another internal package: a module":     {"cmd/internal/apparatus/a.go", "modules/catalog", forbidden},
		"platformtest: testutil":                 {"cmd/internal/app/platformtest/a.go", "testutil/pgtest", allowed},
		"platformtest: outside tests":            {"cmd/marquee/a.go", "cmd/internal/app/platformtest", forbidden},
		"platformtest: in a test": {
			"cmd/internal/app/attacks/a_test.go", "cmd/internal/app/platformtest", allowed,
		},
		"migrations: platform":            {"migrations/schema/a.go", "platform/postgres", forbidden},
		"migrations: testutil, in a test": {"migrations/schema/a_test.go", "testutil/pgtest", allowed},
		"web: a module":                   {"web/a.go", "modules/accounts", forbidden},
		"no place named":                  {"modules/accounts/a.go", "internal/things", forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := check(t, c.file, "//go:build some_tag\n\npackage a\n\nimport _ \"marquee/"+c.imports+"\"\n")
			if c.want {
				require.Empty(t, found)
				return
			}
			require.Equal(t, []archtest.Violation{{Line: 5, Rule: "import"}}, found)
		})
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"modules/loyalty/a.go", "platform/helper/a.go", "internal/a.go", "main.go", "pkg/x/a.go",
		"sql/finance/a.go", "sql/finance/invariants/a.go",
		"sql/loyalty/points.sql", "sql/points.sql", "sql/accounts/deeper/users.sql",
		"modules/tickets/closet/a.go", "modules/catalog/closet/a.go", "modules/board/internal/a.go",
		"modules/accounts/users.sql",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			content := "package a"
			if filepath.Ext(file) == ".sql" {
				content = "SELECT 1"
			}
			require.Equal(t, []archtest.Violation{{Rule: "place"}}, check(t, file, content))
		})
	}
	for _, file := range []string{"modules/accounts/testdata/a.go", ".cache/a.go", "node_modules/x/a.go"} {
		require.Empty(t, check(t, file, "no Go at all"), "is no part of the build")
	}
}

func TestDevelopmentIsImportedWhereItIsListed(t *testing.T) {
	t.Parallel()
	const out, in = "//go:build !nosandbox\n\n", "//go:build nosandbox\n\n"
	forbidden := []archtest.Violation{{Line: 5, Rule: "import"}}
	for name, c := range map[string]struct {
		file, tag, imports string
		want               []archtest.Violation
	}{
		"dev":                          {"cmd/internal/app/dev.go", out, "testutil/sandbox", nil},
		"dev's Postgres":               {"cmd/internal/app/dev.go", out, "testutil/localpg", nil},
		"dev's clock":                  {"cmd/internal/app/dev_clock.go", out, "testutil/sandbox/stage", nil},
		"sandbox":                      {"cmd/internal/app/sandbox.go", out, "testutil/sandbox", nil},
		"without the tag":              {"cmd/internal/app/dev.go", "//\n\n", "testutil/sandbox", forbidden},
		"with its contrary":            {"cmd/internal/app/dev.go", in, "testutil/sandbox", forbidden},
		"another file":                 {"cmd/internal/app/serve.go", out, "testutil/sandbox", forbidden},
		"another package":              {"cmd/internal/app/dev_clock.go", out, "testutil/localpg", forbidden},
		"a test":                       {"cmd/internal/app/a_test.go", out, "testutil/sandbox", nil},
		"the platform for tests":       {"cmd/internal/app/platformtest/a.go", in, "testutil/sandbox", nil},
		"another command":              {"cmd/other/dev.go", out, "testutil/localpg", forbidden},
		"what measures":                {"cmd/bench/platform.go", in, "testutil/localpg", nil},
		"a module":                     {"modules/payments/dev.go", out, "testutil/sandbox", forbidden},
		"platform":                     {"platform/jobs/dev.go", out, "testutil/localpg", forbidden},
		"a module's fixtures":          {"modules/payments/paymentstest/a.go", in, "testutil/sandbox", nil},
		"the rest of testutil, tagged": {"cmd/internal/app/dev.go", out, "testutil/pgtest", forbidden},
	} {
		require.Equal(t, c.want, check(t, c.file, c.tag+"package a\n\nimport _ \"marquee/"+c.imports+"\"\n"), name)
	}
}

func TestGeneratedCode(t *testing.T) {
	t.Parallel()
	const generated = "// Code generated by sqlc. DO NOT EDIT.\n\npackage x\n"
	require.Empty(t, check(t, "modules/accounts/internal/accountsdb/a.go", generated))
	for _, file := range []string{
		"modules/accounts/a.go", "modules/payments/internal/reply/a.go", "modules/board/a.go", "platform/postgres/a.go",
	} {
		require.Equal(t, []archtest.Violation{{Line: 1, Rule: "generated"}}, check(t, file, generated), file)
	}
}

func TestOtherGoModulesAreNotOurs(t *testing.T) {
	t.Parallel()
	found, err := archtest.Check(fstest.MapFS{
		"go.mod":       {Data: []byte("module marquee\n")},
		"tools/go.mod": {Data: []byte("module marquee/tools\n")},
		"tools/a.go":   {Data: []byte("package a\n\nimport _ \"marquee/modules/accounts\"\n")},
	})
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestATreeThatCannotBeReadIsAnErrorAndNotClean(t *testing.T) {
	t.Parallel()
	_, err := archtest.Check(fstest.MapFS{})
	require.Error(t, err)
	_, err = archtest.Check(fstest.MapFS{
		"go.mod":             {Data: []byte("module marquee\n")},
		"modules/files/a.go": {Data: []byte("package")},
	})
	require.Error(t, err)
}

func TestQueries(t *testing.T) {
	t.Parallel()
	tree := func(file, content string) fstest.MapFS {
		return fstest.MapFS{
			"go.mod":                {Data: []byte("module marquee\n")},
			"sql/tickets/order.sql": {Data: []byte("-- name: OrderGet :one\nSELECT 1;\n")},
			"sql/files/file.sql":    {Data: []byte("-- name: FileGet :one\nSELECT 1;\n")},
			file:                    {Data: []byte(content)},
		}
	}
	const call = "package a\n\nfunc f() { db.OrderGet(); db.FileGet() }\n"
	for file, want := range map[string]string{
		"modules/tickets/a.go":            "",
		"modules/tickets/state/a.go":      "modules/tickets/state/a.go:3: query: modules/tickets/state may not call OrderGet of sql/tickets/order.sql",
		"modules/tickets/state/a_test.go": "",
		"modules/files/a.go":              "",
	} {
		found, err := archtest.Check(tree(file, call))
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, found, file)
			continue
		}
		require.Len(t, found, 1, file)
		require.Equal(t, want, found[0].String())
	}
}

func TestNobodyAsksWhichGatewayItIs(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{
		"g == gateway.GWA", "string(gateway.GWB) != g", "g == GWA", "slices.Contains([]gateway.Name{gateway.GWA}, g)",
		"slices.Contains(gs, gateway.GWA)", "map[gateway.Name]bool{gateway.GWA: true}[g]",
		"map[gateway.Name]bool{GWB: true}[g]",
		"names{gateway.GWA: true}[g]", "func() bool { const a = gateway.GWA; return g == a }()",
		"func() bool { a := gateway.GWA; return g == a }()", `strings.EqualFold(string(g), "gwa")`, `g != "gwa"`,
		"g == (gateway.GWB)", "func() bool { switch g { case gateway.GWA: return true }; return false }()",
	} {
		content := "package a\n\nfunc f() bool { return " + condition + " }\n"
		for file, want := range map[string][]archtest.Violation{
			"modules/payments/webhook/a.go":           {{Line: 3, Rule: "gateway"}},
			"modules/tickets/a.go":                    {{Line: 3, Rule: "gateway"}},
			"modules/tickets/a_test.go":               nil,
			"modules/payments/gwa/a.go":               nil,
			"modules/payments/gateway/a.go":           nil,
			"modules/subscriptions/checkout/card.go":  {{Line: 3, Rule: "gateway"}},
			"modules/payments/paymentstest/a.go":      nil,
			"modules/subscriptions/checkout/names.go": {{Line: 3, Rule: "gateway"}},
		} {
			require.ElementsMatch(t, want, check(t, file, content), "%s in %s", condition, file)
		}
	}
	for _, named := range []string{
		"open(gateway.GWA)", "intent.Opening{Gateway: gateway.GWA}", "cmp.Or(g, gateway.GWB)",
	} {
		content := "package a\n\nfunc f() { a, err := " + named + " }\n"
		require.Equal(t, []archtest.Violation{{Line: 3, Rule: "gateway"}}, check(t, "modules/tickets/a.go", content), named)
		require.Empty(t, check(t, "modules/tickets/checkout/guest.go", content), "to name one is no question: %s", named)
	}
	for _, other := range []string{
		"figures{GWA: 1}", `rule{Enum: []string{"gwa", "gwb"}}`, "gateway.Names()",
		"gateway.Each[int]{GWA: 1, GWB: 2}.Of(g)",
	} {
		require.Empty(t, check(t, "modules/tickets/a.go", "package a\n\nfunc f() { a, err := "+other+" }\n"), other)
	}
}

func TestOneEnvironmentComposesThePlatform(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		"app.New(ctx, cfg, log, true)", "app.NewOf(ctx, cfg, log, true, parts)", "both(tickets.New(d), board.New(d))",
	} {
		content := "package a\n\nimport (\n\t\"marquee/cmd/internal/app\"\n\t\"marquee/modules/board\"\n\t\"marquee/modules/tickets\"\n)\n\nfunc f() { " + call + " }\n"
		for file, want := range map[string][]archtest.Violation{
			"cmd/internal/app/attacks/a_test.go":   {{Line: 9, Rule: "platform"}},
			"cmd/internal/app/a_test.go":           {{Line: 9, Rule: "platform"}},
			"cmd/marquee/a_test.go":                {{Line: 9, Rule: "platform"}},
			"cmd/internal/app/platformtest/a.go":   nil,
			"cmd/internal/app/modeltest/a_test.go": nil,
			"cmd/internal/app/modules.go":          nil,
		} {
			require.ElementsMatch(t, want, check(t, file, content), "%s in %s", call, file)
		}
	}
	require.Equal(t, []archtest.Violation{{Line: 3, Rule: "platform"}},
		check(t, "cmd/internal/app/a_test.go", "package app\n\nfunc f() { NewOf(ctx) }\n"))
	require.Empty(t, check(t, "cmd/internal/app/attacks/a_test.go",
		"package a\n\nimport \"marquee/cmd/internal/app/platformtest\"\n\nfunc f() { platformtest.New(t) }\n"))
}
