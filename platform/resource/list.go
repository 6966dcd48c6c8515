package resource

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/query"
)

// StatementTimeout is how long the statement of a list may run before the answer
// is 422 "query is too expensive" (docs/contract/collections.md, Bounds). Give it to the
// pool that serves lists.
const StatementTimeout = 1500 * time.Millisecond

// LockWait is how long it waits for a lock, which counts as its running: well before
// StatementTimeout, so that who waited is not told that the query is too expensive.
const LockWait = time.Second

// Deadline is how long a list may take with the wait for a connection, for a server
// that does not keep its own limits: later than those, so that it speaks first.
const Deadline = 2*StatementTimeout + 250*time.Millisecond

// deepOffset is from where on the page's ids are found first and its documents
// made after, so that skipped rows cost no JSON.
const deepOffset = 100

// List is one request's page. Prepare it, then Run it, or Queue it into a batch
// with the checks that belong to the same round trip; then Envelope renders it.
type List struct {
	view   *View
	params Params
	filter string // SQL
	sort   string // SQL
	args   []any
	client bool // the text depends on client input, so it stays out of the statement cache

	unknown int // fields in filter and sort that the resource does not show
	page    Page
}

// Page is what a list has found.
type Page struct {
	Docs    []byte // the JSON documents, joined by commas
	Total   int    // documents that the filter matches, on all pages
	Version int64  // of what the resource shows, in the page's own snapshot; 0 when the Definition has none
}

// Prepare compiles filter and sort. Errors are 422.
func (v *View) Prepare(p Params) (*List, error) {
	l := &List{view: v, params: p}
	if p.ID != "" {
		l.filter, l.args = "t.id = $1", []any{string(p.ID)}
		l.narrow(p.Only)
		return l, nil
	}
	filter, err := query.Compile(v.registry, p.Query, 1)
	if err != nil {
		return nil, Refused(err)
	}
	sort := v.sort
	if p.Sort != "" || len(sort.Args) > 0 {
		if sort, err = query.CompileSort(v.registry, p.Sort, len(filter.Args)+1); err != nil {
			return nil, Refused(err)
		}
	}
	l.unknown = filter.Unknown + sort.Unknown
	countUnknown(v.resource.def.Name, l.unknown)
	l.filter, l.sort = filter.SQL, sort.SQL
	l.args = append(filter.Args, sort.Args...)
	l.narrow(p.Only)
	if p.Search != "" {
		l.search(p)
	}
	l.client = p.Search != "" || p.Query != "" || p.Sort != "" || p.Size != v.resource.def.PageSize ||
		p.Offset() >= deepOffset
	return l, nil
}

// narrow adds what the server demands. A field that the resource does not have is
// a fault of the program.
func (l *List) narrow(only []Only) {
	for _, o := range only {
		l.args = append(l.args, o.Value)
		l.filter = allOf(l.filter, l.view.resource.named[o.Field].Expr+" = $"+strconv.Itoa(len(l.args))+"::text")
	}
}

// search adds the words to find to the filter, and their rank before the sort
// unless the client has asked for one.
func (l *List) search(p Params) {
	l.args = append(l.args, p.Search)
	found, words := l.view.resource.def.Search, "platform.search_query($"+strconv.Itoa(len(l.args))+"::text)"
	l.filter += " AND " + found + " @@ " + words
	if p.Sort == "" {
		l.sort = "ts_rank(" + found + ", " + words + ") DESC, " + l.sort
	}
}

// SQL returns the statement, which yields total, documents and version from one
// snapshot, and its arguments.
func (l *List) SQL() (string, []any) {
	v, version := l.view, "0::bigint"
	if v.resource.def.Version != "" {
		version = v.resource.def.Version
	}
	from := " FROM " + v.resource.def.From + " WHERE "
	if l.params.ID != "" {
		return "SELECT 1, " + v.document + ", " + version + from + v.where(l.filter), l.args
	}
	rows := from + v.where(l.filter)
	return "SELECT (SELECT count(*)" + rows + "), (SELECT coalesce(string_agg(p.doc, ','), '') FROM (" +
		v.pageSQL(rows, l.sort, l.params) + ") p), " + version, l.args
}

