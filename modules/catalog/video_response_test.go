package catalog_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
)

// plainClient decodes nothing and asks for nothing by itself.
var plainClient = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 32}}

// wireResponse is an answer as it came over the wire.
type wireResponse struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request with headers, pairs of name and value.
func (b *bundle) send(who, method, path string, headers ...string) wireResponse {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.client.URL()+"/api/v1"+path, nil)
	require.NoError(b.t, err)
	req.Header.Set("Authorization", "Bearer "+who)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := plainClient.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return wireResponse{res.StatusCode, res.Header, body}
}

func unzipped(t *testing.T, body io.Reader) string {
	t.Helper()
	zipped, err := gzip.NewReader(body)
	require.NoError(t, err)
	plain, err := io.ReadAll(zipped)
	require.NoError(t, err)
	return string(plain)
}

func TestVideosAreRevalidated(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := one.second()
	video := catalogtest.Video(t, one.db, catalogtest.Fields{"title": "0"})
	for i, path := range []string{
		"/videos", "/videos?_id=" + string(video), "/videos?query=" + url.QueryEscape(`{"enable":true}`),
	} {
		first := one.send("subscriber", http.MethodGet, path)
		require.Equal(t, http.StatusOK, first.status, "%s", first.body)
		tag := first.header.Get("ETag")
		require.Regexp(t, `^"[A-Za-z0-9_-]{22}"$`, tag)
		for _, b := range []*bundle{one, two} {
			for _, known := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					a := b.send("subscriber", method, path, "If-None-Match", known)
					require.Equal(t, http.StatusNotModified, a.status, known)
					require.Empty(t, a.body)
					require.Equal(t, tag, a.header.Get("ETag"))
					require.Empty(t, a.header.Get("Content-Type"))
					require.Equal(t, "private, no-cache", a.header.Get("Cache-Control"))
					require.Contains(t, a.header.Values("Vary"), "Authorization, Accept-Encoding")
				}
			}
			again := b.send("admin", http.MethodGet, path, "If-None-Match", `"x"`)
			require.Equal(t, http.StatusOK, again.status)
			require.Equal(t, string(first.body), string(again.body))
			require.Equal(t, "private, no-cache", again.header.Get("Cache-Control"))
			require.Contains(t, again.header.Values("Vary"), "Authorization, Accept-Encoding")
			head := b.send("admin", http.MethodHead, path)
			require.Equal(t, tag, head.header.Get("ETag"))
			require.Equal(t, strconv.Itoa(len(first.body)), head.header.Get("Content-Length"))
		}
		two.must(http.MethodPut, "/videos", fmt.Sprintf(`[{"_id":%q,"title":"edited %d"}]`, video, i))
		for _, b := range []*bundle{one, two} {
			changed := b.send("subscriber", http.MethodGet, path, "If-None-Match", tag)
			require.Equal(t, http.StatusOK, changed.status)
			require.NotEqual(t, tag, changed.header.Get("ETag"))
			require.Contains(t, string(changed.body), fmt.Sprintf("edited %d", i))
		}
	}
}

func TestVideosAreSentZipped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	catalogtest.Videos(t, b.db, 20)
	plain := b.send("subscriber", http.MethodGet, "/videos")
	require.Empty(t, plain.header.Get("Content-Encoding"))
	zipped := b.send("subscriber", http.MethodGet, "/videos", "Accept-Encoding", "br, gzip")
	require.Equal(t, "gzip", zipped.header.Get("Content-Encoding"))
	require.Equal(t, "application/json", zipped.header.Get("Content-Type"))
	require.Less(t, len(zipped.body), len(plain.body)/4)
	require.Equal(t, string(plain.body), unzipped(t, bytes.NewReader(zipped.body)))
	tag := zipped.header.Get("ETag")
	require.NotEqual(t, plain.header.Get("ETag"), tag, "a strong tag is of the bytes")
	for coding, status := range map[string]int{"gzip": http.StatusNotModified, "identity": http.StatusOK} {
		a := b.send("subscriber", http.MethodGet, "/videos", "Accept-Encoding", coding, "If-None-Match", tag)
		require.Equal(t, status, a.status, coding)
	}
	require.Equal(t, plain.header.Get("ETag"),
		b.send("subscriber", http.MethodGet, "/videos", "Accept-Encoding", "gzip;q=0").header.Get("ETag"))
}

