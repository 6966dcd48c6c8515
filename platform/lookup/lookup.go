package lookup

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
)

const (
	most       = 20 // hits
	mostOfKind = 10 // of one kind, while others have some
)

// Input is what is looked for.
type Input struct {
	Q string `query:"q" required:"true" minLength:"1" maxLength:"200" doc:"An id, an e-mail or half of it, a tax id, a name or half of it, a code, an id of a gateway or of a request"`
}

// Hit is one record.
type Hit struct {
	Kind       string       `json:"kind" doc:"What it is"`
	ID         objectid.ID  `json:"_id"`
	Title      string       `json:"title"`
	Note       string       `json:"note" doc:"What tells it from others of its title; may be empty"`
	FoundBy    string       `json:"found_by" doc:"What of it is what was typed, such as email"`
	CustomerID *objectid.ID `json:"customer_id" nullable:"true" doc:"Whose it is; null where it is nobody's"`
	OrderID    *objectid.ID `json:"order_id" nullable:"true" doc:"The ticket order that it is of; null where it is of none"`
}

// Hits are what was found, the best first.
type Hits struct {
	Hits []Hit `json:"hits" maxItems:"20"`
}

// Lookup finds records of all kinds.
type Lookup struct {
	reads   *replica.Set
	finders []Finder
	routes  []httpapi.RouteInfo // of the finders
}

// New makes it of what the modules publish, in the order in which kinds come where their ranks are equal. The routes
// that the finders name have to be registered: it panics for one that is not, and for two finders of a kind.
func New(api *httpapi.API, reads *replica.Set, finders ...Finder) *Lookup {
	l := &Lookup{reads: reads, finders: finders}
	seen := map[string]bool{}
	for _, f := range finders {
		if seen[f.Kind] {
			panic("lookup: two finders of " + f.Kind)
		}
		seen[f.Kind] = true
		l.routes = append(l.routes, httpapi.Named(api, f.Route))
	}
	return l
}

// Find answers with at most 20 records of the kinds that the caller may list, the best first: one statement. Errors:
// 422 without q, and for one that takes too long.
func (l *Lookup) Find(ctx context.Context, in *Input) (*httpapi.Output[Hits], error) {
	text := strings.TrimSpace(in.Q)
	switch {
	case text == "":
		return nil, fault.InvalidAt("is required", "query", "q")
	case !utf8.ValidString(text):
		return nil, fault.InvalidAt("is not valid UTF-8", "query", "q")
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	sql, args := statement(l.of(httpapi.CallerOf(ctx)), Read(text))
	if sql == "" {
		return httpapi.OK(Hits{Hits: []Hit{}})
	}
	ctx, cancel := context.WithTimeout(ctx, resource.Deadline)
	defer cancel()
	var found []match
	err := l.reads.Read(ctx, func(ctx context.Context, db postgres.Pool) (err error) {
		found, err = l.run(ctx, db, sql, args)
		return err
	})
	if postgres.IsTimeout(err) {
		return nil, fault.InvalidAt("is too expensive", "query", "q")
	}
	if err != nil {
		return nil, fmt.Errorf("look up: %w", err)
	}
	return httpapi.OK(Hits{Hits: best(found)})
}

// of are the finders of what a caller may list. What they may not is no part of the statement; the places of the
// others stay.
func (l *Lookup) of(caller httpapi.Caller) []Finder {
	allowed := slices.Clone(l.finders)
	for i := range allowed {
		if !l.routes[i].Allows(caller) {
			allowed[i].By = nil
		}
	}
	return allowed
}

// match is a row of the statement.
type match struct {
	hit    Hit
	rank   Rank
	finder int
	by     int
	place  int64
}

// run executes the statement, which is neither prepared nor cached: there are too many of them, and each is planned
// for its values.
func (l *Lookup) run(ctx context.Context, db postgres.DB, sql string, args []any) ([]match, error) {
	rows, err := db.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m match, err error) {
		err = row.Scan(&m.finder, &m.by, &m.place, &m.hit.ID, &m.hit.Title, &m.hit.Note, &m.hit.CustomerID,
			&m.hit.OrderID)
		if err == nil {
			f := l.finders[m.finder]
			m.hit.Kind, m.hit.FoundBy, m.rank = f.Kind, f.By[m.by].Name, f.By[m.by].Rank
		}
		return m, err
	})
}

// best are the hits in their order, each record once, and no kind at the cost of all others.
func best(found []match) []Hit {
	slices.SortFunc(found, func(x, y match) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.finder, y.finder), cmp.Compare(x.by, y.by),
			cmp.Compare(x.place, y.place))
	})
	seen := map[string]bool{}
	found = slices.DeleteFunc(found, func(m match) bool {
		key := m.hit.Kind + " " + m.hit.ID.String()
		again := seen[key]
		seen[key] = true
		return again
	})
	taken, ofKind := make([]bool, len(found)), map[string]int{}
	n := 0
	for _, atMost := range []int{mostOfKind, most} {
		for i, m := range found {
			if !taken[i] && n < most && ofKind[m.hit.Kind] < atMost {
				taken[i] = true
				ofKind[m.hit.Kind]++
				n++
			}
		}
	}
	hits := make([]Hit, 0, n)
	for i, m := range found {
		if taken[i] {
			hits = append(hits, m.hit)
		}
	}
	return hits
}

// Doc documents a route that Find answers: with the kinds that there are.
func (l *Lookup) Doc(api *httpapi.API) []httpapi.Option {
	schemas := api.OpenAPI().Components.Schemas
	answer := schemas.Schema(reflect.TypeFor[Hits](), true, "")
	hit := schemas.SchemaFromRef(schemas.Schema(reflect.TypeFor[Hit](), true, "").Ref).Properties["kind"]
	hit.Enum = nil
	for _, f := range l.finders {
		hit.Enum = append(hit.Enum, f.Kind)
	}
	hit.PrecomputeMessages()
	return []httpapi.Option{httpapi.Summary("Search over everything"), httpapi.ResponseSchema(answer)}
}
