package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/catalog"
	"marquee/modules/catalog/catalogtest"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// step is a node of EXPLAIN (FORMAT JSON).
type step struct {
	Type  string `json:"Node Type"`
	Index string `json:"Index Name"`
	On    string `json:"Relation Name"`
	Plans []step
}

// walk lists the indexes that a plan uses, and whether it scans all videos.
func (s step) walk(indexes *[]string, scans *bool) {
	if s.Index != "" && !slices.Contains(*indexes, s.Index) {
		*indexes = append(*indexes, s.Index)
	}
	*scans = *scans || s.Type == "Seq Scan" && s.On == "videos"
	for _, below := range s.Plans {
		below.walk(indexes, scans)
	}
}

func explain(t *testing.T, db postgres.DB, p resource.Params) (indexes []string, scans bool) {
	t.Helper()
	list, err := catalog.Videos.Prepare(p)
	require.NoError(t, err)
	sql, args := list.SQL()
	planOf(t, db, sql, args...).walk(&indexes, &scans)
	return indexes, scans
}

func planOf(t *testing.T, db postgres.DB, sql string, args ...any) step {
	t.Helper()
	var raw []byte
	err := db.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+sql, append([]any{pgx.QueryExecModeExec}, args...)...).
		Scan(&raw)
	require.NoError(t, err)
	var plans []struct{ Plan step }
	require.NoError(t, json.Unmarshal(raw, &plans))
	return plans[0].Plan
}

// TestPlansLong holds the plans of the filters of the contract (docs/contract/filters.md, Operators), over
// 100,000 videos: page and total come from these indexes, and no filter that one
// serves reads the whole table.
func TestPlansLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	db := pgtest.DB(t)
	began := time.Now()
	catalogtest.Videos(t, db, 100_000)
	t.Logf("filled in %v", time.Since(began))
	category := catalogtest.Category(t, db, "Drama")
	_, err := db.Exec(t.Context(), `UPDATE catalog.videos SET category_id = ARRAY[$1::text] WHERE duration = 21`,
		category)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "VACUUM ANALYZE catalog.videos")
	require.NoError(t, err)

	for _, tc := range []struct {
		params resource.Params
		want   string // one of these indexes, separated by blanks, has to be used
	}{
		{resource.Params{}, "videos_by_update"},
		{resource.Params{Query: `{"enable":true}`}, "videos_enabled_by_update"},
		{resource.Params{Query: `{"enable":true}`, Sort: `{"release_date":-1}`}, "videos_enabled_by_release"},
		{resource.Params{Query: `{"enable":false}`}, "videos_disabled_by_update"},
		{resource.Params{Query: `{"category_id":"` + string(category) + `"}`}, "videos_category_id"},
		{
			resource.Params{
				Query: `{"category_id":{"$in":["` + string(category) + `"]},"enable":true}`, Sort: `{"title":1}`,
			},
			"videos_category_id",
		},
		{resource.Params{Query: `{"category_name":"Drama"}`}, "videos_category_name"},
		{resource.Params{Query: `{"tags":"tag33"}`}, "videos_tags"},
		{resource.Params{Query: `{"tags":{"$all":["tag33","tag2"]}}`}, "videos_tags"},
		{
			resource.Params{
				Query: `{"tags":"tag33","enable":true,"release_date":{"$gte":"2010-01-01"}}`,
				Sort:  `{"release_date":-1}`,
			},
			"videos_tags",
		},
		{resource.Params{Query: `{"tags_id":"` + string(category) + `"}`}, "videos_tags_id"},
		{resource.Params{Query: `{"tags_name":"New"}`}, "videos_tags_name"},
		{resource.Params{Query: `{"season_id":"` + string(category) + `"}`}, "videos_season"},
		{resource.Params{Query: `{"release_date":{"$gte":"2021-01-01","$lt":"2021-03-01"}}`}, "videos_by_release"},
		{
			resource.Params{Query: `{"release_date":{"$lt":"1990-02-01"}}`, Sort: `{"release_date":1}`},
			"videos_by_release",
		},
		{resource.Params{Query: `{"duration":42}`}, "videos_duration"},
		{resource.Params{Query: `{"duration":{"$gte":175}}`, Sort: `{"duration":1}`}, "videos_duration"},
		{resource.Params{Query: `{"author":"Author 7"}`}, "videos_author"},
		{resource.Params{Query: `{"author":{"$regex":"^Author 49"}}`}, "videos_author videos_author_pattern"},
		{resource.Params{Query: `{"author":{"$regex":"THOR 499","$options":"i"}}`}, "videos_author_pattern"},
		{resource.Params{Query: `{"title":{"$regex":"^Title 4242"}}`}, "videos_title videos_title_pattern"},
		{resource.Params{Query: `{"title":{"$regex":"le 424","$options":"i"}}`}, "videos_title_pattern"},
		{resource.Params{Query: `{"title":{"$regex":"(4242|ação)"}}`}, "videos_title_pattern"},
		{resource.Params{Query: `{"title":"Title 4242"}`}, "videos_title"},
		{resource.Params{Query: `{"slug":"title-4242"}`}, "videos_slug_unique"},
		{resource.Params{Query: `{"_id":"f00000000000000000000001"}`}, "videos_pkey"},
		{resource.Params{ID: "f00000000000000000000001"}, "videos_pkey"},
		{resource.Params{Sort: `{"release_date":-1}`}, "videos_by_release"},
		{resource.Params{Sort: `{"title":1}`, Page: 50}, "videos_title"},
		{resource.Params{Search: "title 4242"}, "videos_search"},
		{resource.Params{Search: "autor 4242", Query: `{"enable":true}`, Sort: `{"title":1}`}, "videos_search"},
	} {
		if tc.params.Size == 0 {
			tc.params.Size = 10
		}
		indexes, scans := explain(t, db, tc.params)
		name := fmt.Sprintf("%+v uses %v", tc.params, indexes)
		require.False(t, scans, "a scan of all videos: %s", name)
		require.True(t, slices.ContainsFunc(strings.Fields(tc.want),
			func(index string) bool { return slices.Contains(indexes, index) }), "not %s: %s", tc.want, name)
	}
	requireViewerPlans(t, db)
}

