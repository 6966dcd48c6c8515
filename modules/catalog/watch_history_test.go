package catalog_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
)

const history = "/me/watch-history"

type seen struct {
	VideoID   objectid.ID `json:"video_id"`
	Timeline  float64     `json:"timeline"`
	UpdatedAt time.Time   `json:"updated_at"`
}

func watch(c *apitest.Client, video objectid.ID, timeline float64) *apitest.Response {
	return c.Put(history, map[string]any{"video_id": video, "timeline": timeline})
}

func watchedBy(t *testing.T, c *apitest.Client, query string) []seen {
	t.Helper()
	var list struct {
		WatchHistory []seen `json:"watch_history"`
	}
	c.Get(history + query).Expect(http.StatusOK).JSON(&list)
	require.NotNil(t, list.WatchHistory)
	return list.WatchHistory
}

func TestWatchHistoryIsNewestFirstWithOneEntryAVideo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := apitest.New(t, b.api).As("stranger") // no subscription needed
	first, second := catalogtest.Video(t, b.db), catalogtest.Video(t, b.db)
	require.Empty(t, watchedBy(t, me, ""))
	got := watch(me, first, 12.5).Expect(http.StatusOK).Map()
	require.NotEmpty(t, got["message"])
	delete(got, "message")
	require.Equal(t, map[string]any{"video_id": first.String(), "timeline": 12.5, "upserted": true}, got)
	b.clock.Advance(time.Second)
	require.Equal(t, true, watch(me, second, 0).Expect(http.StatusOK).Map()["upserted"])
	b.clock.Advance(time.Second)
	require.Equal(t, false, watch(me, first, 3).Expect(http.StatusOK).Map()["upserted"])
	require.Equal(t, []seen{
		{VideoID: first, Timeline: 3, UpdatedAt: start.Add(2 * time.Second)},
		{VideoID: second, Timeline: 0, UpdatedAt: start.Add(time.Second)},
	}, watchedBy(t, me, ""))
	require.Equal(t, []seen{{second, 0, start.Add(time.Second)}}, watchedBy(t, me, "?video_id="+second.String()))
	require.Empty(t, watchedBy(t, me, "?video_id="+objectid.New().String()))
}

func TestWatchHistoryIsDeletedByVideoOrWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := apitest.New(t, b.api).As("subscriber")
	videos := []objectid.ID{catalogtest.Video(t, b.db), catalogtest.Video(t, b.db), catalogtest.Video(t, b.db)}
	for _, id := range videos {
		watch(me, id, 1).Expect(http.StatusOK)
	}
	count := func(query string) any {
		return me.Delete(history+query, nil).Expect(http.StatusOK).Map()["deleted_count"]
	}
	require.EqualValues(t, 1, count("?video_id="+videos[0].String()))
	require.EqualValues(t, 0, count("?video_id="+videos[0].String()))
	require.Len(t, watchedBy(t, me, ""), 2)
	require.EqualValues(t, 2, count(""))
	require.EqualValues(t, 0, count(""))
}

func TestWatchHistoryIsEachUsersOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	api := apitest.New(t, b.api)
	video := catalogtest.Video(t, b.db)
	for i, who := range []string{"admin", "subscriber", "stranger"} {
		require.Equal(t, true, watch(api.As(who), video, float64(i)).Expect(http.StatusOK).Map()["upserted"])
	}
	last := api.As("stranger").Delete(history, nil).Expect(http.StatusOK).Map()
	require.Equal(t, []any{1.0, "1 entry deleted."}, []any{last["deleted_count"], last["message"]})
	require.Equal(t, []seen{{video, 0, start}}, watchedBy(t, api.As("admin"), ""))
	require.Equal(t, []seen{{video, 1, start}}, watchedBy(t, api.As("subscriber"), ""))
	require.Empty(t, watchedBy(t, api.As("stranger"), ""))
}

func TestWatchHistoryRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	api := apitest.New(t, b.api)
	me, video := api.As("subscriber"), catalogtest.Video(t, b.db).String()
	for _, method := range []string{http.MethodPut, http.MethodGet, http.MethodDelete} {
		api.Do(method, history, nil).Expect(http.StatusUnauthorized)
		require.Equal(t, "Access Denied: Could not validate token.",
			api.As("deleted").Do(method, history, nil).Expect(http.StatusForbidden).Detail())
	}
	require.Equal(t, "NOT_FOUND", watch(me, objectid.New(), 1).Expect(http.StatusNotFound).Code())
	for body, field := range map[string]string{
		`{"timeline":1}`: "video_id", `{"video_id":"` + video + `"}`: "timeline",
		`{"video_id":"short","timeline":1}`:                                            "video_id",
		`{"video_id":"` + video + `","timeline":-0.001}`:                               "timeline",
		`{"video_id":"` + video + `","timeline":null}`:                                 "timeline",
		`{"video_id":"` + video + `","timeline":"1"}`:                                  "timeline",
		`{"video_id":"` + video + `","timeline":1,"user_id":"` + admin.String() + `"}`: "user_id",
	} {
		a := me.Put(history, body).Expect(http.StatusUnprocessableEntity)
		require.Equal(t, "VALIDATION_ERROR", a.Code(), body)
		require.Equal(t, field, a.Field(), body)
	}
	for _, number := range []string{"NaN", "Infinity", "1e999"} {
		status := me.Put(history, `{"video_id":"`+video+`","timeline":`+number+`}`).Status
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, status, number)
	}
	for _, query := range []string{"?video_id=short", "?video_id="} {
		require.Equal(t, "video_id", me.Get(history+query).Expect(http.StatusUnprocessableEntity).Field())
		require.Equal(t, "video_id", me.Delete(history+query, nil).Expect(http.StatusUnprocessableEntity).Field())
	}
	require.Empty(t, watchedBy(t, me, ""))
}

