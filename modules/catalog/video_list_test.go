package catalog_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/modules/catalog"
	"marquee/modules/catalog/catalogtest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

// second is another process on the same database.
func (b *bundle) second() *bundle {
	log, who := secrettest.Logger(b.t), people{}
	api := httpapi.New(httpapi.Config{Version: "test", PublicURL: "http://api.test", Auth: who, Log: log})
	catalog.New(catalog.Deps{Pool: b.db, Clock: clock.System{}, Log: log}).Routes(api)
	return &bundle{t: b.t, db: b.db, client: apitest.New(b.t, api)}
}

func TestShownPagesAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	catalogtest.Video(t, b.db)
	for range 3 {
		b.must(http.MethodGet, "/videos", "")
	}
	catalogtest.Video(t, b.db)
	b.must(http.MethodGet, "/videos", "")
	registry := prometheus.NewRegistry()
	registry.MustRegister(b.service.Metrics()...)
	families, err := registry.Gather()
	require.NoError(t, err)
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() == "marquee_video_pages_total" {
			for _, m := range family.GetMetric() {
				counts[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	require.Equal(t, map[string]float64{"database": 2, "memory": 2}, counts)
}

func TestPagesInMemoryAreNeverStale(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := one.second()
	category := catalogtest.Category(t, one.db, "Drama")
	video := catalogtest.Video(t, one.db, catalogtest.Fields{"title": "0", "category_id": []any{category}})
	lists := []string{
		"/videos", "/videos?query=" + url.QueryEscape(`{"enable":true}`),
		"/videos?sort=" + url.QueryEscape(`{"title":1}`),
	}
	warm := func() {
		for _, b := range []*bundle{one, two} {
			for _, path := range lists {
				require.NotZero(t, b.must(http.MethodGet, path, "").Page.Total)
			}
		}
	}
	for i, write := range []func(){
		func() { one.must(http.MethodPut, "/videos", `[{"_id":"`+string(video)+`","title":"edited"}]`) },
		func() { two.must(http.MethodPut, "/categories", `[{"_id":"`+string(category)+`","name":"Tragedy"}]`) },
		func() { catalogtest.Video(t, one.db) },
		func() {
			_, err := one.db.Exec(t.Context(), "UPDATE catalog.videos SET author = 'by hand' WHERE id = $1", video)
			require.NoError(t, err)
		},
	} {
		warm()
		write()
		var want response
		for _, b := range []*bundle{one, two} {
			for _, path := range lists {
				a := b.must(http.MethodGet, path, "")
				fresh := b.must(http.MethodGet, "/videos?asked="+string(objectid.New())+"&_id="+string(video), "") // not in memory
				require.Contains(t, a.Docs, fresh.Docs[0], "write %d, %s", i, path)
				want = a
			}
		}
		require.Equal(t, min(i/2+1, 2), want.Page.Total)
	}
	one.must(http.MethodDelete, "/videos", `[{"_id":"`+string(video)+`"}]`)
	require.Equal(t, 1, two.must(http.MethodGet, "/videos", "").Page.Total)
}

// Without the trigger that counts versions, memory shows what is gone.
func TestPagesInMemoryWithoutTheVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	video := catalogtest.Video(t, b.db)
	_, err := b.db.Exec(t.Context(), "ALTER TABLE catalog.videos DISABLE TRIGGER videos_version")
	require.NoError(t, err)
	b.must(http.MethodGet, "/videos", "")
	b.must(http.MethodDelete, "/videos?_id="+string(video), "")
	require.Equal(t, 1, b.must(http.MethodGet, "/videos", "").Page.Total)
}

// A reader that starts after a write was answered sees that write or a later
// one, while writers and readers of two processes run at once.
func TestReadersKeepUpWithAWriter(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := one.second()
	video := catalogtest.Video(t, one.db, catalogtest.Fields{"title": "0"})
	var written atomic.Int64
	done := make(chan error, 5)
	go func() {
		defer written.Store(40) // ends the readers in any case
		for i := 1; i <= 40; i++ {
			a := one.call("admin", http.MethodPut, "/videos", fmt.Sprintf(`[{"_id":%q,"title":"%d"}]`, video, i))
			if a.status != http.StatusOK {
				done <- fmt.Errorf("write: %s", a.raw)
				return
			}
			written.Store(int64(i))
		}
		done <- nil
	}()
	for i := range 4 {
		b := []*bundle{one, two}[i%2]
		path := []string{"/videos", "/videos?query=" + url.QueryEscape(`{"duration":90}`)}[i/2]
		go func() {
			for written.Load() < 40 {
				before := written.Load()
				a := b.call("subscriber", http.MethodGet, path, "")
				if a.status != http.StatusOK {
					done <- fmt.Errorf("read: %s", a.raw)
					return
				}
				title, _ := a.Docs[0]["title"].(string)
				if seen, err := strconv.ParseInt(title, 10, 64); err != nil || seen < before {
					done <- fmt.Errorf("saw %s after %d was written", title, before)
					return
				}
			}
			done <- nil
		}()
	}
	for range 5 {
		require.NoError(t, <-done)
	}
}
