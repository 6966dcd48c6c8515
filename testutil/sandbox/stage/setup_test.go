package stage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

// bundle is a stage under a gateway of one route: POST /do/{name} has the effect "name" and emits an event of type
// name.
type bundle struct {
	t        *testing.T
	s        *stage.Stage
	url      string
	receiver *receiver
	during   func() // runs within a call, after its event

	mu      sync.Mutex
	effects []string
}

// receiver counts what arrives; answer decides the status of each.
type receiver struct {
	mu      sync.Mutex
	got     []string
	respond func(body string) int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.got = append(r.got, string(body))
	respond := r.respond
	r.mu.Unlock()
	if respond != nil {
		w.WriteHeader(respond(string(body)))
	}
}

func (r *receiver) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.got...)
}

func (r *receiver) responses(f func(body string) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.respond = f
}

func setup(t *testing.T, change func(*stage.Options)) *bundle {
	t.Helper()
	b := &bundle{t: t, receiver: &receiver{}}
	hook := httptest.NewServer(b.receiver)
	t.Cleanup(hook.Close)
	o := stage.Options{
		Name:     "test",
		Webhooks: stage.WebhookOptions{URL: hook.URL, Ladder: []time.Duration{time.Millisecond, time.Millisecond}},
	}
	if change != nil {
		change(&o)
	}
	s, err := stage.New(o)
	require.NoError(t, err)
	b.s = s
	s.Clock.Handle("effect", b.effect)
	server := httptest.NewServer(s.Handler(http.HandlerFunc(b.serve)))
	b.url = server.URL
	require.NoError(t, s.Start())
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		server.Close()
	})
	return b
}

func (b *bundle) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/do/")
	b.effect(name)
	b.s.Emit(r.Context(), stage.Event{ID: "evt_" + name, Type: name, Body: []byte(fmt.Sprintf("%q", name))})
	if b.during != nil {
		b.during()
	}
	if name == "object" {
		fmt.Fprint(w, wholeObject)
		return
	}
	fmt.Fprint(w, `{"done":true}`)
}

// wholeObject is the answer to POST /do/object.
const wholeObject = `{"data":[{"id":"row_19a"}],"id":"obj_19af"}`

func (b *bundle) effect(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.effects = append(b.effects, name)
}

func (b *bundle) had() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.effects...)
}

func (b *bundle) emit(names ...string) {
	for _, name := range names {
		b.s.Emit(context.Background(), stage.Event{
			ID: "evt_" + name, Type: name, Body: []byte(fmt.Sprintf("%q", name)),
		})
	}
}

// arrived settles the queue and lists what was received.
func (b *bundle) arrived() []string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	require.NoError(b.t, b.s.Webhooks.Settle(ctx))
	out := []string{}
	for _, body := range b.receiver.all() {
		out = append(out, strings.Trim(body, `"`))
	}
	return out
}

// call sends POST /do/{name} and returns status and body.
func (b *bundle) call(name string) (int, string, error) {
	b.t.Helper()
	return b.send(http.MethodPost, "/do/"+name, "")
}

// hungUp is call by somebody who hangs up: not before the call is in the journal, nor before an answer that comes all
// the same would be there.
func (b *bundle) hungUp(name string) (int, string, error) {
	b.t.Helper()
	ctx, hangUp := context.WithCancel(b.t.Context())
	defer hangUp()
	go func() {
		for ctx.Err() == nil && len(b.s.Journal.Entries(stage.EntryCall)) == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		hangUp()
	}()
	return b.sendWith(ctx, http.MethodPost, "/do/"+name, "")
}

func (b *bundle) send(method, path, body string) (int, string, error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	return b.sendWith(ctx, method, path, body)
}

func (b *bundle) sendWith(ctx context.Context, method, path, body string) (int, string, error) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, b.url+path, strings.NewReader(body))
	require.NoError(b.t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

// control uses a control over HTTP and asserts that it went well.
func (b *bundle) control(method, path, body string) string {
	b.t.Helper()
	status, raw, err := b.send(method, path, body)
	require.NoError(b.t, err)
	require.Equal(b.t, 200, status, raw)
	return raw
}

func decode[T any](t *testing.T, raw string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(raw), &v))
	return v
}
