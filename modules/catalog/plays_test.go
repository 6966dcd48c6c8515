package catalog_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
	"marquee/modules/catalog/plays"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

const allPlays = "/me/plays"

// allow sets on how many devices at once the plan of these tests plays; 0 is no limit.
func (b *bundle) allow(t *testing.T, most int) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), `UPDATE subscriptions.plans SET max_streams = nullif($2, 0) WHERE plan_id = $1`,
		subscriptionstest.PlanID, most)
	require.NoError(t, err)
}

// opened asks for the stream of a video as the player of a play, "" for one that begins, and returns the play.
func opened(t *testing.T, c *apitest.Client, video objectid.ID, play string) string {
	t.Helper()
	return c.Get(streamPath(video) + ifAny("?play_id=", play)).Expect(http.StatusOK).Map()["play_id"].(string)
}

func ifAny(prefix, value string) string {
	if value == "" {
		return ""
	}
	return prefix + value
}

// heard is what a player hears of its play when it tells how far it is.
func heard(c *apitest.Client, video objectid.ID, play string) *apitest.Response {
	return c.Put(history, map[string]any{"video_id": video, "timeline": 1, "play_id": play})
}

func (b *bundle) playing(t *testing.T, c *apitest.Client) (ids []string) {
	t.Helper()
	for _, one := range c.Get(allPlays).Expect(http.StatusOK).Map()["plays"].([]any) {
		ids = append(ids, one.(map[string]any)["play_id"].(string))
	}
	return ids
}

func TestPlaysAtOnceAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.allow(t, 2)
	video := catalogtest.Video(t, b.db, catalogtest.Fields{"title": "The film"})
	me := apitest.New(t, b.api).As("subscriber").With("User-Agent", "The living room")
	first := opened(t, me, video, "")
	b.clock.Advance(time.Second)
	second := opened(t, me, video, "")
	refused := me.Get(streamPath(video)).Expect(http.StatusConflict)
	require.Equal(t, "TOO_MANY_STREAMS", refused.Code())
	require.Equal(t, "Your plan plays on 2 devices at once. Playing now: The living room, The living room. "+
		"End one with DELETE /me/plays/{play_id}; GET /me/plays lists them.", refused.Detail())
	require.Equal(t, []string{first, second}, b.playing(t, me))
	list := me.Get(allPlays).Expect(http.StatusOK).Map()["plays"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{
		"play_id": first, "video_id": video.String(), "title": "The film", "device": "The living room", "is_current": false,
		"started_at": "2026-11-20T12:00:00.000Z", "seen_at": "2026-11-20T12:00:00.000Z",
	}, list)

	// Who renews an address goes on; the place of an ended play is free at once.
	require.Equal(t, first, opened(t, me, video, first))
	me.Delete(allPlays+"/"+first, nil).Expect(http.StatusOK)
	third := opened(t, me, video, "")
	require.Equal(t, "ended", heard(me, video, first).Expect(http.StatusOK).Map()["play"], "though its place is taken")
	require.Equal(t, "live", heard(me, video, third).Expect(http.StatusOK).Map()["play"])
	require.Equal(t, "NOT_FOUND", me.Delete(allPlays+"/"+first, nil).Expect(http.StatusNotFound).Code())
	require.Equal(t, "TOO_MANY_STREAMS", me.Get(streamPath(video)+"?play_id="+first).Expect(http.StatusConflict).Code())
}

