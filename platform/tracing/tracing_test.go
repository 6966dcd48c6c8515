package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"marquee/platform/tracing"
	"marquee/testutil/collector"
	"marquee/testutil/secrettest"
)

// traced is a tracer with its collector.
type traced struct {
	*tracing.Tracer
	t  *testing.T
	to *collector.Collector
}

func setup(t *testing.T, set ...func(*tracing.Config)) *traced {
	t.Helper()
	to := collector.Start(t)
	cfg := tracing.Config{URL: to.URL, Ratio: 1, Service: "test", Version: "1", Log: secrettest.Logger(t)}
	for _, change := range set {
		change(&cfg)
	}
	tracer := tracing.New(cfg)
	t.Cleanup(func() { tracer.Close(context.Background()) })
	return &traced{tracer, t, to}
}

// spans are all that were recorded, by name.
func (s *traced) spans() map[string]collector.Span {
	s.t.Helper()
	require.NoError(s.t, s.Flush(s.t.Context()))
	all := map[string]collector.Span{}
	for _, span := range s.to.Spans() {
		require.NotContains(s.t, all, span.Name)
		all[span.Name] = span
	}
	return all
}

// request is one that a traceparent came with.
func request(t *testing.T, traceparent ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/plans", http.NoBody)
	r.Header["Traceparent"] = traceparent
	return r
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
	callers      = "00-" + callersTrace + "-" + callersSpan + "-01"
)

// TestASpanIsWhereItHappened: each is below what it was done for, in its process and in others.
func TestASpanIsWhereItHappened(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *tracing.Config) { c.Headers = map[string]string{"Authorization": "Bearer key-of-the-collector"} })
	r, span := s.StartRequest(request(t, callers), true)
	ctx := r.Context()
	require.Equal(t, callersTrace, tracing.TraceID(ctx))

	sql := s.Database()
	sql.TraceQueryEnd(sql.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: "-- name: PlanList :many\nSELECT 1"}), nil,
		pgx.TraceQueryEndData{})
	var given string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given = r.Header.Get("Traceparent")
		w.WriteHeader(http.StatusConflict)
	}))
	t.Cleanup(gateway.Close)
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, gateway.URL+"/v1/charges/ch_3PXaa1?email=ana@example.com", http.NoBody)
	require.NoError(t, err)
	res, err := s.Transport("gwb", http.DefaultTransport).RoundTrip(call)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Empty(t, call.Header, "the caller's request is as it was")
	_, end := s.StartCall(ctx, "send mail")
	end(errors.New("550 ana@example.com is unknown"))

	metadata := s.insert(ctx, []byte(`{"river:x":1}`))
	require.JSONEq(t, `{"river:x":1,"traceparent":"00-`+callersTrace+`-`+rootOf(t, metadata)+`-01"}`, string(metadata))
	s.work(&rivertype.JobRow{Kind: "codes_mail", Queue: "mail", ID: 7, Attempt: 2, Metadata: metadata, CreatedAt: time.Now()}, nil)
	tracing.Annotate(ctx, "webhook.result", "processed")
	span.End("GET", "/api/v1/plans", http.StatusInternalServerError)

	all := s.spans()
	root := all["GET /api/v1/plans"]
	require.Equal(t, collector.Span{
		Service: "test", Name: "GET /api/v1/plans", Trace: callersTrace, ID: root.ID, Parent: callersSpan, Kind: "server",
		Failed: true, Start: root.Start, End: root.End, Attributes: map[string]string{
			"http.request.method": "GET", "http.route": "/api/v1/plans", "http.response.status_code": "500",
			"webhook.result": "processed",
		},
	}, root)
	require.WithinDuration(t, time.Now(), root.Start, time.Minute)
	require.False(t, root.End.Before(root.Start))
	require.Equal(t, "00-"+callersTrace+"-"+all["gwb POST /v1/charges/{id}"].ID+"-01", given)
	for name, want := range map[string]collector.Span{
		"PlanList": {Kind: "client", Attributes: map[string]string{"db.system.name": "postgresql"}},
		"gwb POST /v1/charges/{id}": {Kind: "client", Failed: true, Attributes: map[string]string{
			"peer.service": "gwb", "http.request.method": "POST", "server.address": "127.0.0.1",
			"url.template": "/v1/charges/{id}", "http.response.status_code": "409",
		}},
		"send mail": {Kind: "client", Failed: true, Attributes: map[string]string{"error.type": "other"}},
		"job codes_mail": {Kind: "consumer", Attributes: map[string]string{
			"job.kind": "codes_mail", "job.queue": "mail", "job.id": "7", "job.attempt": "2",
		}},
	} {
		got := all[name]
		want.Service, want.Name, want.Trace, want.Parent = "test", name, callersTrace, root.ID
		want.ID, want.Start, want.End = got.ID, got.Start, got.End
		require.Equal(t, want, got)
	}
	require.Len(t, all, 5)
	require.NotContains(t, s.to.Text(), "ana@example.com")
	require.Equal(t, "Bearer key-of-the-collector", s.to.Header().Get("Authorization"))
}

