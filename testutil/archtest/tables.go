package archtest

import "slices"

// module is a line of the architecture's table of modules.
type module struct {
	name string
	uses []string // the modules whose root package it may import and whose published functions it may call; the whole permission
}

// modules in their order, lower first. A new module takes its place here.
var modules = []module{
	{name: "settings"},
	{name: "files", uses: []string{"settings"}},
	{name: "accounts", uses: []string{"files", "settings"}},
	{name: "payments", uses: []string{"accounts", "settings"}},
	{name: "tickets", uses: []string{"payments", "files", "accounts"}},
	{name: "promos", uses: []string{"tickets", "files", "accounts"}},
	{name: "subscriptions", uses: []string{"payments", "promos", "accounts"}},
	{name: "catalog", uses: []string{"subscriptions", "files", "accounts"}},
	{name: "board", uses: []string{"files", "accounts"}},
	{name: "finance"}, // it reads all others, through views in its own schema
}

// published are the SQL functions that are part of a module's interface: the queries of the modules that use it
// may call them.
var published = map[string][]string{
	"accounts":      {"caller", "has_customer", "lock_customer", "max_age_rating", "try_lock_customer"},
	"catalog":       {"version"},
	"files":         {"issue_archive_token"},
	"payments":      {"absent_since"},
	"subscriptions": {"has_access", "max_streams"},
}

// openRooms are the packages below a module's root that the modules above may import, too.
var openRooms = map[string][]string{
	"payments": {
		"gateway",
		"intent",
	}, // the words of gateways, and the life of an order to one; payments itself stands on both
}

// assembledRooms are those that the composition root may import, too.
var assembledRooms = map[string][]string{
	"payments": {
		"gwa",
		"gwb",
	}, // the adapters, which are chosen and made there
}

// room is a package below the root of a module: one thing that the module does. Its root may
// import it, and it may import what is listed here, which stands above it in the list, and
// never the root.
type room struct {
	name string
	uses []string // rooms of the same module
	sql  []string // files of sql/<module> whose queries it may call; the root's lie under the name ""
	// words: it holds names, terms and answers alone, and imports nothing with which a
	// database could be asked or a state kept.
	words bool
}

