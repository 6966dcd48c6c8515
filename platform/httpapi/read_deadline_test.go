package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// optionalBodyInput has a body that may be left out.
type optionalBodyInput struct {
	Body struct {
		Title string `json:"title" required:"false"`
	}
}

// TestAnAnswerMayTakeLongerThanTheBody: what may take long is a gateway's call.
func TestAnAnswerMayTakeLongerThanTheBody(t *testing.T) {
	t.Parallel()
	const limit = 30 * time.Millisecond
	store := idempotency.New(pgtest.DB(t), clock.System{}, []byte("0123456789abcdef0123456789abcdef"))
	repeatable := httpapi.Idempotent[httpapi.Output[said]](nil, nil)
	for name, route := range map[string]struct {
		auth   httpapi.Auth
		option httpapi.Option
	}{
		"plain": {httpapi.Public, httpapi.Status(200)}, "repeatable": {httpapi.Public, repeatable},
		"of an admin": {httpapi.Admin, httpapi.Status(200)}, "of an admin, repeatable": {httpapi.Admin, repeatable},
	} {
		api := httpapi.New(httpapi.Config{
			Version: "test", PublicURL: "https://api.example.com", Auth: everybody, Log: secrettest.Logger(t),
			Idempotency: store, BodyStall: limit,
		})
		slow := func(ctx context.Context, _ *optionalBodyInput) (*httpapi.Output[said], error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * limit):
				return httpapi.OK(said{"done"})
			}
		}
		httpapi.Route(api, http.MethodPost, "/slow", "slow", route.auth, slow, route.option)
		url := apitest.Serve(t, api) + httpapi.Prefix + "/slow"
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
		for try, sent := range []string{`{"title":"wait"}`, `{"title":"wait"}`, "", ""} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(sent)))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer admin")
			req.Header.Set("Idempotency-Key", string(route.auth)+strconv.Itoa(try))
			res, err := client.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusOK, res.StatusCode, "%s: %s", name, body)
		}
		client.CloseIdleConnections()
	}
}

// TestAnAnswerOutlivesABodyThatNobodyReads: the time for what is left of the body is neither
// the answer's nor that of the connection's next request.
func TestAnAnswerOutlivesABodyThatNobodyReads(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "https://api.example.com", Log: secrettest.Logger(t),
	})
	api.Mount(http.MethodGet, "/film", "film", httpapi.Public, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun, ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			_, _ = io.WriteString(w, "cut")
		case <-time.After(1200 * time.Millisecond): // longer than the rest of a body may take
			_, _ = io.WriteString(w, "whole")
		}
	}, httpapi.Stream())
	url := apitest.Serve(t, api) + "/film"
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	t.Cleanup(client.CloseIdleConnections)
	for _, sent := range []string{"{}", ""} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, strings.NewReader(sent))
		require.NoError(t, err)
		res, err := client.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, "begun, whole", string(body), "after a body of %q", sent)
	}
}

// rawRequest sends bytes as they are and reads one answer.
func rawRequest(t *testing.T, address, text string) *http.Response {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	if !strings.HasSuffix(text, stalls) {
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// stalls ends a request whose connection stays open while nothing more comes.
const stalls = ` `

// TestABodyThatDoesNotArrive is the client's fault: never a 500, and no line that
// looks like one of ours.
func TestABodyThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer // each line is one write, and the handler's lock stands around it
	lines := slog.NewTextHandler(&log, nil)
	serve := func(stall time.Duration) *httptest.Server {
		api := httpapi.New(httpapi.Config{
			Version: "test", PublicURL: "https://api.example.com", Log: slog.New(lines), BodyStall: stall,
		})
		for path, auth := range map[string]httpapi.Auth{"/sale": httpapi.Public, "/staff": httpapi.Admin} {
			httpapi.Route(api, http.MethodPost, path, path[1:], auth,
				func(context.Context, *saleInput) (*httpapi.Output[said], error) {
					return httpapi.OK(said{"done"})
				})
		}
		return httptest.NewServer(apitest.Handler(t, api))
	}
	patient, hurried := serve(time.Minute), serve(30*time.Millisecond)
	const head = "POST /api/v1/sale HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"stalled":         {head + "Content-Length: 90\r\n\r\n{\"title\":" + stalls, http.StatusRequestTimeout},
		"cut off":         {head + "Content-Length: 90\r\n\r\n{\"title\":\"x\"}", http.StatusBadRequest},
		"malformed chunk": {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", http.StatusBadRequest},
		"no last chunk":   {head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", http.StatusBadRequest},
		"not wanted": {
			strings.Replace(head, "/sale", "/staff", 1) + "Content-Length: 90\r\n\r\n{" + stalls,
			http.StatusUnauthorized,
		},
		"too much": {head + "Content-Length: 99999999\r\n\r\n{}", http.StatusRequestEntityTooLarge},
	} {
		server := patient
		if strings.HasSuffix(c.text, stalls) {
			server = hurried
		}
		res := rawRequest(t, server.URL, c.text)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err, name)
		require.Equal(t, c.status, res.StatusCode, "%s: %s", name, body)
		require.Contains(t, string(body), `"detail"`, name)
	}
	patient.Close()
	hurried.Close() // after which nobody writes
	require.NotContains(t, log.String(), "ERROR")
}
