package app_test

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/testutil/apitest"
)

// sameInHead are the headers that HEAD gives as GET does.
var sameInHead = []string{
	"Content-Type", "Content-Disposition", "Cache-Control", "ETag", "Last-Modified", "Accept-Ranges", "Location",
	"Content-Security-Policy", "WWW-Authenticate",
}

// TestHeadIsWhereGetIs: every GET route answers HEAD with its own status and headers and
// no body, for what is there and what is not, to those who may and those who may not; and
// no export, no row and no entry of the audit trail comes of it.
func TestHeadIsWhereGetIs(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	b := newVictim(t, a)
	// Go's client asks for gzip by itself, but not with HEAD: an entity tag is of one coding.
	plain := func(c *apitest.Client) *apitest.Client { return c.With("Accept-Encoding", "identity") }
	nobody, root, customer := plain(a.Guest), plain(a.Root()), plain(b.client)
	type request struct {
		name, path string
		caller     *apitest.Client
		head       *apitest.Response
	}
	var all []request
	empty := map[string]string{}
	for kind := range b.everyID() {
		empty[kind] = "66f0a1b2c3d4e5f607182a01"
	}
	before := written(t, a)
	for _, r := range a.Routes() {
		require.NotEqual(t, http.MethodHead, r.Method, r.Path)
		if r.Method != http.MethodGet || r.Name == "customer_check_availability" ||
			r.Name == "promo_code_validate" { // counted by address
			continue
		}
		if item := a.API().OpenAPI().Paths[r.Path]; item != nil {
			require.Nil(t, item.Head, r.Path)
		}
		paths := append(naming(a, r, b.everyID()), naming(a, r, empty)...)
		paths = append(paths, paths[0]+"?query=%7B&w=32&format=csv", paths[0]+"?format=json&async=1")
		for _, path := range paths {
			for _, caller := range []*apitest.Client{root, customer, nobody} {
				head := caller.Do(http.MethodHead, path, nil)
				require.Empty(t, head.Body, path)
				all = append(all, request{r.Name, path, caller, head})
			}
		}
	}
	require.Equal(t, before, written(t, a), "HEAD wrote")
	sized := 0
	for _, x := range all {
		get := x.caller.Get(x.path)
		if x.head.Status == http.StatusOK && get.Status != http.StatusOK && unknownBefore[x.name] {
			continue
		}
		require.Equal(t, get.Status, x.head.Status, "%s: %s", x.path, get.Body)
		for _, name := range sameInHead {
			if name == "Location" && get.Status == http.StatusAccepted {
				continue // of the export that GET began
			}
			require.Equal(t, withoutMinute(get.Header.Get(name)), withoutMinute(x.head.Header.Get(name)), "%s of %s",
				name, x.path)
		}
		if length := x.head.Header.Get("Content-Length"); length != "" {
			require.Equal(t, strconv.Itoa(len(get.Body)), length, x.path)
			sized++
		}
	}
	require.Greater(t, len(all), 500)
	require.Greater(t, sized, 50)
	require.Equal(t, http.StatusNotFound, root.Do(http.MethodHead, "/no-such-route", nil).Status)
}

// written counts what a read might leave behind.
func written(t *testing.T, a *platformtest.Platform) (n int) {
	t.Helper()
	require.NoError(t,
		a.DB.QueryRow(t.Context(),
			`SELECT (SELECT count(*) FROM accounts.audit_log) + (SELECT count(*) FROM finance.exports) +
		(SELECT count(*) FROM jobs.river_job)`).Scan(&n))
	return n
}

// unknownBefore are routes whose GET learns from the gateway that there is nothing.
var unknownBefore = map[string]bool{
	"subscription_payments": true, "admin_gwa_subscription_payments": true, "admin_gwb_subscription_payments": true,
}

var minuteInName = regexp.MustCompile(`_\d{8}_\d{4}\.`)

// withoutMinute leaves out of a file's name the minute in which it was made: the two are
// asked for one after the other.
func withoutMinute(header string) string { return minuteInName.ReplaceAllString(header, ".") }