// rooms of each module that is divided so, lower first. In such a module every package has to
// be listed; tests may import all of its rooms.
var rooms = map[string][]room{
	"files": {
		{name: "words", words: true},
		{name: "internal/filesdb", uses: []string{"words"}},
		{name: "", sql: []string{"archive_token", "content", "file"}},
	},
	"accounts": {
		{name: "internal/accountsdb"},
		{
			name: "identity", uses: []string{"internal/accountsdb"},
			sql: []string{"avatar", "deletions", "passwords", "user", "user_admin", "username_skeletons"},
		},
		{name: "trail", uses: []string{"internal/accountsdb", "identity"}, sql: []string{"audit"}},
		{name: "signins", uses: []string{"internal/accountsdb", "identity"}, sql: []string{"sessions", "user"}},
		{name: "totp", uses: []string{"internal/accountsdb", "signins"}, sql: []string{"totp"}},
		{
			name: "sessions", uses: []string{"internal/accountsdb", "identity", "signins", "totp", "trail"},
			sql: []string{"caller", "passwords", "throttles", "user"},
		},
		{
			name: "passkeys", uses: []string{"internal/accountsdb", "identity", "signins", "totp", "sessions"},
			sql: []string{"passkeys"},
		},
		{
			name: "factors",
			uses: []string{"internal/accountsdb", "identity", "signins", "totp", "sessions", "passkeys"},
			sql:  []string{"passwords", "user", "user_admin"},
		},
		{
			name: "codes", uses: []string{"internal/accountsdb", "identity", "sessions", "factors"},
			sql: []string{"code", "code_request", "email_changes", "passwords", "user", "user_admin"},
		},
		{
			name: "signup", uses: []string{"internal/accountsdb", "identity", "totp", "sessions", "codes"},
			sql: []string{"passwords", "user"},
		},
		{
			name: "customers",
			uses: []string{"internal/accountsdb", "identity", "trail", "signins", "sessions", "factors", "codes"},
			sql:  []string{"customer_notes", "deletions", "parental", "user", "user_admin"},
		},
		{
			name: "users", uses: []string{"internal/accountsdb", "identity", "sessions", "factors", "codes"},
			sql: []string{"user", "user_admin", "users_type"},
		},
		{name: "views", uses: []string{"internal/accountsdb", "identity"}, sql: []string{"views"}},
		{name: ""},
	},
	"catalog": {
		{name: "internal/catalogdb"},
		{name: "plays", uses: []string{"internal/catalogdb"}, sql: []string{"plays"}},
		{name: "", sql: []string{"import", "import_row", "record", "sample", "slugs", "version", "viewer", "watch_history"}},
	},
	"finance": {
		{name: "internal/financedb"},
		{name: "reports", uses: []string{"internal/financedb"}, sql: []string{
			"churn", "customer", "definitions", "event", "home", "movements", "order", "overdue", "overview", "promo_code", "revenue",
			"settings", "subscription", "tenure",
		}},
		{name: "exports", uses: []string{"internal/financedb", "reports"}, sql: []string{"export_chunks", "exports"}},
		{name: "", sql: []string{"rollups", "settings"}},
	},
	"payments": {
		{name: "gateway", words: true},
		{name: "state", words: true, uses: []string{"gateway"}},
		{name: "outcomes", words: true, uses: []string{"gateway", "state"}},
		{name: "internal/reply", uses: []string{"gateway"}},
		{name: "internal/paymentsdb", uses: []string{"gateway", "state"}},
		{name: "gwa", uses: []string{"gateway", "internal/reply"}},
		{name: "gwb", uses: []string{"gateway", "internal/reply"}},
		{name: "backoff", words: true},
		{name: "health", uses: []string{"gateway", "internal/paymentsdb"}, sql: []string{"gateway_state"}},
		{
			name: "intent", uses: []string{"backoff", "gateway", "health", "internal/paymentsdb", "outcomes", "state"},
			sql: []string{"intent"},
		},
		{name: "checks", uses: []string{"gateway", "intent", "internal/paymentsdb"}, sql: []string{"intent"}},
		{
			name: "ledger", uses: []string{"gateway", "intent", "internal/paymentsdb", "state"},
			sql: []string{"database_mark", "dispute", "failed_attempt", "intent", "payment", "refund", "unapplied"},
		},
		{
			name: "webhook", uses: []string{"gateway", "internal/paymentsdb", "ledger", "state"},
			sql: []string{"payment", "processed_event", "refused_webhook", "webhook_log", "webhook_log_admin"},
		},
		{
			name: "refund", uses: []string{"gateway", "intent", "internal/paymentsdb", "state", "ledger", "webhook"},
			sql: []string{"payment", "refund", "webhook_log"},
		},
		{
			name: "unapplied", uses: []string{"gateway", "internal/paymentsdb", "state", "ledger", "refund"},
			sql: []string{"payment", "refund", "unapplied"},
		},
		{
			name: "reconcile", uses: []string{"gateway", "internal/paymentsdb", "state", "ledger", "webhook"},
			sql: []string{"dispute", "payment", "processed_event", "reconcile_run", "refund"},
		},
		{name: ""},
	},
	"tickets": {
		{name: "state", words: true},
		{name: "internal/ticketsdb", uses: []string{"state"}},
		{name: "events", uses: []string{"internal/ticketsdb", "state"}, sql: []string{"customer", "event", "ticket"}},
		{name: "door", uses: []string{"events", "internal/ticketsdb", "state"}, sql: []string{"event", "ticket"}},
		{
			name: "orders", uses: []string{"events", "internal/ticketsdb", "state"},
			sql: []string{"decline", "event", "give_back", "order", "ticket"},
		},
		{
			name: "reconcile", uses: []string{"events", "internal/ticketsdb", "orders", "state"},
			sql: []string{"event", "order"},
		},
		{
			name: "webhooks", uses: []string{"events", "internal/ticketsdb", "orders", "state"},
			sql: []string{"deleted_order", "order"},
		},
		{
			name: "refunds", uses: []string{"events", "internal/ticketsdb", "orders", "reconcile", "state"},
			sql: []string{"event", "give_back", "order", "ticket"},
		},
		{
			name: "mails", uses: []string{"door", "events", "internal/ticketsdb", "orders", "state"},
			sql: []string{"event", "order", "ticket"},
		},
		{
			name: "checkout", uses: []string{"door", "events", "internal/ticketsdb", "orders", "state"},
			sql: []string{"customer", "decline", "event", "order", "ticket"},
		},
		{name: "", sql: []string{"customer", "decline", "event", "order", "ticket"}}, // the sweep, figures, and data of customers
	},
	"subscriptions": {
		{name: "state", words: true},
		{name: "internal/subscriptionsdb", uses: []string{"state"}},
		{
			name: "lifecycle", uses: []string{"state", "internal/subscriptionsdb"},
			sql: []string{
				"charge_moves", "debits", "pauses", "plan_moves", "plans", "renewal_charges", "subscriptions", "transitions",
				"trial_uses",
			},
		},
		{
			name: "calls", uses: []string{"state", "lifecycle"},
			sql: []string{"subscriptions"},
		},
		{
			name: "plans", uses: []string{"state", "internal/subscriptionsdb", "lifecycle", "calls"},
			sql: []string{"plan_moves", "plans", "renewal_charges", "subscriptions"},
		},
		{
			name: "debits", uses: []string{"state", "internal/subscriptionsdb", "lifecycle", "calls"},
			sql: []string{"debit_retries", "debits", "pauses", "plans", "subscriptions"},
		},
		{
			name: "extensions", uses: []string{"state", "internal/subscriptionsdb", "lifecycle", "calls", "debits"},
			sql: []string{"charge_moves", "debits", "pauses", "subscriptions"},
		},
		{
			name: "dunning", uses: []string{"state", "internal/subscriptionsdb", "lifecycle", "debits"},
			sql: []string{"dunning_mails", "plans", "subscriptions"},
		},
		{
			name: "disputes", uses: []string{"state", "lifecycle"},
			sql: []string{"pauses", "renewal_charges", "subscriptions", "transitions"},
		},
		{
			name: "settle", uses: []string{"state", "lifecycle", "debits", "disputes"},
			sql: []string{
				"charge_moves", "debits", "pauses", "renewal_charges", "subscriptions", "transitions",
			},
		},
		{
			name: "charges", uses: []string{"state", "lifecycle", "calls", "plans", "settle"},
			sql: []string{"plans", "renewal_charges", "subscriptions"},
		},
		{
			name: "webhooks", uses: []string{"state", "lifecycle", "debits", "dunning", "disputes", "settle", "charges"},
			sql: []string{"charge_moves", "renewal_charges", "subscriptions", "transitions"},
		},
		{
			name: "retries", uses: []string{
				"state", "internal/subscriptionsdb", "lifecycle", "calls", "debits",
				"settle", "webhooks",
			}, sql: []string{"debit_retries", "debits", "subscriptions"},
		},
		{
			name: "recovery", uses: []string{"state", "lifecycle", "calls", "extensions", "settle"},
			sql: []string{"subscriptions"},
		},
		{
			name: "reconcile", uses: []string{"state", "lifecycle", "calls", "settle", "webhooks", "retries", "recovery"},
			sql: []string{"subscriptions"},
		},
		{
			name: "strays", uses: []string{"state", "internal/subscriptionsdb", "lifecycle", "webhooks"},
			sql: []string{"stray_recurrences", "subscriptions"},
		},
		{
			name: "checkout", uses: []string{"state", "lifecycle", "calls", "plans", "settle", "recovery"},
			sql: []string{"plans", "subscriptions", "transitions"},
		},
		{
			name: "withdrawal", uses: []string{"state", "lifecycle", "calls", "disputes", "webhooks"},
			sql: []string{"subscriptions", "transitions"},
		},
		{
			name: "selfservice",
			uses: []string{
				"state", "lifecycle", "calls", "plans", "debits", "disputes",
				"settle", "charges", "recovery", "reconcile", "checkout", "withdrawal",
			},
			sql: []string{"debits", "subscriptions", "transitions"},
		},
		{
			name: "admin", uses: []string{
				"state", "lifecycle", "calls", "plans",
				"extensions", "disputes", "webhooks", "reconcile", "checkout", "selfservice",
			},
			sql: []string{"plans", "subscriptions"},
		},
		{
			name: "", sql: []string{
				"charge_moves", "pauses", "plan_moves", "renewal_charges", "subscriptions", "trial_uses",
			},
		},
	},
}

