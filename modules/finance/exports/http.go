package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/jackc/pgx/v5"

	"marquee/platform/audit"
	"marquee/platform/export"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/openapi"
	"marquee/platform/postgres"
)

// Handlers answer with files as they are made, or with the export that a
// job makes.
type Handlers struct {
	s   *Exports
	api *httpapi.API
}

// NewHandlers makes them.
func NewHandlers(s *Exports, api *httpapi.API) Handlers {
	return Handlers{s: s, api: api}
}

// Path is where exports are read, below the prefix of all routes.
const Path = "/admin/exports"

// Responses document a route that gives a file, or 202 with the export.
func Responses(api *httpapi.API) []httpapi.Option {
	binary := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	rows := &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}}
	sheets := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: rows, Extensions: map[string]any{openapi.NameKey: "ExportSheets"},
	}
	state := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[exportState](), true, "")
	return []httpapi.Option{
		httpapi.TokenInQuery(), httpapi.Audited(), httpapi.Stream(),
		httpapi.Response("200",
			&huma.Response{
				Description: "The file; json is an object with a list of rows for each sheet",
				Content: map[string]*huma.MediaType{
					export.XLSX.ContentType(): binary, export.CSV.ContentType(): binary,
					"application/json": {Schema: sheets},
				},
			}),
		httpapi.Response("202", &huma.Response{
			Description: "A job writes the file",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: state}},
		}),
	}
}

// Options are what every export takes; exported, since huma reads no other
// embedded fields.
type Options struct {
	Format   string `query:"format" enum:"xlsx,csv,json" default:"xlsx" doc:"csv is one file a sheet, in a zip"`
	BOM      bool   `query:"bom" default:"false" doc:"csv files begin with a byte order mark, by which Excel knows UTF-8"`
	Language string `query:"language" enum:"en,pt" default:"en" doc:"Of csv files: pt has the mark, semicolons, CRLF, decimal commas, days as 31/12/2026 and instants in REPORT_TZ, as spreadsheets in Portuguese read them"`
	Async    bool   `query:"async" default:"false" doc:"1: a job writes the file, as it always does for long ones"`
	Token    string `query:"token" doc:"Access token, instead of the header"`
}

type financeExportInput struct {
	Options
	Start string `query:"start" doc:"First day, YYYY-MM-DD, in REPORT_TZ; default 90 days before end"`
	End   string `query:"end" doc:"Last day, included; default today"`
}

// Finance answers GET /admin/finance/export (docs/contract/figures.md, Exports): the
// file, or 202 with the export that a job writes. 422 for a malformed day and an end
// before the start.
func (h Handlers) Finance(ctx context.Context, in *financeExportInput) (*huma.StreamResponse, error) {
	r, err := h.s.financeRequest(export.Format(in.Format), in.Start, in.End)
	return h.respond(ctx, r, in.Options, err)
}

type eventsExportInput struct {
	Options
	EventType  string `query:"event_type" enum:"movie_premiere,lecture,screening,other" doc:"Default: all"`
	ActiveOnly bool   `query:"active_only" default:"false" doc:"Only events that are switched on"`
}

// Events answers GET /admin/events-dashboard/events/export (docs/contract/figures.md, Exports).
func (h Handlers) Events(ctx context.Context, in *eventsExportInput) (*huma.StreamResponse, error) {
	return h.respond(ctx, h.s.eventsRequest(export.Format(in.Format), in.EventType, in.ActiveOnly), in.Options, nil)
}

type customersExportInput struct {
	Options
	Query string `query:"query" doc:"JSON filter over the fields of GET /customers, and plan_id, gateway, payment_method, subscription_status, next_billing_date, expires_at of the current subscription"`
}

// Customers answers GET /admin/customers/export (docs/contract/figures.md, Exports); 422 for a
// filter that GET /customers would refuse.
func (h Handlers) Customers(ctx context.Context, in *customersExportInput) (*huma.StreamResponse, error) {
	r, err := h.s.customersRequest(export.Format(in.Format), in.Query)
	return h.respond(ctx, r, in.Options, err)
}

