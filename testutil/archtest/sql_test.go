package archtest_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"marquee/testutil/archtest"
)

func TestSchemas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, sql string
		lines     []int // of violations
	}{
		"query: its own and platform": {
			"sql/payments/a.sql", "SELECT platform.new_object_id() FROM payments.payments p WHERE p.id = $1", nil,
		},
		"query: another one's": {
			"sql/payments/a.sql", "SELECT 1\nFROM payments.payments p\nJOIN accounts.users u ON u.id = p.customer_id",
			[]int{3},
		},
		"query: a lower one's too": {"sql/payments/a.sql", "SELECT 1 FROM accounts.users", []int{1}},
		"query: River's":           {"sql/payments/a.sql", "SELECT 1 FROM jobs.river_job", []int{1}},
		"query: quoted":            {"sql/payments/a.sql", `SELECT 1 FROM "accounts" . "users"`, []int{1}},
		"query: in capitals":       {"sql/payments/a.sql", "SELECT 1 FROM ACCOUNTS.USERS", []int{1}},
		"query: twice in a line": {
			"sql/payments/a.sql", "SELECT 1 FROM accounts.users,accounts.codes", []int{1, 1},
		},
		"query: comments and text": {
			"sql/payments/a.sql",
			"-- accounts.users\n/* accounts.users /* nested */ accounts.codes */ SELECT 'accounts.users', 'it''s accounts.users', E'\\'accounts.users'", nil,
		},
		"query: after text":      {"sql/payments/a.sql", "SELECT '--' FROM accounts.users", []int{1}},
		"query: a comment's end": {"sql/payments/a.sql", "/* a */ SELECT 1 FROM\n-- b\naccounts.users", []int{3}},
		"query: a column": {
			"sql/payments/a.sql", "SELECT p.accounts.x, my_accounts.users FROM payments.p", nil,
		},
		"query: a foreign key's word": {
			"sql/payments/a.sql", "SELECT 1 FROM payments.p REFERENCES accounts.users", []int{1},
		},
		"query: finance reads across": {"sql/finance/a.sql", "SELECT 1 FROM payments.payments, accounts.users", nil},
		"query: but not River's":      {"sql/finance/a.sql", "SELECT 1 FROM jobs.river_job", []int{1}},

		"query: a published function": {
			"sql/catalog/a.sql", "SELECT 1 FROM accounts.caller($1, $2, $3), subscriptions . has_access ($1, $2)", nil,
		},
		"query: the catalogue's version":      {"sql/finance/a.sql", "SELECT v.number FROM catalog.version() v", nil},
		"query: it is no one's above it":      {"sql/subscriptions/a.sql", "SELECT 1 FROM catalog.version() v", []int{1}},
		"query: a published name, not called": {"sql/catalog/a.sql", "SELECT 1 FROM accounts.caller", []int{1}},
		"query: a function not published":     {"sql/catalog/a.sql", "SELECT 1 FROM accounts.rights_of($1)", []int{1}},
		"query: published above it": {
			"sql/files/a.sql", "SELECT 1 FROM accounts.caller($1, $2, $3)", []int{1},
		},
		"query: published by one that it does not use": {
			"sql/board/a.sql", "SELECT 1 FROM accounts.caller($1, $2, $3),\nsubscriptions.has_access($1, $2)", []int{2},
		},

		"invariant: lower schemas": {
			"sql/payments/invariants/a.sql", "SELECT 1 FROM payments.payments, accounts.users, jobs.river_job", nil,
		},
		"invariant: a higher one": {
			"sql/payments/invariants/a.sql", "SELECT 1 FROM payments.payments, tickets.orders", []int{0},
		},
		"invariant: not its own": {"sql/payments/invariants/a.sql", "SELECT 1 FROM accounts.users", []int{0}},
		"invariant: River's":     {"sql/jobs/invariants/a.sql", "SELECT 1 FROM jobs.river_job", nil},

		"migration: its own": {
			"migrations/00001_payments_a.sql",
			"CREATE SCHEMA payments; CREATE TABLE payments.a (id platform.object_id)", nil,
		},
		"migration: a foreign key downward": {
			"migrations/00001_payments_a.sql",
			"CREATE TABLE payments.a (c text REFERENCES accounts.users (id),\nd text references\n\"accounts\".users)",
			nil,
		},
		"migration: a foreign key upward": {
			"migrations/00001_accounts_a.sql", "CREATE TABLE accounts.a (c text REFERENCES payments.payments (id))",
			[]int{1},
		},
		"migration: reading a lower one": {
			"migrations/00001_payments_a.sql", "CREATE TABLE payments.a AS\nSELECT * FROM accounts.users", []int{2},
		},
		"migration: in a function's body": {
			"migrations/00001_payments_a.sql", "CREATE FUNCTION payments.f() AS $$\nSELECT 'x' FROM accounts.users $$",
			[]int{2},
		},
		"migration: another one's schema": {
			"migrations/00001_payments_a.sql", "CREATE SCHEMA IF NOT EXISTS accounts", []int{1},
		},
		"migration: drops another's schema": {"migrations/00001_payments_a.sql", "DROP SCHEMA accounts", []int{1}},
		"migration: finance's views": {
			"migrations/00001_finance_a.sql", "CREATE VIEW finance.v AS SELECT 1 FROM payments.payments", nil,
		},
		"migration: platform knows none": {
			"migrations/00001_platform_a.sql", "CREATE TABLE platform.x (c text REFERENCES accounts.users)", []int{1},
		},
		"migration: River's": {
			"migrations/00001_jobs_a.sql", "CREATE SCHEMA jobs; CREATE TABLE jobs.river_job ()", nil,
		},
		"source: its own": {
			"sql/payments/views/a.sql",
			"CREATE OR REPLACE VIEW payments.a AS SELECT platform.new_object_id() FROM payments.payments", nil,
		},
		"source: another one's": {
			"sql/payments/functions/a.sql",
			"CREATE OR REPLACE FUNCTION payments.a() AS $$\nSELECT 'x' FROM accounts.users $$",
			[]int{2},
		},
		"source: finance's": {
			"sql/finance/views/a.sql", "CREATE OR REPLACE VIEW finance_internal.a AS SELECT 1 FROM payments.payments",
			nil,
		},
		"source: platform's": {
			"sql/platform/functions/a.sql",
			"CREATE OR REPLACE FUNCTION platform.a() AS $$ SELECT 1 FROM accounts.users $$",
			[]int{1},
		},
		"the dump": {
			"sql/schema.sql", "CREATE TABLE payments.a (c text REFERENCES accounts.users (id))", nil,
		},
		"migration: a module touches River's": {
			"migrations/00001_payments_a.sql", "ALTER TABLE jobs.river_job ADD c text", []int{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []archtest.Violation
			for _, line := range c.lines {
				want = append(want, archtest.Violation{Line: line, Rule: "schema"})
			}
			require.Equal(t, want, check(t, c.file, c.sql))
		})
	}
}