// notWords is what no room of words may import, beside platform/postgres and what stands on it.
var notWords = []string{"database/sql", "github.com/jackc/pgx/v5", "github.com/riverqueue/river", "sync", "sync/atomic"}

// reader is the module that may name every schema.
const reader = "finance"

// checks is the folder of sql/<module> that holds what must be true of the rows of the module and of those below it, and
// the package of sql/ that checks it.
const checks = "invariants"

// foundation are the platform packages that know none of the others; all others may use them.
var foundation = []string{
	"batch", "clock", "config", "fault", "faultpoint", "money", "nullable", "objectid", "passwordlist", "postgres", "secret",
	"taxid", "transition",
}

// platformUses is what the other platform packages may use of each other on top.
var platformUses = map[string][]string{
	"audit":       {},
	"probe":       {},
	"replica":     {},
	"resource":    {"audit", "httpapi", "openapi", "query", "replica"},
	"httpapi":     {"audit", "idempotency", "openapi", "replica", "telemetry", "tracing"},
	"idempotency": {"jobs"},
	"jobs":        {"telemetry"},
	"bulk":        {"audit", "httpapi", "jobadmin", "jobs", "resource", "stream"},
	"home":        {"httpapi"},
	"jobadmin":    {"audit", "home", "httpapi", "jobs", "query", "resource"},
	"lookup":      {"httpapi", "replica", "resource"},
	"query":       {},
	"stream":      {"httpapi", "openapi"},
	"mail":        {},
	"openapi":     {},
	"operators":   {"jobs", "mail"},
	"pages":       {"httpapi"},
	"telemetry":   {},
	"tracing":     {},
	"export":      {},
	"image":       {},
}

// place is a module's position in the order, -1 when it has none.
func place(name string) int {
	return slices.IndexFunc(modules, func(m module) bool { return m.name == name })
}

func isModule(name string) bool { return place(name) >= 0 }

func moduleUses(name, other string) bool {
	i := place(name)
	return i >= 0 && slices.Contains(modules[i].uses, other)
}

// schemas are the names that are taken for schemas in SQL, lower first: platform's, River's, the modules'.
func schemas() []string {
	names := []string{"platform", "jobs"}
	for _, m := range modules {
		names = append(names, m.name)
	}
	return names
}

// roomOf is the line of a package in the table of rooms; divided is false for a module that
// has none, whose packages are left to the compiler.
func roomOf(p pkg) (r room, listed, divided bool) {
	all, divided := rooms[p.name]
	i := slices.IndexFunc(all, func(r room) bool { return r.name == p.rest })
	if i < 0 {
		return room{}, false, divided
	}
	return all[i], true, divided
}