// rootOf is the span that a job's metadata name.
func rootOf(t *testing.T, metadata []byte) string {
	t.Helper()
	_, rest, found := strings.Cut(string(metadata), callersTrace+"-")
	require.True(t, found, "%s", metadata)
	return rest[:16]
}

// insert inserts a job with metadata, and returns those that it has then.
func (s *traced) insert(ctx context.Context, metadata []byte) []byte {
	s.t.Helper()
	params := []*rivertype.JobInsertParams{{Metadata: metadata}}
	insert := s.Jobs()[0].(river.JobInsertMiddlewareFunc)
	_, err := insert.InsertMany(ctx, params, func(context.Context) ([]*rivertype.JobInsertResult, error) { return nil, nil })
	require.NoError(s.t, err)
	return params[0].Metadata
}

// work has a job worked that ends so.
func (s *traced) work(job *rivertype.JobRow, result error) {
	s.t.Helper()
	work := s.Jobs()[1].(river.WorkerMiddlewareFunc)
	err := work.Work(context.Background(), job, func(ctx context.Context) error {
		require.NotEmpty(s.t, tracing.TraceID(ctx))
		return result
	})
	require.Equal(s.t, result, err)
}

// TestATraceparentOfAnybody: what is none is none, and one of a caller whom nobody trusts decides nothing: not whether
// its request is recorded, and not in which trace.
func TestATraceparentOfAnybody(t *testing.T) {
	t.Parallel()
	for _, hostile := range [][]string{
		nil,
		{""},
		{"-"},
		{"00"},
		{"00-" + callersTrace},
		{callers, callers},
		{strings.ToUpper(callers)},
		{"00-" + strings.Repeat("0", 32) + "-" + callersSpan + "-01"},
		{"00-" + callersTrace + "-0000000000000000-01"},
		{"ff-" + callersTrace + "-" + callersSpan + "-01"},
		{callers + "-more"},
		{callers + ","},
		{" " + callers},
		{strings.Replace(callers, "4", "g", 1)},
		{callers[:54] + "\x00"},
		{callers[:53] + "ff"},
		{"00-" + strings.Repeat("a", 1<<20)},
		{strings.Repeat("-", 1<<20)},
		{"00-'; DROP TABLE users; --aaaaaaaaaa-" + callersSpan + "-01"},
		{"00-é" + callers[5:]},
	} {
		s := setup(t)
		r, span := s.StartRequest(request(t, hostile...), true)
		require.NotEmpty(t, tracing.TraceID(r.Context()))
		require.NotEqual(t, callersTrace, tracing.TraceID(r.Context()), "%.80q", hostile)
		span.End("GET", "/plans", 200)
		root := s.spans()["GET /plans"]
		require.Empty(t, root.Parent, "%.80q", hostile)
		require.Empty(t, root.Links, "%.80q", hostile)
	}

	s := setup(t)
	r, span := s.StartRequest(request(t, callers), false)
	trace := tracing.TraceID(r.Context())
	require.NotEmpty(t, trace)
	require.NotEqual(t, callersTrace, trace)
	span.End("GET", "/linked", 200)
	linked := s.spans()["GET /linked"]
	require.Empty(t, linked.Parent)
	require.Equal(t, []string{callersTrace}, linked.Links)

	seldom := setup(t, func(c *tracing.Config) { c.Ratio = 1e-18 })
	for trusted, recorded := range map[bool]bool{true: true, false: false} {
		// The trace with the least number is recorded by any ratio: whoever chooses it would always be.
		least := "00-" + strings.Repeat("0", 31) + "1-" + callersSpan + "-01"
		r, span := seldom.StartRequest(request(t, least), trusted)
		require.Equal(t, recorded, tracing.TraceID(r.Context()) != "")
		span.End("GET", "/", 200)
	}
	r, span = setup(t).StartRequest(request(t, strings.TrimSuffix(callers, "1")+"0"), true)
	require.Empty(t, tracing.TraceID(r.Context()), "a trusted proxy does not record it")
	span.End("GET", "/", 200)
}

// TestOffCostsNothing: a process that traces nothing has no tracer; what it would be called for allocates nothing, and
// what it would stand around is as it was.
func TestOffCostsNothing(t *testing.T) { // alone, since all allocations of the process are counted
	var off *tracing.Tracer
	next, log := http.DefaultTransport, secrettest.Logger(t)
	require.Same(t, next, off.Transport("gwb", next))
	require.Same(t, log, off.Log(log))
	require.Nil(t, off.Database())
	require.Nil(t, off.Jobs())
	require.NoError(t, off.Flush(t.Context()))
	off.Close(t.Context())
	r, ctx := request(t, callers), t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		got, span := off.StartRequest(r, true)
		_, end := off.StartCall(got.Context(), "send mail")
		end(nil)
		tracing.Annotate(ctx, "webhook.result", "processed")
		_ = tracing.TraceID(ctx)
		span.End("GET", "/plans", http.StatusOK)
	}))
}

