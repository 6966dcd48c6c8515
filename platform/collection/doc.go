// Package collection serves the collection route contract (specification,
// Collection route contract; open-shapes, section 1) from one descriptor a
// resource.
//
//	var plans = collection.New(collection.Definition{
//		Name: "plans", Singular: "Plan", Table: "subscriptions.plans",
//		Fields: []collection.Field{
//			{Name: "plan_id", Kind: query.String, Write: collection.Once, Rule: collection.Rule{Required: true, MinLength: 3, MaxLength: 50}},
//			{Name: "amount", Column: "amount_cents", Kind: query.Int, Rule: collection.Rule{Required: true, Min: collection.Limit(0)}},
//			{Name: "gwb_price_id", Kind: query.String, Nullable: true, Write: collection.Privileged},
//		},
//		Constraints: map[string]collection.Violation{"plans_plan_id_key": {Field: "plan_id", Message: "is already taken"}},
//	})
//	var publicPlans = plans.Restrict("t.is_active", "gwb_price_id")
//
//	routes := collection.Routes{Pool: pool, Clock: clock, Log: log}
//	httpapi.Route(api, http.MethodGet, "/plans", "plan_list", httpapi.Public, routes.List(publicPlans), publicPlans.ListDoc()...)
//	httpapi.Route(api, http.MethodPost, "/plans", "plan_create", httpapi.Admin, routes.Create(plans), plans.CreateDoc()...)
//
// # What a table needs
//
// The column id (platform.object_id), and for the three fields that every
// resource carries document_created_by_id (object_id, nullable), register_date
// and register_update_date (timestamptz, millisecond precision); other names of
// these columns are said in the Definition. Text is COLLATE "C"; id lists are
// text[] NOT NULL; money is integer cents.
//
// # Reads
//
// A list is one statement, whose LIMIT and OFFSET are literals; a deep page finds
// its ids first. Texts that depend on the client are neither prepared nor cached
// by pgx. A pool with StatementTimeout serves them. With Definition.Version, pages
// can be kept in a Memory and shown for as long as the version stands.
//
// # Writes
//
// A POST or PUT is checked as a whole before anything is written, and every fault
// is listed with its index and field. Rows of a PUT are locked in the order of
// their ids, hooks run, and then one statement an object goes out in one batch.
//
// # Words
//
// A Resource is the checked descriptor. A View is what one kind of caller sees
// of it: the server's own condition (base) and the fields left out. A List is
// one request's page: one statement, in which Postgres builds the JSON of the
// page and counts the total from the same snapshot. A Record is one object of a
// request's body on its way to a row.
package collection
