package catalog_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"marquee/platform/query/querytest"

	"github.com/stretchr/testify/require"
)

// TestQueryContract runs the examples of filters (docs/contract/filters.md, The one rule) that speak of videos on their
// sample data, as a customer's requests.
func TestQueryContract(t *testing.T) {
	t.Parallel()
	contract := querytest.Vectors()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), `
		INSERT INTO catalog.categories (id, name, slug) VALUES ('c10000000000000000000001', 'C1', 'c1'), ('c20000000000000000000002', 'C2', 'c2')`)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(),
		`INSERT INTO catalog.seasons (id, name, slug) VALUES ('5e0000000000000000000001', 'S1', 's1')`)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), `
		INSERT INTO catalog.videos (id, title, slug, video_id, author, duration, enable, tags, category_id, release_date, expiration_date,
			season_id, season_number, episode_number, legacy_id, description, register_update_date)
		SELECT _id, title, 'slug-' || _id, 'https://v.example/' || _id, author, duration, enable, tags, category_id, release_date, expiration_date,
			season_id, season_number, episode_number, legacy_id, description, '2024-05-05Z'
		FROM jsonb_to_recordset($1::jsonb) AS r(_id text, title text, author text, description text, duration int, enable boolean, tags text[],
			category_id text[], release_date timestamptz, expiration_date timestamptz, season_id text, season_number int, episode_number int, legacy_id text)`,
		[]byte(contract.Videos))
	require.NoError(t, err)

	cases := contract.Of("videos")
	require.Greater(t, len(cases), 150)
	for _, c := range cases {
		text := c.Text()
		a := b.call("subscriber", http.MethodGet,
			"/videos?query="+url.QueryEscape(text)+"&sort="+url.QueryEscape(string(c.Sort)), "")
		if c.Status != 0 {
			require.Equal(t, c.Status, a.status, "%d %s: %s", c.N, text, a.raw)
			require.Equal(t, "VALIDATION_ERROR", a.Error.Code)
			require.Equal(t, "query", a.Error.Field)
			continue
		}
		require.Equal(t, http.StatusOK, a.status, "%d %s: %s", c.N, text, a.raw)
		require.Equal(t, fmt.Sprint(c.IDs), fmt.Sprint(a.values("_id")), "%d %s %s", c.N, text, c.Sort)
		require.Equal(t, len(c.IDs), a.Page.Total)
	}
}