// pageSQL selects the documents of the page in order. LIMIT and OFFSET are
// literals, printed from checked integers: as parameters they would be planned
// anew at each execution (docs/decisions/no-orm.md).
func (v *View) pageSQL(rows, sort string, p Params) string {
	window := " LIMIT " + strconv.Itoa(p.Size) + " OFFSET " + strconv.Itoa(p.Offset())
	if p.Offset() < deepOffset {
		return "SELECT " + v.document + " AS doc" + rows + " ORDER BY " + sort + window
	}
	return "SELECT " + v.document + " AS doc FROM " + v.resource.def.From +
		" JOIN (SELECT t.id AS page_id" + rows + " ORDER BY " + sort + window +
		") page ON page.page_id = t.id ORDER BY " + sort
}

// Cached reports whether the statement's text is one of few, so that it may go
// into a batch, whose statements pgx prepares and keeps.
func (l *List) Cached() bool { return !l.client }

// Page returns what the list has found.
func (l *List) Page() Page { return l.page }

// Fill gives the list a page that was found in another way.
func (l *List) Fill(p Page) { l.page = p }

// Queue adds the statement to a batch; the page is there once the batch's
// results are closed. done gets the error to answer with, or nil.
func (l *List) Queue(b *pgx.Batch, done func(error)) {
	sql, args := l.SQL()
	b.Queue(sql, args...).QueryRow(func(row pgx.Row) error {
		done(l.fault(l.scan(row)))
		return nil
	})
}

// Run executes the statement on its own. Texts that depend on client input are
// neither prepared nor cached: there are too many of them.
func (l *List) Run(ctx context.Context, db postgres.DB) error {
	if l.params.ID == "" { // a record alone has to be there
		if err := httpapi.HeadEnds(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	sql, args := l.SQL()
	if l.client {
		args = append([]any{pgx.QueryExecModeExec}, args...)
	}
	return l.fault(l.scan(db.QueryRow(ctx, sql, args...)))
}

func (l *List) scan(row pgx.Row) error {
	return row.Scan(&l.page.Total, &l.page.Docs, &l.page.Version)
}

// fault turns what the database says into what people are told.
func (l *List) fault(err error) error {
	var pgErr *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case postgres.IsNoRows(err):
		return fault.NotFound(l.view.resource.def.Singular)
	case postgres.IsTimeout(err):
		return fault.InvalidAt("is too expensive", "query", paramQuery)
	case errors.As(err, &pgErr) && l.client && (pgErr.Code[:2] == "22" || pgErr.Code[:2] == "54"):
		// A hole in the query compiler; Report logs the cause.
		return fault.InvalidAt("cannot be evaluated", "query", paramQuery).WithCause(err)
	}
	return fmt.Errorf("list %s: %w", l.view.resource.def.Name, err)
}

// Refused turns a *query.Error into the contract's 422: loc leads into the
// parameter, field is the parameter, and the sentence is the contract's own.
func Refused(err error) error {
	var q *query.Error
	if !errors.As(err, &q) {
		return err
	}
	loc := append([]any{"query", q.Param}, q.Path...)
	return fault.Invalid(fault.Issue{Loc: loc, Msg: q.Message, Type: "value_error"}).WithField(q.Param)
}

// UnknownFields counts the fields in filters and sorts that the collection does
// not show. The answer never names them (docs/contract/filters.md, Paths). Register
// it with the process' metrics.
var UnknownFields = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "marquee_query_unknown_fields_total", Help: "Fields in filters and sorts that the collection does not show.",
}, []string{"collection"})

func countUnknown(collection string, n int) {
	if n > 0 {
		UnknownFields.WithLabelValues(collection).Add(float64(n))
	}
}
