package exports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"marquee/modules/finance/internal/financedb"
	"marquee/modules/finance/reports"
	"marquee/platform/clock"
	"marquee/platform/export"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/stream"
)

// Config is the configuration of exports; the zero value of a field means
// its default.
type Config struct {
	SyncRows int64         // more rows than these are written by a job; default 100,000
	TTL      time.Duration // after it a job's file is removed; default 24 h
	LinkTTL  time.Duration // life of a download link; default 15 min
	LinkKey  []byte        // signs download links
	// PublicURL is the scheme and host under which clients reach the service.
	PublicURL string
	// Lease is how long a worker may be silent before another begins anew; default 20 s.
	Lease time.Duration
}

// Callers knows users. The module accounts fills it.
type Callers interface {
	// Caller reads the user that the claims name; it fails when the user is gone,
	// disabled, or has ended tokens of that age.
	Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error)
}

// Deps are what New needs.
type Deps struct {
	Pool    postgres.Pool
	Jobs    *jobs.Client
	Clock   clock.Clock
	Log     *slog.Logger
	Zone    *time.Location // REPORT_TZ, of a workbook's timestamps and of file names
	Reports *reports.Reports
	Callers Callers // opens the download links
	Streams *stream.Streams
	Config  Config
}

// Exports writes figures and lists into files.
type Exports struct {
	deps  Deps
	db    *financedb.Queries
	slots chan struct{} // one a file that is being sent
	feed  *stream.Feed
}

// MaxSending is how many files one process reads at once for requests: each holds a
// connection meanwhile.
const MaxSending = 4

// New makes the room.
func New(d Deps) *Exports {
	d.Config.SyncRows = cmp.Or(d.Config.SyncRows, 100_000)
	d.Config.TTL = cmp.Or(d.Config.TTL, 24*time.Hour)
	d.Config.LinkTTL = cmp.Or(d.Config.LinkTTL, 15*time.Minute)
	d.Config.Lease = cmp.Or(d.Config.Lease, 20*time.Second)
	s := &Exports{deps: d, db: financedb.New(), slots: make(chan struct{}, MaxSending)}
	s.feed = d.Streams.Feed("exports", s.readStates)
	return s
}

// Kinds of exports, as in finance.exports.
const (
	financeExport   = "finance"
	eventsExport    = "events"
	customersExport = "customers"
)

// request is what an admin asked for, checked. It is kept with an export
// that a job writes, so that its JSON has to stay readable.
type request struct {
	Kind   string        `json:"kind"`
	Format export.Format `json:"format"`
	BOM    bool          `json:"bom,omitempty"`
	// Language is that of a csv file; "" is English.
	Language   export.Language `json:"language,omitempty"`
	First      string          `json:"first,omitempty"` // day in REPORT_TZ, YYYY-MM-DD
	Last       string          `json:"last,omitempty"`  // included
	EventType  string          `json:"event_type,omitempty"`
	ActiveOnly bool            `json:"active_only,omitempty"`
	Query      string          `json:"query,omitempty"`

	filename string // with the extension
}

// errTooLong says that an export has more rows than are sent at once.
var errTooLong = errors.New("finance: the export is too long to be sent at once")

// target is what an export is written to.
type target interface {
	io.Writer
	// begin begins anew, after a replica has broken off; false: what was written so far has gone out.
	begin() bool
}

var errBrokenOff = errors.New("finance: the replica was given up while the export was read there")

// write writes what was asked for to out, from one snapshot of the
// database. Before it begins it tells counted, once, how many rows there are; an error
// of that ends it with nothing written. What a replica breaks off is begun anew on the primary.
func (s *Exports) write(ctx context.Context, out target, r request, counted func(rows int64) error,
	o export.Options,
) error {
	o.Zone, o.BOM, o.Language = s.deps.Zone, r.BOM, r.Language
	known := false
	return s.deps.Reports.Snapshot(ctx, 0, func(ctx context.Context, tx pgx.Tx) error {
		if !out.begin() {
			return replica.Final(errBrokenOff)
		}
		tables, err := s.tables(ctx, tx, r)
		if err != nil {
			return err
		}
		var rows int64
		for _, t := range tables {
			n, err := t.count(ctx, tx)
			if err != nil {
				return r.refused(err)
			}
			rows += n
		}
		if !known {
			if err := counted(rows); err != nil {
				return replica.Final(err)
			}
			known = true
		}
		sheets := make([]export.Sheet, len(tables))
		for i, t := range tables {
			sheets[i] = t.sheet(ctx, tx)
		}
		if len(tables) == 1 && tables[0].inOrder {
			// The first rows are wanted before the last one is found.
			if _, err := tx.Exec(ctx, "SET LOCAL enable_sort = off"); err != nil {
				return fmt.Errorf("take rows in order: %w", err)
			}
		}
		return export.Write(ctx, out, r.Format, sheets, o)
	})
}