// A pattern with a capital beyond ASCII finds the same videos with the trigram
// index as without it, although the index alone would lose some.
func TestPatternsBeyondASCII(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, title := range []string{"AÇÃO total", "ação total", "Ação total", "drama"} {
		catalogtest.Video(t, b.db, catalogtest.Fields{"title": title})
	}
	for pattern, want := range map[string][]string{
		`{"$regex":"AÇÃO|drama"}`:                {"AÇÃO total", "drama"},
		`{"$regex":"ação|drama"}`:                {"ação total", "drama"},
		`{"$regex":"AÇÃO|drama","$options":"i"}`: {"AÇÃO total", "ação total", "Ação total", "drama"},
		`{"$regex":"A[ÇX]ÃO to|drama"}`:          {"AÇÃO total", "drama"},
		`{"$regex":"[Çç]ão to|Ç[Ãã]O|drama"}`:    {"AÇÃO total", "ação total", "Ação total", "drama"},
	} {
		list, err := catalog.Videos.Prepare(resource.Params{
			Query: `{"title":` + pattern + `}`, Sort: `{"_id":1}`, Size: 10,
		})
		require.NoError(t, err)
		require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(),
				"SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off"); err != nil {
				return err
			}
			return list.Run(t.Context(), tx)
		}))
		var docs []struct{ Title string }
		require.NoError(t, json.Unmarshal([]byte("["+string(list.Page().Docs)+"]"), &docs))
		var titles []string
		for _, d := range docs {
			titles = append(titles, d.Title)
		}
		require.Equal(t, want, titles, pattern)
	}
}
