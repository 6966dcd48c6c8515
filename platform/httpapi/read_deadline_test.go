package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/testutil/apitest"
	"marquee/testutil/leaktest"
	"marquee/testutil/pgtest"
)

// TestAnAnswerMayTakeLongerThanTheBody: what may take long is a gateway's call.
func TestAnAnswerMayTakeLongerThanTheBody(t *testing.T) {
	t.Parallel()
	const limit = 30 * time.Millisecond
	store := idempotency.New(pgtest.DB(t), clock.System{}, []byte("0123456789abcdef0123456789abcdef"))
	for name, option := range map[string]httpapi.Option{"plain": httpapi.Status(200), "repeatable": httpapi.Idempotent[httpapi.Output[said]](nil, nil)} {
		api := httpapi.New(httpapi.Config{Version: "test", PublicURL: "https://api.example.com", Log: leaktest.Logger(t), Idempotency: store})
		slow := func(ctx context.Context, _ *saleInput) (*httpapi.Output[said], error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * limit):
				return httpapi.OK(said{"done"})
			}
		}
		httpapi.Route(api, http.MethodPost, "/slow", "slow", httpapi.Public, slow, httpapi.BodyReadTimeout(limit), option)
		url := apitest.Serve(t, api) + httpapi.Prefix + "/slow"
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
		for try := range 2 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(`{"title":"wait"}`)))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Idempotency-Key", strconv.Itoa(try))
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
