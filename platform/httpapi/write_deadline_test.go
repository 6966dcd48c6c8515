package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// logged is an API whose log and metrics are read once its server is closed.
type logged struct {
	*httpapi.API
	log     bytes.Buffer // each line is one write, and the handler's lock stands around it
	metrics *prometheus.Registry
	server  *httptest.Server
}

// newLogged is one whose answers have to leave in pieces, each in the time; 0 is the default.
func newLogged(t *testing.T, pieceTime time.Duration, routes func(*httpapi.API)) *logged {
	t.Helper()
	l := &logged{metrics: prometheus.NewRegistry()}
	l.API = httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "https://api.example.com", Log: slog.New(slog.NewTextHandler(&l.log, nil)),
		Metrics: l.metrics, PieceTime: pieceTime,
	})
	routes(l.API)
	l.server = httptest.NewServer(l.Handler())
	t.Cleanup(l.server.Close)
	return l
}

// statuses are those that the metrics have counted, once nothing is answered any more.
func (l *logged) statuses(t *testing.T) (all []string) {
	t.Helper()
	l.server.Close()
	families, err := l.metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "status" {
					all = append(all, label.GetValue())
				}
			}
		}
	}
	return all
}

func dial(t *testing.T, l *logged, request string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(l.server.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	return conn
}

// TestAReaderThatTakesNothingIsCut: the handler comes back, and it is no error of ours.
func TestAReaderThatTakesNothingIsCut(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	l := newLogged(t, 50*time.Millisecond, func(api *httpapi.API) {
		api.Mount(http.MethodGet, "/film", "film", httpapi.Public, func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.Copy(w, io.LimitReader(zeros{}, 1<<30))
			ended <- err
		}, httpapi.Stream())
	})
	conn := dial(t, l, "GET /film HTTP/1.1\r\nHost: x\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Error(t, <-ended)
	require.Equal(t, []string{"499"}, l.statuses(t))
	require.NotContains(t, l.log.String(), "ERROR")
}

// TestASlowReaderGetsAll: the deadline moves with what is read. A machine that stands still between a deadline and
// its writing cuts the answer off, now and then.
func TestASlowReaderGetsAll(t *testing.T) {
	t.Parallel()
	const size = 300 << 10
	got, statuses := 0, []string(nil)
	for try := 0; try < 10 && got != size; try++ {
		got, statuses = readSlowly(t, size)
	}
	require.Equal(t, size, got)
	require.Equal(t, []string{"200"}, statuses)
}

func readSlowly(t *testing.T, size int) (got int, statuses []string) {
	t.Helper()
	l := newLogged(t, 50*time.Millisecond, func(api *httpapi.API) {
		api.Mount(http.MethodGet, "/film", "film", httpapi.Public, func(w http.ResponseWriter, r *http.Request) {
			for range 6 { // each is slower to come than a piece may be to leave
				select {
				case <-r.Context().Done():
				case <-time.After(60 * time.Millisecond):
				}
				_, _ = w.Write(make([]byte, size/6))
			}
		}, httpapi.Stream())
	})
	res, err := http.Get(l.server.URL + "/film")
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return len(body), l.statuses(t)
}

// TestAClientThatHangsUp is neither an ERROR nor a 5xx, whatever its going away breaks;
// what the contract answers with 501 is none either.
func TestAClientThatHangsUp(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]error{"its context": nil, "a connection": errors.New("conn closed")} {
		entered := make(chan struct{})
		l := newLogged(t, 0, func(api *httpapi.API) {
			httpapi.Route(api, http.MethodGet, "/slow", "slow", httpapi.Public,
				func(ctx context.Context, _ *struct{}) (*httpapi.Output[said], error) {
					close(entered)
					<-ctx.Done()
					if broken != nil {
						return nil, broken
					}
					return nil, ctx.Err()
				})
		})
		conn := dial(t, l, "GET /api/v1/slow HTTP/1.1\r\nHost: x\r\n\r\n")
		<-entered
		require.NoError(t, conn.Close())
		require.Equal(t, []string{"499"}, l.statuses(t), name)
		require.NotContains(t, l.log.String(), "ERROR", name)
	}
	entered := make(chan struct{})
	l := newLogged(t, 0, func(api *httpapi.API) {
		api.AddCheck("database", func(ctx context.Context) error {
			close(entered)
			<-ctx.Done()
			return ctx.Err()
		})
	})
	conn := dial(t, l, "GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	require.NoError(t, conn.Close())
	require.Equal(t, []string{"499"}, l.statuses(t), "health")
	require.NotContains(t, l.log.String(), "ERROR", "which says nothing of the database")

	l = newLogged(t, 0, func(api *httpapi.API) {
		httpapi.Route(api, http.MethodGet, "/gap", "gap", httpapi.Public,
			func(context.Context, *struct{}) (*httpapi.Output[said], error) {
				return nil, &fault.Error{Kind: fault.KindUnimplemented, Message: "Not here."}
			})
	})
	res, err := http.Get(l.server.URL + "/api/v1/gap")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, []string{"501"}, l.statuses(t))
	require.NotContains(t, l.log.String(), "ERROR")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestSlowBodiesGiveWay: who sends slowly keeps nobody out.
func TestSlowBodiesGiveWay(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "https://api.example.com", Log: slog.New(slog.DiscardHandler), InFlight: 2,
	})
	api.Mount(http.MethodPost, "/webhooks/x", "hook", httpapi.Gateway, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			api.WriteError(r.Context(), w, httpapi.BodyFault(err))
			return
		}
		w.WriteHeader(http.StatusOK)
	})
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	l := &logged{server: server}
	for range 5 {
		dial(t, l, "POST /webhooks/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1")
	}
	for range 5 {
		res, err := http.Post(server.URL+"/webhooks/x", "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
}