func TestAPlayIsOverAfterSilence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.allow(t, 1)
	video, next := catalogtest.Video(t, b.db), catalogtest.Video(t, b.db)
	me := apitest.New(t, b.api).As("subscriber")
	play := opened(t, me, video, "")
	for range 4 {
		b.clock.Advance(plays.Silence - time.Second)
		require.Equal(t, "live", heard(me, next, play).Expect(http.StatusOK).Map()["play"])
	}
	require.Equal(t, next.String(), me.Get(allPlays).Map()["plays"].([]any)[0].(map[string]any)["video_id"])
	me.Get(streamPath(video)).Expect(http.StatusConflict)
	b.clock.Advance(plays.Silence)
	require.Empty(t, b.playing(t, me))
	require.Equal(t, "timed_out", heard(me, next, play).Expect(http.StatusOK).Map()["play"])
	other := opened(t, me, video, "")
	require.NotEqual(t, play, other)
	require.Equal(t, "TOO_MANY_STREAMS", me.Get(streamPath(video)+"?play_id="+play).Expect(http.StatusConflict).Code())
	require.Equal(t, "timed_out", heard(me, next, objectid.New().String()).Expect(http.StatusOK).Map()["play"])
	require.NotContains(t, watch(me, next, 2).Expect(http.StatusOK).Map(), "play")
	var rows int
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT count(*) FROM catalog.plays`).Scan(&rows))
	require.Equal(t, 1, rows, "what is over leaves its place to the next")
}

func TestPlaysWithoutALimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	video := catalogtest.Video(t, b.db)
	me, admin := apitest.New(t, b.api).As("subscriber"), apitest.New(t, b.api).As("admin")
	for range 5 {
		opened(t, me, video, "")
		opened(t, admin, video, "")
	}
	require.Len(t, b.playing(t, me), 5)
	b.allow(t, 2) // while more play than may
	me.Get(streamPath(video)).Expect(http.StatusConflict)
	for _, id := range b.playing(t, me)[:4] {
		me.Delete(allPlays+"/"+id, nil).Expect(http.StatusOK)
	}
	opened(t, me, video, "")
	me.Get(streamPath(video)).Expect(http.StatusConflict)
}

func TestPlaysAreTheirUsersAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.allow(t, 1)
	video := catalogtest.Video(t, b.db)
	me, other := apitest.New(t, b.api).As("subscriber"), apitest.New(t, b.api).As("stranger")
	play := opened(t, me, video, "")
	b.clock.Advance(time.Minute)
	require.Empty(t, b.playing(t, other))
	other.Delete(allPlays+"/"+play, nil).Expect(http.StatusNotFound)
	require.Equal(t, "timed_out", heard(other, video, play).Expect(http.StatusOK).Map()["play"])
	require.Equal(t, []string{play}, b.playing(t, me))
	b.clock.Advance(plays.Silence - time.Minute) // which nobody else's word has put off
	require.Empty(t, b.playing(t, me))
	for _, path := range []string{streamPath(video) + "?play_id=1", allPlays + "/1"} {
		method := http.MethodGet
		if path == allPlays+"/1" {
			method = http.MethodDelete
		}
		require.Equal(t, "VALIDATION_ERROR", me.Send(method, path, "", nil).Expect(http.StatusUnprocessableEntity).Code())
	}
	api := apitest.New(t, b.api)
	api.Get(allPlays).Expect(http.StatusUnauthorized)
	api.Delete(allPlays+"/"+play, nil).Expect(http.StatusUnauthorized)
}

// TestFiftyStartsAtOnceAreExact is red where PlayOpen lets a start take a place that goes on: then all of them get one.
func TestFiftyStartsAtOnceAreExact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	video := catalogtest.Video(t, b.db)
	for _, most := range []int{1, 4} {
		b.allow(t, most)
		b.clock.Advance(plays.Silence) // those of before are over, and their places are taken anew
		var wait sync.WaitGroup
		var lock sync.Mutex
		answers := map[int]int{}
		for range 50 {
			wait.Go(func() {
				status := b.client.As("subscriber").Get(streamPath(video)).Status
				lock.Lock()
				defer lock.Unlock()
				answers[status]++
			})
		}
		wait.Wait()
		require.Equal(t, map[int]int{http.StatusOK: most, http.StatusConflict: 50 - most}, answers)
		require.Len(t, b.playing(t, b.client.As("subscriber")), most)
	}
}
