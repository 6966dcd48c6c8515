package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/query"
)

// viewKey is where the operation of a list has its view, among its metadata.
const viewKey = "resource.view"

// ExplainInput names a list and its parameters.
type ExplainInput struct {
	Body struct {
		Path       string            `json:"path" minLength:"1" maxLength:"200" doc:"Of the list, such as /videos"`
		Parameters map[string]string `json:"parameters,omitempty" doc:"As in the list's address: query, sort, qty_docs_page, current_page, docs_range, _id"`
	}
}

// Explained is how Postgres would run a list.
type Explained struct {
	SQL        string  `json:"sql" doc:"The statement, with $n for its arguments"`
	Arguments  []any   `json:"arguments" doc:"$1, $2 and so on"`
	Plan       any     `json:"plan" doc:"What Postgres' EXPLAIN (FORMAT JSON) says of it"`
	Cost       float64 `json:"cost" doc:"Of the whole, in Postgres' units, as it expects it"`
	PlanningMS float64 `json:"planning_ms" doc:"How long the plan took to make, in milliseconds"`
}

// Explain answers POST /admin/query/explain: the statement that a list of the API would run for these parameters, and
// its plan. The statement is never executed. Lists of a customer's own records are none of these: what narrows them
// stands in the caller's token. Errors: those of the list, 422 for a path that is no list.
func (s Routes) Explain(api *httpapi.API) func(context.Context, *ExplainInput) (*httpapi.Output[Explained], error) {
	return func(ctx context.Context, in *ExplainInput) (*httpapi.Output[Explained], error) {
		v := viewOf(api, in.Body.Path)
		if v == nil {
			return nil, fault.InvalidAt("is not the path of a list that staff read", "body", "path")
		}
		values := url.Values{}
		for name, value := range in.Body.Parameters {
			values.Set(name, value)
		}
		params, err := v.ParseParams(&url.URL{RawQuery: values.Encode()})
		if err != nil {
			return nil, err
		}
		list, err := v.Prepare(params)
		if err != nil {
			return nil, err
		}
		var out Explained
		err = s.reads().Read(ctx, func(ctx context.Context, db postgres.Pool) (err error) {
			out, err = list.explain(ctx, db)
			return err
		})
		if err != nil {
			return nil, Report(ctx, s.Log, err)
		}
		return httpapi.OK(out)
	}
}

// Problem is why a list cannot be shown as it is to be, to the caller: "list_gone" where no list is at the path,
// "not_allowed" where they may not read it, "query_refused" where it takes the filter or the sort no more, and
// "field_gone" where they, or the columns, name a field that it has no more; "" for none.
func Problem(api *httpapi.API, caller httpapi.Caller, path, filter, sort string, columns []string) string {
	v := viewOf(api, path)
	if v == nil {
		return "list_gone"
	}
	if !httpapi.Named(api, api.OpenAPI().Paths[httpapi.Prefix+path].Get.OperationID).Allows(caller) {
		return "not_allowed"
	}
	list, err := v.Prepare(Params{Query: filter, Sort: sort, Size: v.resource.def.PageSize})
	if err != nil {
		return "query_refused"
	}
	for _, name := range columns {
		if _, known := v.registry.Fields[name]; !known {
			return "field_gone"
		}
	}
	if list.unknown > 0 {
		return "field_gone"
	}
	return ""
}

// Matching is a statement that selects the ids of all records that a filter of the list at a path matches, with its
// arguments. Errors: those of the list for the filter; a path that is no list is the program's.
func Matching(api *httpapi.API, path, filter string) (sql string, args []any, err error) {
	v := viewOf(api, path)
	if v == nil {
		return "", nil, fmt.Errorf("no list is at %s", path)
	}
	sql, args, err = v.Matching("t.id", filter)
	return sql + " ORDER BY id", args, err
}

// Matching is a statement that selects an expression over the row t, a constant of the program, of all records that a
// filter matches, as id, with its arguments. Errors: 422 for a filter that is none, or names no field of the view.
func (v *View) Matching(expr, filter string) (sql string, args []any, err error) {
	compiled, err := query.Compile(v.registry, filter, 1)
	if err != nil {
		return "", nil, Refused(err)
	}
	if compiled.Unknown > 0 {
		return "", nil, fault.InvalidAt("names a field that the list does not have", "query", paramQuery)
	}
	sql = "SELECT " + expr + " AS id FROM " + v.resource.def.From + " WHERE " + v.where(compiled.SQL)
	return sql, compiled.Args, nil
}

// viewOf is the view of the list at a path, nil where there is none for staff.
func viewOf(api *httpapi.API, path string) *View {
	at := api.OpenAPI().Paths[httpapi.Prefix+strings.TrimPrefix(path, httpapi.Prefix)]
	if at == nil || at.Get == nil || httpapi.Named(api, at.Get.OperationID).Auth == httpapi.Customer {
		return nil
	}
	v, _ := at.Get.Metadata[viewKey].(*View)
	return v
}

func (l *List) explain(ctx context.Context, db postgres.DB) (Explained, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	sql, args := l.SQL()
	var text string
	explained := "EXPLAIN (FORMAT JSON, SUMMARY) " + sql
	err := db.QueryRow(ctx, explained, append([]any{pgx.QueryExecModeExec}, args...)...).Scan(&text)
	if err != nil {
		return Explained{}, l.fault(err)
	}
	var plans []struct {
		Plan struct {
			Cost float64 `json:"Total Cost"`
		} `json:"Plan"`
		PlanningMS float64 `json:"Planning Time"`
	}
	var plan any
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		return Explained{}, fmt.Errorf("read the plan of %s: %d plans, %w", l.view.resource.def.Name, len(plans), err)
	}
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		return Explained{}, fmt.Errorf("read the plan of %s: %w", l.view.resource.def.Name, err)
	}
	if args == nil {
		args = []any{}
	}
	return Explained{
		SQL: sql, Arguments: args, Plan: plan, Cost: plans[0].Plan.Cost, PlanningMS: plans[0].PlanningMS,
	}, nil
}
