package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/stream"
)

const boardEvents = "/admin/requisitions/events"

// streaming is a platform whose streams look at the database a hundred times a second, and end by the clock.
func streaming(t *testing.T, config ...func(*app.Config)) (*platformtest.Platform, *clock.Fake) {
	t.Helper()
	now := clock.NewFake(time.Now())
	return platformtest.NewOf(t, platformtest.Options{Config: config, Parts: app.Parts{Streams: stream.Config{
		Now: now.Now, Ticks: func() (<-chan time.Time, func()) {
			ticker := time.NewTicker(10 * time.Millisecond)
			return ticker.C, ticker.Stop
		},
	}}}), now
}

// streamEvent is one as a client reads it.
type streamEvent struct {
	ID, Event string
	Data      map[string]any
}

// listener reads a stream.
type listener struct {
	t    *testing.T
	res  *http.Response
	text *bufio.Reader
}

// listen begins a stream at a server, as the token's user.
func listen(t *testing.T, server, token, path, lastID string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+httpapi.Prefix+path, http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return &listener{t: t, res: res, text: bufio.NewReader(res.Body)}
}

func (l *listener) close() { _ = l.res.Body.Close() }

// next is the next event, passing comments over; false at the end.
func (l *listener) next() (e streamEvent, more bool) {
	l.t.Helper()
	require.Equal(l.t, http.StatusOK, l.res.StatusCode)
	for {
		line, err := l.text.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return e, false
		}
		require.NoError(l.t, err)
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "id":
			e.ID = value
		case "event":
			e.Event = value
		case "data":
			require.NoError(l.t, json.Unmarshal([]byte(value), &e.Data))
		case "":
			if e.Event != "" {
				return e, true
			}
		}
	}
}

// boardOf makes two columns and a card in the first.
func boardOf(p *platformtest.Platform) (columns []string, card string) {
	var made struct {
		Docs []struct {
			ID string `json:"_id"`
		}
	}
	p.Root().Post("/admin/requisition-status", []platformtest.Object{{"name": "Open"}, {"name": "Done"}}).
		Expect(http.StatusOK).JSON(&made)
	for _, doc := range made.Docs {
		columns = append(columns, doc.ID)
	}
	first := platformtest.FirstDoc(p.Root().Post("/admin/requisitions", []platformtest.Object{{"name": "Card", "status_id": columns[0]}}))
	return columns, first["_id"].(string)
}

func move(p *platformtest.Platform, card, to string) {
	p.Root().Put("/admin/requisitions", []platformtest.Object{{"_id": card, "status_id": to}}).Expect(http.StatusOK)
}

// TestAMoveIsSeenByAnother: at whichever server it was made, also by who was away meanwhile, and also where of two moves
// the older one is committed last.
func TestAMoveIsSeenByAnother(t *testing.T) {
	t.Parallel()
	p, _ := streaming(t)
	columns, card := boardOf(p)
	user, _ := p.NewAdmin()
	other, _ := streaming(t, func(c *app.Config) { c.Database.URL = p.DB.Config().ConnString() })
	token := p.Token(user.Username)

	there := listen(t, other.Guest.URL(), token, boardEvents, "")
	first, _ := there.next()
	require.Equal(t, streamEvent{ID: first.ID, Event: "board", Data: map[string]any{"requisitions": 1.0, "columns": 2.0}}, first)
	move(p, card, columns[1])
	moved, _ := there.next()
	require.NotEqual(t, first.ID, moved.ID)
	there.close()

	move(p, card, columns[0]) // while nobody looks
	move(p, card, columns[1])
	there = listen(t, other.Guest.URL(), token, boardEvents, moved.ID)
	missed, _ := there.next()
	require.NotEqual(t, moved.ID, missed.ID, "it came back to its place, and was changed all the same")
	again := listen(t, p.Guest.URL(), token, boardEvents, missed.ID)

	second := platformtest.FirstDoc(p.Root().Post("/admin/requisitions", []platformtest.Object{{"name": "B", "status_id": columns[0]}}))
	added, _ := again.next()
	require.EqualValues(t, 2, added.Data["requisitions"], "and nothing that it knew before")
	older, err := p.DB.Begin(t.Context())
	require.NoError(t, err)
	_, err = older.Exec(t.Context(), `UPDATE board.requisitions SET status_id = $1, register_update_date = now() WHERE id = $2`, columns[0], card)
	require.NoError(t, err)
	move(p, second["_id"].(string), columns[1])
	newer, _ := again.next()
	require.NoError(t, older.Commit(t.Context()))
	last, _ := again.next()
	require.NotEqual(t, newer.ID, last.ID)
}

// TestAStreamEndsWithItsSession: and a customer, and who lacks the right, have none.
func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	p, now := streaming(t)
	boardOf(p)
	token := p.Token("root")
	open := listen(t, p.Guest.URL(), token, boardEvents, "")
	_, more := open.next()
	require.True(t, more)
	var sid string
	require.NoError(t, p.DB.QueryRow(t.Context(), "SELECT max(id::text) FROM accounts.sessions").Scan(&sid))
	p.Guest.As(token).Delete("/me/sessions/"+sid, nil).Expect(http.StatusOK)
	now.Advance(10 * time.Second)
	_, more = open.next()
	require.False(t, more)
	require.Equal(t, http.StatusForbidden, listen(t, p.Guest.URL(), token, boardEvents, "").res.StatusCode)
	_, customer := p.NewCustomer()
	require.Equal(t, http.StatusForbidden, customer.Get(boardEvents).Status)
	user, admin := p.NewAdmin()
	p.Exec("UPDATE accounts.users SET type_user = '{}' WHERE id = $1", user.ID)
	require.Equal(t, http.StatusUnauthorized, admin.Get(boardEvents).Status)
	require.Equal(t, http.StatusUnauthorized, p.Guest.Get(boardEvents+"?token="+token).Status, "no token in an address")
}

