package catalog_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/catalog"
	"marquee/modules/catalog/catalogtest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

func TestWhoListsVideos(t *testing.T) {
	t.Parallel()
	b := setup(t)
	catalogtest.Video(t, b.db)
	filter := "?query=" + url.QueryEscape(`{"duration":90}`)
	for _, tc := range []struct {
		who, params string
		status      int
		detail      any
		code        string
	}{
		{"", "", 401, "Not authenticated", ""},
		{"nonsense", "", 403, "Access Denied: Could not validate token.", ""},
		{"deleted", "", 403, "Access Denied: Could not validate token.", ""},
		{"deleted", filter, 403, "Access Denied: Could not validate token.", ""},
		{"deleted", "?query=x", 403, "Access Denied: Could not validate token.", ""},
		{"stranger", "", 403, "No active subscription.", "FORBIDDEN"},
		{"stranger", filter, 403, "No active subscription.", "FORBIDDEN"},
		{"stranger", "?query=x", 403, "No active subscription.", "FORBIDDEN"},
		{"stranger", "?_id=xyz", 403, "No active subscription.", "FORBIDDEN"},
		{"subscriber", "", 200, nil, ""},
		{"subscriber", filter, 200, nil, ""},
		{"admin", "", 200, nil, ""},
		{"admin", filter, 200, nil, ""},
	} {
		a := b.call(tc.who, http.MethodGet, "/videos"+tc.params, "")
		require.Equal(t, tc.status, a.status, "%s %s: %s", tc.who, tc.params, a.raw)
		if tc.status == http.StatusOK {
			require.Len(t, a.Docs, 1)
			continue
		}
		require.Equal(t, tc.detail, a.Detail)
		if tc.code == "" {
			require.Nil(t, a.Error)
		} else {
			require.Equal(t, tc.code, a.Error.Code)
		}
	}
	a := b.call("subscriber", http.MethodGet, "/videos?query=x", "")
	require.Equal(t, http.StatusUnprocessableEntity, a.status)
	a = b.call("subscriber", http.MethodGet, "/videos?_id=aaaaaaaaaaaaaaaaaaaaaaaa", "")
	require.Equal(t, http.StatusNotFound, a.status)
	require.Equal(t, "Video not found.", a.Detail)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		a = b.call("subscriber", method, "/videos", "[]")
		require.Equal(t, http.StatusForbidden, a.status)
		require.Equal(t, "FORBIDDEN", a.Error.Code)
	}
}

func TestVideoGolden(t *testing.T) {
	t.Parallel()
	b := setup(t)
	category, tag, season := catalogtest.Category(t, b.db, "Drama"), catalogtest.Tag(t, b.db, "New"),
		catalogtest.Season(t, b.db, "First")
	file := `"0123456789abcdef01234567"`
	a := b.must(http.MethodPost, "/videos", `[
		{"title":"Least","slug":"least","video_id":"https://video.example/1","duration":0,"release_date":"2024-02-29"},
		{"title":"Ação \"no\" Rio","slug":"acao-no-rio","video_id":"https://video.example/2?x=1&y=2","duration":90,"release_date":"2024-01-10T12:30:00Z",
		 "description":"O mar\ne o sol","category_id":["`+string(category)+`"],"tags_id":["`+string(tag)+
		`"],"tags":["live","drama"],"author":"Ana Souza",
		 "thumbnail_horizontal":`+file+`,"thumbnail_horizontal_name_less":`+file+`,"thumbnail_vertical":`+file+
		`,"thumbnail_vertical_name_less":`+file+`,
		 "expiration_date":"2030-01-01T00:00:00-03:00","enable":false,"main_highlight":true,"section_highlight":true,"is_show_in_slide_carousel":true,
		 "season_id":"`+string(season)+`","season_number":2,"episode_number":1,"video_gridfs_id":`+file+
		`,"legacy_id":"A-7","age_rating":"16","rating_reasons":["violence","drugs"],
		 "category_name":["not mine to set"],"season_name":"nor this"}]`)
	body := regexp.MustCompile(`"_id":"[0-9a-f]{24}"`).ReplaceAllString(a.raw, `"_id":"‹id›"`)
	for id, name := range map[string]string{
		string(category): "‹category›", string(tag): "‹tag›", string(season): "‹season›",
	} {
		body = strings.ReplaceAll(body, id, name)
	}
	const golden = "testdata/videos.json"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(body), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), body)
}

