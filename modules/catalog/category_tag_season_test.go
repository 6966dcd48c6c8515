package catalog_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
	"marquee/platform/postgres"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/categories", "/tags", "/seasons"} {
		made := b.must(http.MethodPost, path, `[{"name":"Drama","slug":"drama"},{"name":"Ação","slug":"acao"}]`)
		id := made.Docs[0]["_id"].(string)
		require.Equal(t, []any{"Ação"}, b.must(http.MethodGet, path+`?query={"slug":"acao"}`, "").values("name"))
		require.Equal(t, http.StatusOK, b.call("stranger", http.MethodGet, path, "").status,
			"any signed-in user reads them")
		require.Equal(t, http.StatusUnauthorized, b.call("", http.MethodGet, path, "").status)
		require.Equal(t, http.StatusForbidden,
			b.call("subscriber", http.MethodPost, path, `[{"name":"x","slug":"x"}]`).status)
		taken := b.call("admin", http.MethodPost, path, `[{"name":"x","slug":"drama"}]`)
		require.Equal(t, http.StatusConflict, taken.status)
		require.Equal(t, "slug", taken.Error.Field)
		long := b.call("admin", http.MethodPost, path, `[{"name":"","slug":"x"}]`)
		require.Equal(t, http.StatusUnprocessableEntity, long.status)
		require.Equal(t, "name", long.Error.Field)
		require.Equal(t, []any{"Drame"},
			b.must(http.MethodPut, path, `[{"_id":"`+id+`","name":"Drame"}]`).values("name"))
		require.Equal(t, "1 document was deleted.", b.must(http.MethodDelete, path+"?_id="+id, "").Msg)
		require.Equal(t, http.StatusNotFound, b.call("admin", http.MethodDelete, path+"?_id="+id, "").status)
	}
	require.Equal(t, []any{3.0},
		b.must(http.MethodPost, "/seasons", `[{"name":"Third","slug":"third","number":3}]`).values("number"))
}

func TestComputedNamesFollow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	drama, live := catalogtest.Category(t, b.db, "Drama"), catalogtest.Category(t, b.db, "Live")
	tag, season := catalogtest.Tag(t, b.db, "New"), catalogtest.Season(t, b.db, "First")
	video := catalogtest.Video(t, b.db, catalogtest.Fields{
		"category_id": []any{live, drama, live},
		"tags_id":     []any{tag},
		"season_id":   season,
	})
	other := catalogtest.Video(t, b.db)

	get := func() map[string]any { return b.must(http.MethodGet, "/videos?_id="+string(video), "").Docs[0] }
	require.Equal(t, []any{"Live", "Drama", "Live"}, get()["category_name"], "in the order of the ids")
	require.Equal(t, []any{"New"}, get()["tags_name"])
	require.Equal(t, "First", get()["season_name"])

	edited := get()["register_update_date"]
	b.must(http.MethodPut, "/categories", `[{"_id":"`+string(drama)+`","name":"Tragedy"}]`)
	b.must(http.MethodPut, "/tags", `[{"_id":"`+string(tag)+`","name":"Old"}]`)
	b.must(http.MethodPut, "/seasons", `[{"_id":"`+string(season)+`","name":"Last"}]`)
	require.Equal(t, []any{"Live", "Tragedy", "Live"}, get()["category_name"])
	require.Equal(t, []any{"Old"}, get()["tags_name"])
	require.Equal(t, "Last", get()["season_name"])
	require.Equal(t, edited, get()["register_update_date"], "nobody edited the video")
	require.Equal(t, []any{string(video)},
		b.find(`{"category_name":"Tragedy","tags_name":{"$in":["Old"]},"season_name":"Last"}`, "").values("_id"))
	require.Equal(t, []any{string(other)},
		b.find(`{"season_name":null,"category_name":{"$ne":"Live"}}`, "").values("_id"))

	b.must(http.MethodPut, "/videos", `[{"_id":"`+string(video)+`","category_id":["`+string(drama)+
		`"],"tags_id":[],"season_id":null}]`)
	require.Equal(t, []any{"Tragedy"}, get()["category_name"])
	require.Equal(t, []any{}, get()["tags_name"])
	require.Nil(t, get()["season_name"])
}

func TestGroupsInUseStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	category, tag, season := catalogtest.Category(t, b.db, "Drama"), catalogtest.Tag(t, b.db, "New"),
		catalogtest.Season(t, b.db, "First")
	video := catalogtest.Video(t, b.db, catalogtest.Fields{
		"category_id": []any{category},
		"tags_id":     []any{tag},
		"season_id":   season,
	})
	paths := map[string]string{"/categories": string(category), "/tags": string(tag), "/seasons": string(season)}
	for path, id := range paths {
		a := b.call("admin", http.MethodDelete, path+"?_id="+id, "")
		require.Equal(t, http.StatusConflict, a.status, a.raw)
		require.Equal(t, "CONFLICT", a.Error.Code)
		require.Contains(t, a.Detail, "is still in use by a video.")
	}
	b.must(http.MethodDelete, "/videos?_id="+string(video), "")
	for path, id := range paths {
		b.must(http.MethodDelete, path+"?_id="+id, "")
	}
}

// A category is deleted while a transaction that names it has not committed.
func TestDeletingACategoryWaitsForItsVideos(t *testing.T) {
	t.Parallel()
	b := setup(t)
	category := catalogtest.Category(t, b.db, "Drama")
	deleted, commit := raceForCategory(t, b, string(category))
	require.NoError(t, commit())
	require.Equal(t, "categories_in_use", postgres.Constraint(<-deleted))
}

// Without the trigger that lets one writer at a time into the catalogue, the
// video ends up with a category that is gone.
func TestDeletingACategoryWithoutTheLock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	category := catalogtest.Category(t, b.db, "Drama")
	_, err := b.db.Exec(t.Context(), "ALTER TABLE catalog.categories DISABLE TRIGGER categories_version")
	require.NoError(t, err)
	deleted, commit := raceForCategory(t, b, string(category))
	require.NoError(t, <-deleted)
	require.NoError(t, commit())
}

// raceForCategory inserts a video without committing, and starts to delete its
// category. With the lock in place it returns once the deletion waits.
func raceForCategory(t *testing.T, b *bundle, category string) (deleted <-chan error, commit func() error) {
	t.Helper()
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	catalogtest.Video(t, tx, catalogtest.Fields{"category_id": []string{category}})
	done := make(chan error, 1)
	go func() {
		_, err := b.db.Exec(t.Context(), "DELETE FROM catalog.categories WHERE id = $1", category)
		done <- err
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := b.db.QueryRow(t.Context(),
			"SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waiting)
		return err == nil && (waiting || len(done) > 0)
	}, time.Minute, 5*time.Millisecond)
	return done, func() error { return tx.Commit(t.Context()) }
}

func TestVersionCountsTransactions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	version := func() (n int) {
		require.NoError(t, b.db.QueryRow(t.Context(), "SELECT number FROM catalog.version").Scan(&n))
		return n
	}
	before := version()
	category := catalogtest.Category(t, b.db, "Drama")
	require.Equal(t, before+1, version())
	video := catalogtest.Video(t, b.db, catalogtest.Fields{"category_id": []any{category}})
	require.Equal(t, before+2, version())
	b.must(http.MethodPut, "/categories", `[{"_id":"`+string(category)+`","name":"Tragedy"}]`)
	require.Equal(t, before+3, version(), "a rename reaches the videos in the same transaction")
	b.must(http.MethodDelete, "/videos?_id="+string(video), "")
	require.Equal(t, before+4, version())
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		catalogtest.Tag(t, tx, "a")
		catalogtest.Tag(t, tx, "b")
		return nil
	}))
	require.Equal(t, before+5, version(), "one transaction counts once")
	require.Equal(t, http.StatusConflict,
		b.call("admin", http.MethodPost, "/tags", `[{"name":"a","slug":"a"},{"name":"b","slug":"a"}]`).status)
	require.Equal(t, before+5, version(), "what is taken back does not count")
}