// TestWhatIsNotRecordedCostsNothingOnTheWay: what a process does by itself, outside of requests and jobs, or in one that
// is not recorded.
func TestWhatIsNotRecordedCostsNothingOnTheWay(t *testing.T) { // alone, as above
	s, ctx := setup(t), t.Context()
	sql := s.Database()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, end := s.StartCall(ctx, "send mail")
		end(nil)
		sql.TraceQueryEnd(sql.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: "SELECT 1"}), nil, pgx.TraceQueryEndData{})
	}))
	require.Nil(t, s.insert(ctx, nil))
	require.Empty(t, s.spans())
}

// TestErrorsAreToldByTheirKind: their texts may quote anything.
func TestErrorsAreToldByTheirKind(t *testing.T) {
	t.Parallel()
	s := setup(t)
	r, span := s.StartRequest(request(t), false)
	sql := s.Database()
	for name, err := range map[string]error{
		"Refused": &pgconn.PgError{Code: "23505", Detail: "Key (email)=(ana@example.com) already exists."},
		"Late":    context.DeadlineExceeded, "Away": errors.New("ana@example.com"), "None": pgx.ErrNoRows,
	} {
		start := pgx.TraceQueryStartData{SQL: "-- name: " + name + " :one\nSELECT", Args: []any{"ana@example.com"}}
		sql.TraceQueryEnd(sql.TraceQueryStart(r.Context(), nil, start), nil, pgx.TraceQueryEndData{Err: err})
	}
	batch := &pgx.Batch{}
	batch.Queue("-- name: First :one\nSELECT $1", "ana@example.com")
	batch.Queue("UPDATE accounts.users SET email = $1", "ana@example.com")
	all := sql.(pgx.BatchTracer)
	all.TraceBatchEnd(all.TraceBatchStart(r.Context(), nil, pgx.TraceBatchStartData{Batch: batch}), nil,
		pgx.TraceBatchEndData{})
	s.work(&rivertype.JobRow{Kind: "fails", CreatedAt: time.Now()}, errors.New("no such mailbox: ana@example.com"))
	s.work(&rivertype.JobRow{Kind: "snoozes", CreatedAt: time.Now()}, river.JobSnooze(time.Minute))
	span.End("GET", "/", 200)
	spans := s.spans()
	for name, want := range map[string]map[string]string{
		"Refused": {"db.response.status_code": "23505"}, "Late": {"error.type": "timeout"}, "Away": {"error.type": "other"},
	} {
		require.True(t, spans[name].Failed, name)
		for key, value := range want {
			require.Equal(t, value, spans[name].Attributes[key], name)
		}
	}
	require.False(t, spans["None"].Failed)
	require.Equal(t, "2", spans["First, UPDATE accounts.users"].Attributes["db.operation.batch.size"])
	require.True(t, spans["job fails"].Failed)
	require.False(t, spans["job snoozes"].Failed)
	require.NotContains(t, s.to.Text(), "ana@example.com")
}

// TestAJobOfLaterHasATraceOfItsOwn, with a link to that in which it was inserted.
func TestAJobOfLaterHasATraceOfItsOwn(t *testing.T) {
	t.Parallel()
	s := setup(t)
	metadata := []byte(`{"traceparent":"` + callers + `"}`)
	s.work(&rivertype.JobRow{Kind: "late", Metadata: metadata, CreatedAt: time.Now().Add(-2 * time.Hour)}, nil)
	for kind, strange := range map[string]string{"a": "", "b": "null", "c": `[]`, "d": `{"traceparent":7}`, "e": "{"} {
		s.work(&rivertype.JobRow{Kind: kind, Metadata: []byte(strange), CreatedAt: time.Now()}, nil)
	}
	all := s.spans()
	require.Len(t, all, 6)
	require.Equal(t, []string{callersTrace}, all["job late"].Links)
	for _, span := range all {
		require.Empty(t, span.Parent)
		require.NotEqual(t, callersTrace, span.Trace)
	}
	for metadata, want := range map[string]string{
		"": `{"traceparent":"x"}`, "{}": `{"traceparent":"x"}`, `{"a":1,"traceparent":"y"}`: `{"a":1,"traceparent":"x"}`,
		"null": "null", "[1]": "[1]", "{": "{",
	} {
		require.Equal(t, want, string(tracing.WithParent([]byte(metadata), "x")))
	}
}

// TestLinesTellTheirTrace: and others do not.
func TestLinesTellTheirTrace(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := setup(t)
	log := s.Log(slog.New(slog.NewJSONHandler(&out, nil))).With("a", 1)
	r, span := s.StartRequest(request(t, callers), true)
	log.InfoContext(r.Context(), "within")
	log.InfoContext(t.Context(), "outside")
	span.End("GET", "/", 200)
	within, outside, _ := strings.Cut(out.String(), "\n")
	require.Contains(t, within, `"trace_id":"`+callersTrace+`"`)
	require.Contains(t, within, `"a":1`)
	require.NotContains(t, outside, "trace_id")
}