func TestSQLInGo(t *testing.T) {
	t.Parallel()
	source := func(literal string) string { return "package a\n\nvar text = " + literal + "\n" }
	forbidden := []archtest.Violation{{Line: 3, Rule: "schema"}}
	require.Equal(t, forbidden, check(t, "modules/catalog/a.go", source("`SELECT 1 FROM subscriptions.subscriptions`")))
	require.Equal(t, forbidden, check(t, "modules/catalog/a.go", source(`"update \"accounts\".users set x = 1"`)))
	for _, planted := range []string{
		"`SELECT accounts.rights_of($1)`", "`FROM catalog.videos, accounts.users u`",
		"`SELECT (SELECT accounts.login_reserved($1))`", `"accounts.rights_of($1) = 'x'"`,
		`"SELECT 1 FROM " + "accounts.users"`, `"SELECT 1 FROM accounts" + ".users WHERE " + condition`,
		`of("x") + "SELECT 1 FROM accounts.users"`,
	} {
		require.Equal(t, forbidden, check(t, "modules/catalog/a.go", source(planted)), planted)
	}
	require.Empty(t, check(t, "modules/catalog/a.go",
		source("`SELECT accounts.caller($1, $2, $3), '-- accounts.users', v.accounts.x FROM catalog.videos v`")))
	require.Equal(t, forbidden, check(t, "modules/board/a.go", source("`SELECT subscriptions.has_access($1, $2)`")),
		"of a module that it does not use")
	require.Empty(t, check(t, "modules/catalog/a.go", source("`SELECT 1 FROM catalog.videos JOIN platform.x ON true`")))
	require.Empty(t, check(t, "modules/catalog/a.go", source(`"no right to files.delete"`)),
		"a permission's name is no SQL")
	require.Empty(t, check(t, "modules/catalog/a_test.go", source("`SELECT 1 FROM subscriptions.subscriptions`")),
		"tests look where they like")
	require.Empty(t, check(t, "modules/finance/a.go", source("`SELECT 1 FROM subscriptions.subscriptions`")))
}

func TestMigrationNames(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"1_accounts_users.sql", "00001_users.sql", "00001-accounts-users.sql", "00001_loyalty_points.sql",
		"deeper/00001_accounts_users.sql",
	} {
		require.Equal(t, []archtest.Violation{{Rule: "migration"}}, check(t, "migrations/"+file, "SELECT 1"), file)
	}
	found, err := archtest.Check(fstest.MapFS{
		"go.mod":                              {Data: []byte("module marquee\n")},
		"migrations/00001_accounts_users.sql": {},
		"migrations/00001_files_files.sql":    {},
		"migrations/00002_files_chunks.sql":   {},
	})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "migrations/00001_files_files.sql:0: migration: 00001_accounts_users.sql has the same number",
		found[0].String())
}