// Who may not watch any more gets 403, though they know the entity tag: access is checked first.
func TestNotModifiedIsForWhoMayWatch(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := one.second()
	catalogtest.Video(t, one.db)
	tag := one.send("subscriber", http.MethodGet, "/videos").header.Get("ETag")
	require.NotEmpty(t, tag)
	const user, subscription = "UPDATE accounts.users SET %s WHERE id = $1",
		"UPDATE subscriptions.subscriptions SET %s WHERE customer_id = $1"
	for _, tc := range []struct{ what, table, taken, given string }{
		{"disabled", user, "enable = false", "enable = true"},
		{"signed out", user, "tokens_valid_after = now()", "tokens_valid_after = NULL"},
		{"suspended", subscription, "status = 'suspended'", "status = 'active'"},
		{"expired", subscription, "expires_at = '2020-01-01'", "expires_at = NULL"},
		{"not yet there", subscription, "status = 'pending'", "status = 'active'"},
	} {
		_, err := one.db.Exec(t.Context(), fmt.Sprintf(tc.table, tc.taken), subscriber)
		require.NoError(t, err, tc.what)
		for _, b := range []*bundle{one, two} {
			for _, known := range []string{tag, "*", ""} {
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					a := b.send("subscriber", method, "/videos", "If-None-Match", known)
					require.Equal(t, http.StatusForbidden, a.status, "%s: %s", tc.what, a.body)
					require.Equal(t, "no-store", a.header.Get("Cache-Control"))
					require.Empty(t, a.header.Get("ETag"))
				}
			}
			require.Equal(t, http.StatusNotModified, b.send("admin", http.MethodGet, "/videos", "If-None-Match", tag).status)
		}
		_, err = one.db.Exec(t.Context(), fmt.Sprintf(tc.table, tc.given), subscriber)
		require.NoError(t, err, tc.what)
		require.Equal(t, http.StatusNotModified,
			two.send("subscriber", http.MethodGet, "/videos", "If-None-Match", tag).status, tc.what)
	}
	for who, status := range map[string]int{"nonsense": http.StatusForbidden, "deleted": http.StatusForbidden} {
		require.Equal(t, status, one.send(who, http.MethodGet, "/videos", "If-None-Match", tag).status, who)
	}
}

// Each of many callers who are checked together gets what is true of them by then, while others go away.
func TestManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	one := setup(t)
	servers := []*bundle{one, one.second()}
	catalogtest.Video(t, one.db)
	const denied, unpaid = "Access Denied: Could not validate token.", "No active subscription."
	want := map[string]string{"admin": "", "subscriber": "", "stranger": unpaid, "deleted": denied}
	var paying, paused []objectid.ID
	for i := range 24 {
		id := objectid.New()
		_, err := one.db.Exec(t.Context(),
			`INSERT INTO accounts.users (id, user_type, username, email, created_at, updated_at, enable)
			VALUES ($1, 'customer', $2, $2 || '@example.com', now(), now(), $3)`, id, id.String(), i%4 != 0)
		require.NoError(t, err)
		switch want[id.String()] = unpaid; i % 4 {
		case 0:
			subscriptionstest.Active(t, one.db, id)
			want[id.String()] = denied
		case 1:
			subscriptionstest.Active(t, one.db, id)
			want[id.String()] = ""
			paying = append(paying, id)
		case 2:
			subscriptionstest.In(t, one.db, id, "suspended")
			paused = append(paused, id)
		}
	}
	one.must(http.MethodGet, "/videos", "")
	for range 4 {
		lock, err := one.db.Begin(t.Context())
		require.NoError(t, err)
		_, err = lock.Exec(t.Context(), "LOCK TABLE accounts.users IN ACCESS EXCLUSIVE MODE")
		require.NoError(t, err)
		var all sync.WaitGroup
		gone, goAway := context.WithCancel(t.Context())
		for who, message := range want {
			for _, b := range servers {
				all.Go(func() {
					a := b.call(who, http.MethodGet, "/videos", "")
					if text, _ := a.Detail.(string); a.status == http.StatusOK != (message == "") || text != message {
						t.Errorf("%s: %d %s, not %q", who, a.status, a.raw, message)
					}
				})
				all.Go(func() { b.leave(gone, who) })
			}
		}
		time.Sleep(50 * time.Millisecond) // they gather behind the lock
		goAway()
		require.NoError(t, lock.Rollback(t.Context()))
		all.Wait()
		for from, to := range map[string]string{"active": "suspended", "suspended": "active"} {
			ids := map[string][]objectid.ID{"active": paying, "suspended": paused}[from]
			_, err := one.db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET status = $2 WHERE customer_id = ANY ($1)",
				ids, to)
			require.NoError(t, err)
			for _, id := range ids {
				want[id.String()] = map[string]string{"active": "", "suspended": unpaid}[to]
			}
		}
		paying, paused = paused, paying
	}
}

// leave asks for the videos until ctx ends, whatever the answer.
func (b *bundle) leave(ctx context.Context, who string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.client.URL()+"/api/v1/videos", http.NoBody)
	if err != nil {
		b.t.Errorf("leave: %v", err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+who)
	if res, err := plainClient.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

// Where callers cannot be read nobody comes in, though the page is in memory and its entity tag is known.
func TestNobodyComesInWhereCallersCannotBeRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	catalogtest.Video(t, b.db)
	tag := b.send("subscriber", http.MethodGet, "/videos").header.Get("ETag")
	const hidden = "ALTER TABLE subscriptions.%s RENAME TO %s"
	_, err := b.db.Exec(t.Context(), fmt.Sprintf(hidden, "subscriptions", "hidden"))
	require.NoError(t, err)
	var all sync.WaitGroup
	for who := range tokens {
		for _, known := range []string{tag, "*", "", tag} {
			all.Go(func() {
				a := b.send(who, http.MethodGet, "/videos", "If-None-Match", known)
				if a.status != http.StatusInternalServerError || a.header.Get("ETag") != "" ||
					a.header.Get("Cache-Control") != "no-store" || bytes.Contains(a.body, []byte("docs")) {
					t.Errorf("%s: %d %v %s", who, a.status, a.header, a.body)
				}
			})
		}
	}
	all.Wait()
	_, err = b.db.Exec(t.Context(), fmt.Sprintf(hidden, "hidden", "subscriptions"))
	require.NoError(t, err)
	require.Equal(t, http.StatusNotModified,
		b.send("subscriber", http.MethodGet, "/videos", "If-None-Match", tag).status)
}
