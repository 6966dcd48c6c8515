package resource_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAStaleChangeIsRefusedWithWhoAndWhen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.must(http.MethodPost, "/books", `[{"isbn":"111","title":"a"},{"isbn":"222","title":"b"}]`)
	first, second := made.Docs[0]["_id"].(string), made.Docs[1]["_id"].(string)
	change := func(id, date, title string) string {
		return `{"_id":"` + id + `","register_update_date":"` + date + `","title":"` + title + `"}`
	}
	const (
		read    = "2026-11-20T12:00:00.123Z"
		changed = "2026-11-20T12:01:00.123Z"
	)
	b.clock.Advance(time.Minute)
	a := b.must(http.MethodPut, "/books", "["+change(first, read, "A")+"]")
	require.Equal(t, changed, a.Docs[0]["register_update_date"])

	a = b.call(http.MethodPut, "/books", "["+change(first, read, "mine")+"]")
	require.Equal(t, http.StatusConflict, a.status, a.raw)
	require.Equal(t, "CONFLICT", a.Error.Code)
	require.Equal(t, "register_update_date", a.Error.Field)
	require.Equal(t, "The record was changed at "+changed+", after it was read.", a.Error.Message)

	b.trail.name = "ana"
	a = b.call(http.MethodPut, "/books", "["+change(second, read, "B")+","+change(first, read, "mine")+"]")
	require.Equal(t, "The record was changed by ana at "+changed+", after it was read (index 1 of the body).",
		a.Error.Message)
	require.Equal(t, []any{"A", "b"}, b.get("/books").values("title"), "all or nothing")

	for _, same := range []string{changed, "2026-11-20T09:01:00.1234567-03:00"} {
		a = b.must(http.MethodPut, "/books", "["+change(first, same, "again")+"]")
		require.Equal(t, []any{"again"}, a.values("title"), same)
	}
	b.must(http.MethodPut, "/books", `[{"_id":"`+first+`","title":"undated"}]`)
	for _, bad := range []string{`null`, `"yesterday"`, `7`} {
		a = b.call(http.MethodPut, "/books", `[{"_id":"`+first+`","register_update_date":`+bad+`}]`)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, a.raw)
		require.Equal(t, "register_update_date", a.Error.Field)
	}
	b.must(http.MethodPost, "/books", `[{"isbn":"333","title":"c","register_update_date":"not of a new record"}]`)
}

// The date is compared as it is shown, also where the row has more of it.
func TestADateIsComparedAsItIsShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(1)
	_, err := b.db.Exec(t.Context(), "UPDATE shelf.books SET register_update_date = '2026-11-20 12:00:00.123999+00'")
	require.NoError(t, err)
	shown := b.get("/books").Docs[0]["register_update_date"].(string)
	require.Equal(t, "2026-11-20T12:00:00.123Z", shown)
	b.must(http.MethodPut, "/books",
		`[{"_id":"b00000000000000000000000","register_update_date":"`+shown+`","title":"x"}]`)
}