// TestStreamsHoldNoConnection: with two connections for requests and ten streams, requests are answered.
func TestStreamsHoldNoConnection(t *testing.T) {
	t.Parallel()
	p, now := streaming(t, func(c *app.Config) { c.Database.MaxConns = 4 })
	columns, card := boardOf(p)
	var open []*listener
	for i := range 4 {
		user, _ := p.NewAdmin(platformtest.Named(fmt.Sprintf("follower%d", i)))
		token := p.Token(user.Username)
		for range 3 {
			one := listen(t, p.Guest.URL(), token, boardEvents, "")
			_, more := one.next()
			require.True(t, more)
			open = append(open, one)
		}
		require.Equal(t, http.StatusTooManyRequests, listen(t, p.Guest.URL(), token, boardEvents, "").res.StatusCode)
	}
	for i := range 20 {
		move(p, card, columns[i%2])
		p.Root().Get("/admin/requisitions").Expect(http.StatusOK)
	}
	require.EqualValues(t, 12, series(t, p)[`marquee_event_streams{feed="board"}`])
	require.EqualValues(t, 12, series(t, p)[`marquee_http_in_flight{kind="events"}`])
	now.Advance(time.Minute)
	for _, one := range open {
		for more := true; more; {
			_, more = one.next()
		}
	}
}

// TestProgressIsTold: of an export and of a bulk act, until they end or are cancelled; they go on without a reader.
func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	p, _ := streaming(t)
	p.NewCustomer()
	p.Root()
	token := p.Token("root")
	export := func(format string) string {
		return p.Root().Get("/admin/finance/export?async=1&format=" + format).Expect(http.StatusAccepted).Map()["_id"].(string)
	}
	cancelled := export("csv")
	gone := listen(t, p.Guest.URL(), token, "/admin/exports/"+cancelled+"/events", "")
	e, _ := gone.next()
	require.Equal(t, "queued", e.Data["status"])
	p.Root().Delete("/admin/exports/"+cancelled, nil).Expect(http.StatusOK)
	e, _ = gone.next()
	require.Equal(t, streamEvent{ID: "gone", Event: "gone"}, e)
	_, more := gone.next()
	require.False(t, more)
	require.Equal(t, http.StatusNotFound, p.Root().Get("/admin/exports/"+cancelled+"/events").Status)

	stopped := labelAll(p.Root())
	stops := listen(t, p.Guest.URL(), token, "/admin/bulk-acts/"+stopped.ID.String()+"/events", "")
	e, _ = stops.next()
	require.Equal(t, "running", e.Data["state"])
	p.Root().Post("/admin/bulk-acts/"+stopped.ID.String()+"/stop", nil).Expect(http.StatusOK)
	e, _ = stops.next()
	require.Equal(t, "stopped", e.Data["state"])
	_, more = stops.next()
	require.False(t, more)

	file, act := export("json"), labelAll(p.Root())
	_, stranger := p.NewAdmin()
	require.Equal(t, http.StatusNotFound, stranger.Get("/admin/exports/"+file+"/events").Status)
	require.Equal(t, http.StatusNotFound, stranger.Get("/admin/bulk-acts/"+act.ID.String()+"/events").Status)
	first := listen(t, p.Guest.URL(), token, "/admin/exports/"+file+"/events", "")
	e, _ = first.next()
	first.close() // the page is closed
	p.Work()
	last := streamEvent{}
	for file, more := listen(t, p.Guest.URL(), token, "/admin/exports/"+file+"/events", e.ID), true; more; {
		if e, more = file.next(); more {
			last = e
		}
	}
	require.Equal(t, "done", last.Data["status"])
	require.Contains(t, last.Data["download_url"], "/file?")
	for act, more := listen(t, p.Guest.URL(), token, "/admin/bulk-acts/"+act.ID.String()+"/events", ""), true; more; {
		if e, more = act.next(); more {
			last = e
		}
	}
	require.Equal(t, "done", last.Data["state"])
	require.EqualValues(t, 1, last.Data["done"])
}

// TestDrainingEndsStreamsBeforeRequests: a request under way has its answer after the streams have ended.
func TestDrainingEndsStreamsBeforeRequests(t *testing.T) {
	t.Parallel()
	p, _ := streaming(t)
	columns, card := boardOf(p)
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	running, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- p.ServeAPI(running, listening) }()
	server, token := "http://"+listening.Addr().String(), p.Token("root")
	open := listen(t, server, token, boardEvents, "")
	_, more := open.next()
	require.True(t, more)

	locked, err := p.DB.Begin(t.Context())
	require.NoError(t, err)
	_, err = locked.Exec(t.Context(), "SELECT 1 FROM board.requisitions FOR UPDATE") // a move stands behind it
	require.NoError(t, err)
	status := make(chan int, 1)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, server+"/api/v1/admin/requisitions",
			strings.NewReader(`[{"_id":"`+card+`","status_id":"`+columns[1]+`"}]`))
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			status <- 0
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}()
	require.Eventually(t, func() bool {
		return p.Count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	}, time.Minute, 10*time.Millisecond)
	end()
	_, more = open.next()
	require.False(t, more)
	require.Empty(t, status, "the move still waits")
	require.NoError(t, locked.Rollback(t.Context()))
	require.Equal(t, http.StatusOK, <-status)
	require.NoError(t, <-ended)
}
