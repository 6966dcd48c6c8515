package bulk

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"marquee/platform/audit"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/stream"
)

const (
	// most is how many records a bulk act may have.
	most = 100_000
	// choosing is how long it may take to find them.
	choosing = 15 * time.Second
)

// Service answers the routes and does the acts.
type Service struct {
	api   *httpapi.API
	pool  postgres.Pool
	jobs  *jobs.Client
	clock clock.Clock
	log   *slog.Logger
	acts  map[string]*Act
	feed  *stream.Feed
}

// New makes it; Connect it before it is used.
func New(pool postgres.Pool, client *jobs.Client, clk clock.Clock, log *slog.Logger, streams *stream.Streams) *Service {
	s := &Service{pool: pool, jobs: client, clock: clk, log: log}
	s.feed = streams.Feed("bulk_acts", s.readStates)
	return s
}

// Connect tells of the API whose operations are called. All that acts call have to be registered: it panics for one
// that is not.
func (s *Service) Connect(api *httpapi.API) { s.api, s.acts = api, resolved(api) }

// Bulk is a bulk act as staff see it.
type Bulk struct {
	ID        objectid.ID     `json:"_id"`
	Act       string          `json:"act"`
	Query     string          `json:"query"`
	Arguments json.RawMessage `json:"arguments"`
	ActorID   objectid.ID     `json:"actor_id" doc:"Who asked for it"`
	State     string          `json:"state" enum:"running,done,stopped"`
	Total     int             `json:"total" doc:"Records that the filter matched when it was confirmed"`
	Done      int             `json:"done"`
	Skipped   int             `json:"skipped" doc:"Records that are gone, or stand against the act"`
	Failed    int             `json:"failed"`
	Unknown   int             `json:"unknown" doc:"Records whose act was cut off and may not be repeated"`
	CreatedAt httpapi.Time    `json:"created_at"`
	EndedAt   *httpapi.Time   `json:"ended_at" nullable:"true"`
}

func (s *Service) bulkOf(a stored) Bulk {
	arguments := json.RawMessage("{}")
	if act := s.acts[a.Act]; act != nil { // nil: another version's
		arguments = act.visible(s.api, a.Arguments)
	}
	return Bulk{
		ID: a.ID, Act: a.Act, Query: a.Query, Arguments: arguments, ActorID: a.ActorID, State: a.State,
		Total: a.Total, Done: a.Counts.Done, Skipped: a.Counts.Skipped, Failed: a.Counts.Failed,
		Unknown:   a.Counts.Unknown,
		CreatedAt: httpapi.Time(a.CreatedAt), EndedAt: httpapi.TimePtr(a.EndedAt),
	}
}

type beginInput struct {
	Body struct {
		Act       string         `json:"act" enum:"customer_update,video_update,subscription_cancel,subscription_extend,webhook_log_replay,job_retry,job_cancel"`
		Query     string         `json:"query" maxLength:"8000" doc:"Filter of the act's list; empty for all records"`
		Arguments map[string]any `json:"arguments,omitempty" doc:"Fields to write, or the body of the single act"`
		Expected  int            `json:"expected" minimum:"1" maximum:"100000" doc:"How many records the list showed for the filter"`
	}
}

// Begin answers POST /admin/bulk-acts. Errors: 403 for who may not do the single act; 409 where the filter matches
// another number of records than was expected; 422 for a filter that the list refuses, or for arguments that are none
// of the act's.
func (s *Service) Begin(ctx context.Context, in *beginInput) (*httpapi.Output[Bulk], error) {
	act, caller := s.acts[in.Body.Act], httpapi.CallerOf(ctx)
	if !httpapi.Named(s.api, act.Route).Allows(caller) {
		return nil, fault.Forbidden("You may not do this, neither to one record nor to many.")
	}
	if err := act.check(s.api, in.Body.Arguments); err != nil {
		return nil, err
	}
	ids, args, err := act.matching(s.api, in.Body.Query)
	if err != nil {
		return nil, err
	}
	arguments, err := json.Marshal(in.Body.Arguments)
	if err != nil {
		return nil, fmt.Errorf("write arguments: %w", err)
	}
	if in.Body.Arguments == nil {
		arguments = []byte("{}")
	}
	a := stored{
		ID: objectid.New(), Act: act.Name, Query: in.Body.Query, Arguments: arguments, ActorID: caller.ID,
		Claims: caller.Claims, State: stateRunning, CreatedAt: s.clock.Now(),
	}
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		within, cancel := context.WithTimeout(ctx, choosing)
		defer cancel()
		a.Total, err = insertTx(within, tx, a, ids, args)
		if within.Err() != nil || postgres.IsTimeout(err) {
			return fault.InvalidAt("is too expensive", "body", "query")
		}
		if err != nil {
			return err
		}
		if a.Total > most {
			return fault.InvalidAt(fmt.Sprintf("matches more than %d records", most), "body", "query")
		}
		if a.Total != in.Body.Expected {
			return fault.Conflict("The filter matches %s now: look at them and confirm again.", fault.Count(a.Total, "record"))
		}
		if _, err := s.jobs.InsertTx(ctx, tx, RunArgs{BulkID: a.ID}, nil); err != nil {
			return fmt.Errorf("queue bulk act: %w", err)
		}
		return audit.RecordTx(ctx, tx, audit.Change{Resource: "bulk-acts", RecordID: a.ID, After: map[string]any{
			"act": a.Act, "query": a.Query, "arguments": in.Body.Arguments, "total": a.Total,
		}})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(s.bulkOf(a))
}

