package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
)

// TestWhatIsReadMayBeSentBack: a client changes a field of a record that a list answered,
// and sends the whole record. What it may not change, and has not, is ignored (docs/contract/collections.md, Fields
// that clients do not write); where the record was changed since, it is told by whom.
func TestWhatIsReadMayBeSentBack(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	root := a.Root()
	b := newVictim(t, a)
	callers := map[httpapi.Auth]*apitest.Client{
		httpapi.Customer: b.client, httpapi.SignedIn: b.client, httpapi.Admin: root, httpapi.Root: root,
	}
	lists := map[string]bool{}
	for _, r := range a.Routes() {
		lists[r.Path] = lists[r.Path] || r.Method == http.MethodGet
	}
	played := 0
	for _, r := range a.Routes() {
		schema := jsonBody(a, r)
		if r.Method != http.MethodPut || schema == nil || schema.Items == nil || !lists[r.Path] {
			continue
		}
		if r.Name == "customer_me_put" {
			continue // one person's profile, and no collection: it takes its own fields alone
		}
		caller := callers[r.Auth]
		if caller == nil {
			caller = b.client
		}
		listed := caller.Get(r.Path + "?size=5")
		if listed.Status != http.StatusOK {
			continue
		}
		docs, _ := listed.Map()["docs"].([]any)
		for _, doc := range docs {
			played++
			res := caller.Do(http.MethodPut, r.Path, []any{doc})
			if res.Status != http.StatusOK {
				t.Errorf("%s: %d %s", r.Name, res.Status, res.Body)
				continue
			}
			record, _ := doc.(map[string]any)
			record["register_update_date"] = "2001-01-01T00:00:00.000Z"
			res = caller.Do(http.MethodPut, r.Path, []any{record})
			if res.Status != http.StatusConflict || !refusedByName(res, "register_update_date") ||
				!strings.Contains(string(res.Body), "was changed by root at ") {
				t.Errorf("%s, stale: %d %s", r.Name, res.Status, res.Body)
			}
		}
	}
	require.Greater(t, played, 10)
}