// tables are the sheets of a request.
func (s *Exports) tables(ctx context.Context, tx pgx.Tx, r request) ([]table, error) {
	switch r.Kind {
	case financeExport:
		return s.financeTables(ctx, tx, r)
	case eventsExport:
		return eventTables(r), nil
	case customersExport:
		return customerTables(r)
	}
	return nil, fmt.Errorf("export: no kind %q", r.Kind)
}

// refused turns what the database says of a client's filter into a 422, as the
// lists do.
func (r request) refused(err error) error {
	var pgErr *pgconn.PgError
	if r.Query != "" && errors.As(err, &pgErr) && (pgErr.Code[:2] == "22" || pgErr.Code[:2] == "54") {
		return fault.InvalidAt("cannot be evaluated", "query", "query").WithCause(err)
	}
	return err
}

// column is a column of a sheet and the SQL that yields it.
type column struct {
	name string
	kind export.Kind
	sql  string // "" is the name
}

// widths of a workbook's columns, in characters, where that of the kind does not
// suit: ids, names and addresses are long, words are short.
var widths = map[string]int{
	"_id": 27, "subscription_id": 27, "customer_id": 27, "refund_id": 27, "event_id": 27, "ticket_id": 27,
	"ticket_order_id": 27, "current_subscription_id": 27,
	"email": 32, "customer_email": 32, "full_name": 28, "customer_name": 28, "title": 32, "event_title": 32,
	"location": 32, "payment": 30,
	"figure": 27, "of": 14, "value": 20, "plan_id": 12, "plan_name": 16, "gateway": 9, "payment_method": 16,
	"status": 12, "subscription_status": 20,
	"event_type": 16, "tax_id": 16, "phone": 18, "nationality": 12, "region_code": 12, "country": 9, "postal_code": 12,
	"language": 10, "source": 10,
}

// table is a sheet and what fills it: a statement, or rows that are there.
type table struct {
	name    string
	columns []column
	from    string // the FROM clause with its conditions
	order   string
	inOrder bool // an index has the rows in that order
	args    []any
	rows    [][]export.Value // where from is ""
}

// count returns how many rows the table has.
func (t table) count(ctx context.Context, tx pgx.Tx) (n int64, err error) {
	if t.from == "" {
		return int64(len(t.rows)), nil
	}
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+t.from, t.args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count %s: %w", t.name, err)
	}
	return n, nil
}

func (t table) sheet(ctx context.Context, tx pgx.Tx) export.Sheet {
	s := export.Sheet{Name: t.name, Columns: make([]export.Column, len(t.columns))}
	selected := make([]string, len(t.columns))
	for i, c := range t.columns {
		s.Columns[i] = export.Column{Name: c.name, Kind: c.kind, Width: widths[c.name]}
		selected[i] = c.typed()
	}
	if t.from == "" {
		s.Rows = func(yield func([]export.Value, error) bool) {
			for _, row := range t.rows {
				if !yield(row, nil) {
					return
				}
			}
		}
		return s
	}
	s.Rows = export.Rows(ctx, tx, s.Columns, "SELECT "+strings.Join(selected, ", ")+" FROM "+t.from+" ORDER BY "+
		t.order, t.args...)
	return s
}

// typed is the column's SQL in the type that export.Rows expects of its kind.
func (c column) typed() string {
	sql := c.sql
	if sql == "" {
		sql = c.name
	}
	switch c.kind {
	case export.Integer, export.Money:
		return "(" + sql + ")::bigint"
	case export.Decimal, export.Percent:
		return "(" + sql + ")::float8"
	case export.Text:
		return "(" + sql + ")::text"
	}
	return sql
}

// filenameOf puts the format's extension behind a name.
func filenameOf(name string, f export.Format) string { return name + "." + f.Extension() }

// parameters is the request as it is kept.
func (r request) parameters() (json.RawMessage, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("keep export request: %w", err)
	}
	return raw, nil
}

// auditDoc is the request as the audit trail shows it: a filter may name people, who
// may be deleted one day, so that it is told is all that is kept.
func (r request) auditDoc() map[string]string {
	details := map[string]string{"kind": r.Kind, "format": string(r.Format), "filename": r.filename}
	if r.Kind == customersExport {
		details["filtered"] = strconv.FormatBool(r.Query != "")
	}
	return details
}