func TestRefusedVideos(t *testing.T) {
	t.Parallel()
	b := setup(t)
	catalogtest.Video(t, b.db, catalogtest.Fields{"slug": "taken"})
	const good = `{"title":"a","slug":"free","video_id":"https://v.example/1","duration":1,"release_date":"2024-01-10"`
	with := func(member string) string {
		second := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal([]byte(good+`}`), &second))
		require.NoError(t, json.Unmarshal([]byte(`{"slug":"also-free"}`), &second))
		require.NoError(t, json.Unmarshal([]byte(`{`+member+`}`), &second))
		raw, err := json.Marshal(second)
		require.NoError(t, err)
		return `[` + good + `},` + string(raw) + `]`
	}
	for body, field := range map[string]string{
		with(`"title":""`): "title",
		with(`"title":"` + strings.Repeat("é", 201) + `"`):               "title",
		with(`"slug":"Upper"`):                                           "slug",
		with(`"slug":"a--b"`):                                            "slug",
		with(`"slug":"-a"`):                                              "slug",
		with(`"slug":"a_b"`):                                             "slug",
		with(`"video_id":"ftp://v.example/1"`):                           "video_id",
		with(`"video_id":"javascript:alert(1)"`):                         "video_id",
		with(`"video_id":"somewhere"`):                                   "video_id",
		with(`"duration":-1`):                                            "duration",
		with(`"duration":2147483648`):                                    "duration",
		with(`"duration":null`):                                          "duration",
		with(`"release_date":"soon"`):                                    "release_date",
		with(`"release_date":"0000-01-01"`):                              "release_date",
		with(`"episode_number":0`):                                       "episode_number",
		with(`"age_rating":"13"`):                                        "age_rating",
		with(`"age_rating":"l"`):                                         "age_rating",
		with(`"age_rating":18`):                                          "age_rating",
		with(`"age_rating":""`):                                          "age_rating",
		with(`"rating_reasons":null`):                                    "rating_reasons",
		with(`"rating_reasons":[""]`):                                    "rating_reasons[0]",
		with(`"rating_reasons":"violence"`):                              "rating_reasons",
		with(`"rating_reasons":["` + strings.Repeat("é", 101) + `"]`):    "rating_reasons[0]",
		with(`"rating_reasons":["a"` + strings.Repeat(`,"a"`, 20) + `]`): "rating_reasons",
		with(`"enable":"yes"`):                                           "enable",
		with(`"category_id":["aaaaaaaaaaaaaaaaaaaaaaaa"]`):               "category_id",
		with(`"category_id":["x"]`):                                      "category_id[0]",
		with(`"tags_id":["aaaaaaaaaaaaaaaaaaaaaaaa"]`):                   "tags_id",
		with(`"season_id":"aaaaaaaaaaaaaaaaaaaaaaaa"`):                   "season_id",
		with(`"thumbnail_vertical":"https://elsewhere/a.png"`):           "thumbnail_vertical",
		with(`"views":1`):                                                "views",
	} {
		a := b.call("admin", http.MethodPost, "/videos", body)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", body, a.raw)
		require.Equal(t, "VALIDATION_ERROR", a.Error.Code)
		require.Equal(t, field, a.Error.Field)
		loc := a.Detail.([]any)[0].(map[string]any)["loc"].([]any)
		require.Equal(t, []any{"body", 1.0, strings.TrimSuffix(field, "[0]")}, loc[:3])
	}
	a := b.call("admin", http.MethodPost, "/videos", with(`"slug":"taken"`))
	require.Equal(t, http.StatusConflict, a.status, a.raw)
	require.Equal(t, "CONFLICT", a.Error.Code)
	require.Equal(t, "slug", a.Error.Field)
	require.Equal(t, 1, b.find("", "").Page.Total, "none of the good halves was written")
}

func TestVideosNewestEditFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []any
	for _, slug := range []string{"first", "second", "third"} {
		a := b.must(http.MethodPost, "/videos", `[{"title":"x","slug":"`+slug+
			`","video_id":"https://v.example/1","duration":1,"release_date":"2024-01-10"}]`)
		ids = append(ids, a.Docs[0]["_id"])
		b.clock.Advance(time.Second)
	}
	require.Equal(t, []any{ids[2], ids[1], ids[0]}, b.find("", "").values("_id"))
	b.must(http.MethodPut, "/videos", `[{"_id":"`+ids[0].(string)+`","title":"edited"}]`)
	require.Equal(t, []any{ids[0], ids[2], ids[1]}, b.find("", "").values("_id"))
}

// roundTrips counts what goes to the database.
type roundTrips struct{ batches, queries atomic.Int32 }

func (r *roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.batches.Add(1)
	return ctx
}
func (r *roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (r *roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (r *roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.queries.Add(1)
	return ctx
}
func (r *roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestListIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	cfg, err := pgxpool.ParseConfig(pgtest.URL(t))
	require.NoError(t, err)
	var trips roundTrips
	cfg.ConnConfig.Tracer = &trips
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	furnish(t, db)
	catalogtest.Videos(t, db, 30)
	log, who := secrettest.Logger(t), people{}
	api := httpapi.New(httpapi.Config{Version: "test", Auth: who, Log: log})
	catalog.New(catalog.Deps{Pool: db, Clock: clock.System{}, Log: log}).Routes(api)
	get := func(params string) {
		req := httptest.NewRequest(http.MethodGet, "/api/v1/videos"+params, nil)
		req.Header.Set("Authorization", "Bearer subscriber")
		rec := httptest.NewRecorder()
		apitest.Handler(t, api).ServeHTTP(rec, req)
		require.Equal(t, http.StatusOK, rec.Code, rec.Body.String())
	}
	count := func() [2]int32 { return [2]int32{trips.batches.Swap(0), trips.queries.Swap(0)} }
	filter := "?query=" + url.QueryEscape(`{"enable":true}`)
	get("")
	count() // also prepares
	for _, tc := range []struct {
		params string
		want   [2]int32 // batches and single queries
	}{
		{"?current_page=1", [2]int32{1, 0}}, // a first page that nobody asked for yet comes with the checks
		{"?current_page=1", [2]int32{0, 1}}, // then from memory: one statement checks user, subscription and version
		{filter, [2]int32{0, 2}},            // a client's filter is not prepared: it follows the checks
		{filter, [2]int32{0, 1}},
		{"?_id=f00000000000000000000001", [2]int32{1, 0}},
		{"?_id=f00000000000000000000001", [2]int32{0, 1}},
	} {
		get(tc.params)
		require.Equal(t, tc.want, count(), tc.params)
	}
}