type bulksBody struct {
	Bulks []Bulk `json:"bulk_acts" doc:"The last 50, the newest first"`
}

// List answers GET /admin/bulk-acts.
func (s *Service) List(ctx context.Context, _ *struct{}) (*httpapi.Output[bulksBody], error) {
	caller := httpapi.CallerOf(ctx)
	of := caller.ID
	if caller.Root {
		of = ""
	}
	all, err := list(ctx, s.pool, of)
	if err != nil {
		return nil, err
	}
	body := bulksBody{Bulks: make([]Bulk, len(all))}
	for i, one := range all {
		body.Bulks[i] = s.bulkOf(one)
	}
	return httpapi.OK(body)
}

type idInput struct {
	ID string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

// find reads one of the caller's, of anybody's for root; 404 for any other.
func (s *Service) find(ctx context.Context, id string) (stored, error) {
	caller := httpapi.CallerOf(ctx)
	a, err := get(ctx, s.pool, objectid.ID(strings.ToLower(id)))
	if errors.Is(err, pgx.ErrNoRows) || err == nil && a.ActorID != caller.ID && !caller.Root {
		return a, fault.NotFound("Bulk act")
	}
	return a, err
}

// Get answers GET /admin/bulk-acts/{id}; 404 for one that is not the caller's.
func (s *Service) Get(ctx context.Context, in *idInput) (*httpapi.Output[Bulk], error) {
	a, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(s.bulkOf(a))
}

// Stop answers POST /admin/bulk-acts/{id}/stop: no further record is begun. Errors: 404; 409 for one that has ended.
func (s *Service) Stop(ctx context.Context, in *idInput) (*httpapi.Output[Bulk], error) {
	a, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		stopped, err := end(ctx, tx, a.ID, stateStopped, s.clock.Now())
		if err != nil {
			return err
		}
		if !stopped {
			return fault.Conflict("The bulk act has already ended.")
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: "bulk-acts", RecordID: a.ID, Before: map[string]any{"state": stateRunning},
			After: map[string]any{"state": stateStopped},
		})
	})
	if err == nil {
		a, err = s.find(ctx, in.ID)
	}
	if err != nil {
		return nil, err
	}
	return httpapi.OK(s.bulkOf(a))
}

type rowsInput struct {
	ID      string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	Outcome string `query:"outcome" enum:"done,skipped,failed,unknown" doc:"Records of that outcome alone"`
	After   int    `query:"after" minimum:"0" doc:"A position: records behind it"`
	Qty     int    `query:"qty" minimum:"1" maximum:"1000" default:"100"`
}

// Record is a record of a bulk act.
type Record struct {
	Position int    `json:"position"`
	RecordID string `json:"record_id"`
	Outcome  string `json:"outcome" enum:"open,done,skipped,failed,unknown"`
	Reason   string `json:"reason" doc:"Of what was not done; may be empty"`
}

type rowsBody struct {
	Rows []Record `json:"rows"`
}

func recordOf(r row) Record {
	record := Record{Position: r.Position, RecordID: r.RecordID, Outcome: "open", Reason: r.Reason}
	if r.Outcome != nil && *r.Outcome != outcomeStarted {
		record.Outcome = *r.Outcome
	}
	return record
}

// Rows answers GET /admin/bulk-acts/{id}/rows.
func (s *Service) Rows(ctx context.Context, in *rowsInput) (*httpapi.Output[rowsBody], error) {
	a, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	all, err := rowsAfter(ctx, s.pool, a.ID, in.Outcome, in.After, in.Qty)
	if err != nil {
		return nil, err
	}
	body := rowsBody{Rows: make([]Record, len(all))}
	for i, r := range all {
		body.Rows[i] = recordOf(r)
	}
	return httpapi.OK(body)
}

// Result is a file.
type Result struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	Body               []byte
}

// ResultResponse documents what Download answers.
func ResultResponse() httpapi.Option {
	return httpapi.Response("200", &huma.Response{Description: "The file", Content: map[string]*huma.MediaType{
		"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}},
	}})
}

// Download answers GET /admin/bulk-acts/{id}/result: all records as a CSV file, some ten MB at most.
func (s *Service) Download(ctx context.Context, in *idInput) (*Result, error) {
	a, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &Result{
		ContentType:        "text/csv; charset=utf-8",
		ContentDisposition: `attachment; filename="` + a.Act + "_" + a.ID.String() + `.csv"`,
	}
	if httpapi.HeadOnly(ctx) {
		return out, nil
	}
	all, err := rowsAfter(ctx, s.pool, a.ID, "", 0, most)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"position", "record_id", "outcome", "reason"})
	for _, r := range all {
		record := recordOf(r)
		_ = w.Write([]string{strconv.Itoa(r.Position), r.RecordID, record.Outcome, record.Reason})
	}
	w.Flush()
	out.Body = text.Bytes()
	return out, nil
}