func TestWatchHistoryGoesWithItsVideo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := apitest.New(t, b.api).As("subscriber")
	gone, remaining := catalogtest.Video(t, b.db), catalogtest.Video(t, b.db)
	watch(me, gone, 1).Expect(http.StatusOK)
	watch(me, remaining, 1).Expect(http.StatusOK)
	b.must(http.MethodDelete, "/videos", `[{"_id":"`+gone.String()+`"}]`)
	require.Equal(t, []seen{{remaining, 1, start}}, watchedBy(t, me, ""))
}

func TestWatchHistoryIsToldAndErasedWithTheCustomer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	api := apitest.New(t, b.api)
	video := catalogtest.Video(t, b.db)
	watch(api.As("subscriber"), video, 7).Expect(http.StatusOK)
	watch(api.As("stranger"), video, 8).Expect(http.StatusOK)
	require.Equal(t, "watch_history", b.service.PersonalDataName())
	data, err := b.service.PersonalData(t.Context(), b.db, subscriber, true)
	require.NoError(t, err)
	require.Len(t, data, 1)
	require.NoError(t, postgres.InTx(t.Context(), b.db,
		func(tx pgx.Tx) error { return b.service.ErasePersonalDataTx(t.Context(), tx, subscriber) }))
	require.Empty(t, watchedBy(t, api.As("subscriber"), ""))
	require.Len(t, watchedBy(t, api.As("stranger"), ""), 1)
}

func TestParallelFirstNotesMakeOneEntry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me, video := apitest.New(t, b.api).As("subscriber"), catalogtest.Video(t, b.db)
	var fresh atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			a := watch(me, video, float64(i))
			if a.Status == http.StatusOK && a.Map()["upserted"] == true {
				fresh.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, fresh.Load())
	require.Len(t, watchedBy(t, me, ""), 1)
}

// TestStaffSeeWhatACustomerHasWatched: with titles, a page at a time, and nothing of anybody else.
func TestStaffSeeWhatACustomerHasWatched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me, other := apitest.New(t, b.api).As("stranger"), apitest.New(t, b.api).As("subscriber")
	staff := apitest.New(t, b.api).As("admin")
	films := []objectid.ID{catalogtest.Video(t, b.db), catalogtest.Video(t, b.db), catalogtest.Video(t, b.db)}
	for i, film := range films {
		b.clock.Advance(time.Second)
		watch(me, film, float64(i)+0.5).Expect(http.StatusOK)
	}
	watch(other, films[0], 60).Expect(http.StatusOK)

	type page struct {
		WatchHistory []struct {
			seen
			Title    string
			Duration int
		} `json:"watch_history"`
		More bool
	}
	of := "/admin/customers/" + stranger.String() + "/watch-history"
	var first, rest, none page
	staff.Get(of + "?qty=2").Expect(http.StatusOK).JSON(&first)
	require.True(t, first.More)
	require.Len(t, first.WatchHistory, 2)
	require.Equal(t, films[2], first.WatchHistory[0].VideoID)
	require.InDelta(t, 2.5, first.WatchHistory[0].Timeline, 0)
	require.NotEmpty(t, first.WatchHistory[0].Title)
	require.Positive(t, first.WatchHistory[0].Duration)
	staff.Get(of + "?qty=2&skip=2").Expect(http.StatusOK).JSON(&rest)
	require.False(t, rest.More)
	require.Len(t, rest.WatchHistory, 1)
	require.Equal(t, films[0], rest.WatchHistory[0].VideoID)
	require.InDelta(t, 0.5, rest.WatchHistory[0].Timeline, 0)
	staff.Get(of + "?skip=3").Expect(http.StatusOK).JSON(&none)
	require.Equal(t, page{WatchHistory: none.WatchHistory[:0:0]}, none)
	staff.Get("/admin/customers/" + objectid.New().String() + "/watch-history").Expect(http.StatusNotFound)
	me.Get(of).Expect(http.StatusForbidden)
}