// respond sends the file, or has a job write it when the client asks for that.
func (h Handlers) respond(ctx context.Context, r request, o Options, err error) (*huma.StreamResponse, error) {
	if err != nil {
		return nil, err
	}
	r.BOM = o.BOM
	if r.Format == export.CSV && export.Language(o.Language) == export.Portuguese {
		r.Language = export.Portuguese
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humachi.Unwrap(hc)
		if httpapi.HeadOnly(ctx) {
			r.head(w, o.Async)
			return
		}
		if o.Async {
			h.start(ctx, w, r)
			return
		}
		h.stream(ctx, w, r)
	}}, nil
}

// head answers HEAD, without the file being made: as if it is sent at once, or by a job
// where the client asks for one.
func (r request) head(w http.ResponseWriter, async bool) {
	if async {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	setFileHeaders(w.Header(), r.Format, r.filename)
}

// start lets a job write the file: 202.
func (h Handlers) start(ctx context.Context, w http.ResponseWriter, r request) {
	e, err := h.s.start(ctx, r)
	if err != nil {
		h.api.WriteError(ctx, w, err)
		return
	}
	state := h.s.stateOf(e, httpapi.CallerOf(ctx).ID)
	w.Header().Set("Location", state.StatusURL)
	httpapi.WriteJSON(w, http.StatusAccepted, state)
}

// stream writes the file into the answer as it is read. Once its first byte is out,
// an error can only break the connection off: the client must not take a piece
// for the file.
func (h Handlers) stream(ctx context.Context, w http.ResponseWriter, r request) {
	select {
	case h.s.slots <- struct{}{}:
	default:
		h.api.WriteError(ctx, w, &fault.Error{
			Kind:       fault.KindUnavailable,
			Message:    "Too many exports are being sent. Try again, or let a job write it: async=1.",
			RetryAfter: 5 * time.Second,
		})
		return
	}
	out := &attachment{w: w, format: r.Format, filename: r.filename}
	err := h.s.spooled(ctx, out, r)
	switch {
	case err == nil:
	case errors.Is(err, errTooLong):
		h.start(ctx, w, r)
	case !out.began:
		h.api.WriteError(ctx, w, err)
	default:
		h.s.deps.Log.WarnContext(ctx, "export broken off", slog.String("request_id", httpapi.RequestID(ctx)),
			slog.String("kind", r.Kind), slog.Any("error", err))
		panic(http.ErrAbortHandler)
	}
}

// spooled writes an export to out while another goroutine, in the slot that its caller
// has taken, reads the database, which does not wait for out.
func (s *Exports) spooled(ctx context.Context, out io.Writer, r request) error {
	file, err := newSpool(s.deps.Reports.MayBreakOff())
	if err != nil {
		<-s.slots
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer file.close()
	defer reading.Wait()
	defer cancel()
	reading.Go(func() {
		defer func() { <-s.slots }()
		defer func() {
			if p := recover(); p != nil {
				file.end(fmt.Errorf("panic while exporting: %v\n%s", p, debug.Stack()))
			}
		}()
		file.end(s.write(ctx, file, r, func(rows int64) error {
			if rows > s.deps.Config.SyncRows {
				return errTooLong
			}
			return s.auditDownload(ctx, r)
		}, export.Options{}))
	})
	_, err = io.Copy(out, file)
	return err
}

// auditDownload tells the audit trail that somebody takes the file away.
func (s *Exports) auditDownload(ctx context.Context, r request) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		return audit.RecordTx(ctx, tx, audit.Change{Resource: "exports", After: r.auditDoc()})
	})
}

// attachment is an answer whose head waits for the first byte, so that what goes
// wrong before still gets its status. The first bytes leave at once.
type attachment struct {
	w        http.ResponseWriter
	format   export.Format
	filename string
	began    bool
}

// Write sends the head before the first bytes.
func (a *attachment) Write(p []byte) (int, error) {
	if a.began {
		return a.w.Write(p)
	}
	a.began = true
	setFileHeaders(a.w.Header(), a.format, a.filename)
	n, err := a.w.Write(p)
	if err == nil {
		err = http.NewResponseController(a.w).Flush()
	}
	return n, err
}

// setFileHeaders names a file; our names need no escaping.
func setFileHeaders(h http.Header, format export.Format, filename string) {
	h.Set("Content-Type", format.ContentType())
	h.Set("Content-Disposition", `attachment; filename="`+filename+`"`)
}
