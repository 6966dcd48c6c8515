package secrettest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

func TestFindTellsSecretsFromOtherText(t *testing.T) {
	t.Parallel()
	var s secrettest.Secrets
	s.Add("code", "482913")
	s.Add("password", "correct horse battery")
	for text, found := range map[string]bool{
		`{"code": "482913"}`: true, `(a,482913,b)`: true, `12:00:01.482913`: false, `9482913`: false,
		`{"took":482913}`: false, `{"tries":482913}`: true, `they typed correct horse battery.`: true,
		`pay 4242424242424242 now`: true, `{"ccv": "123"}`: true, `{\"cvv\":\"1234\"}`: true, `cvc=123`: true,
		`{"ccv": null}`: false, `4242424242424242424`: false,
	} {
		require.Equal(t, found, len(s.Find(text)) > 0, text)
	}
}

// echo answers what a login does.
func echo(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`[{"auth":{"access_token":"` + strings.Repeat("a", 40) +
		`"}, "error": {"code":"NOT_FOUND"}}]`))
}

func TestObserveNotesWhatGoesThrough(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(secrettest.Observe(t, http.HandlerFunc(echo)))
	defer server.Close()
	res, err := http.PostForm(server.URL+"?archive_token="+strings.Repeat("q", 40), url.Values{
		"username": {"ana"},
		"password": {"form password"},
	})
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	s := secrettest.Of(t)
	for text, found := range map[string]bool{
		"form password": true, strings.Repeat("a", 40): true, strings.Repeat("q", 40): true, "ana": false,
		"NOT_FOUND": false,
	} {
		require.Equal(t, found, len(s.Find(text)) > 0, text)
	}
}

// TestObserveAddsNoBody: of a body that nobody reads an API bounds the rest of the connection's
// reading, which would end an answer that takes a second.
func TestObserveAddsNoBody(t *testing.T) {
	t.Parallel()
	empty := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	var body io.ReadCloser
	secrettest.Observe(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body = r.Body
	})).ServeHTTP(httptest.NewRecorder(), empty)
	require.Equal(t, http.NoBody, body)
}

func TestNoteReadsJSON(t *testing.T) {
	t.Parallel()
	var s secrettest.Secrets
	s.AddBody(map[string]any{
		"credit_card": map[string]any{"number": "5162306219378829", "ccv": "318"},
		"list":        []any{map[string]any{"new_password": "json password"}},
	})
	s.AddBody([]byte(`{"code": "771122", "number": "150", "refresh_token": "short"}`))
	for text, found := range map[string]bool{"json password": true, "771122": true, "150": false, "short": false} {
		require.Equal(t, found, len(s.Find(text)) > 0, text)
	}
}

func TestDumpReadsEveryTable(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	_, err := db.Exec(t.Context(),
		`CREATE TABLE platform.notes (words jsonb); INSERT INTO platform.notes VALUES ('{"typed": "771122"}')`)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(),
		`INSERT INTO jobs.river_job (kind, args, max_attempts, queue, state) VALUES ('probe', '{"said": "a queued password"}', 1, 'default', 'available')`)
	require.NoError(t, err)
	text, err := secrettest.Dump(db.Config().ConnString())
	require.NoError(t, err)
	var s secrettest.Secrets
	s.Add("code", "771122")
	s.Add("password", "a queued password")
	require.Len(t, s.Find(text), 2, text)
}
