// Package catalogtest makes real rows of the catalogue for tests, one line each.
package catalogtest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/catalog"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// Fields overrides fields of a fixture by their JSON names.
type Fields map[string]any

// Video makes a published video; its slug is unique.
func Video(t testing.TB, db postgres.Beginner, more ...Fields) objectid.ID {
	t.Helper()
	return create(t, db, catalog.Videos, append([]Fields{{
		"title": "A video", "slug": slug("video"), "video_id": "https://video.example/a", "duration": 90,
		"release_date": "2024-01-10",
	}}, more...))
}

// Category makes a category.
func Category(t testing.TB, db postgres.Beginner, name string) objectid.ID {
	t.Helper()
	return create(t, db, catalog.Categories, []Fields{{"name": name, "slug": slug("category")}})
}

// Tag makes a tag.
func Tag(t testing.TB, db postgres.Beginner, name string) objectid.ID {
	t.Helper()
	return create(t, db, catalog.Tags, []Fields{{"name": name, "slug": slug("tag")}})
}

// Season makes a season.
func Season(t testing.TB, db postgres.Beginner, name string) objectid.ID {
	t.Helper()
	return create(t, db, catalog.Seasons, []Fields{{"name": name, "slug": slug("season"), "number": 1}})
}

// Videos fills the catalogue with n generated videos, fast: durations, tags,
// authors, dates and every tenth disabled follow from the number.
func Videos(t testing.TB, db *pgxpool.Pool, n int) {
	t.Helper()
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
		// VACUUM marks pages as visible to all only once their commit is flushed.
		if _, err := tx.Exec(t.Context(), "SET LOCAL synchronous_commit = on"); err != nil {
			return err
		}
		rebuild, err := withoutIndexes(t.Context(), tx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), `
			INSERT INTO catalog.videos (id, title, slug, video_id, description, author, duration, release_date, tags, enable, register_date, register_update_date)
			SELECT 'f' || lpad(to_hex(i), 23, '0'), 'Title ' || i, 'title-' || i, 'https://video.example/' || i, 'Description of video ' || i, 'Author ' || i % 500,
			       20 + i % 160, timestamptz '1990-01-01Z' + i % 12000 * interval '1 day', ARRAY['tag' || i % 50, 'tag' || i % 7], i % 10 <> 0,
			       timestamptz '2026-01-01Z' + i * interval '1 second', timestamptz '2026-01-01Z' + i * interval '1 second'
			FROM generate_series(0, $1::int - 1) i`, n)
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), rebuild)
		return err
	}))
	_, err := db.Exec(t.Context(), "VACUUM ANALYZE catalog.videos")
	require.NoError(t, err)
}

// withoutIndexes drops the indexes of the videos that are no constraint, and the
// trigger that looks up names, of which generated videos have none. rebuild brings
// them back: filling them in bulk halves the time.
func withoutIndexes(ctx context.Context, tx pgx.Tx) (rebuild string, err error) {
	var drop string
	err = tx.QueryRow(ctx, `
		SELECT string_agg('DROP INDEX ' || indexrelid::regclass, ';'), string_agg(pg_get_indexdef(indexrelid), ';')
		FROM pg_index WHERE indrelid = 'catalog.videos'::regclass AND NOT indisunique`).Scan(&drop, &rebuild)
	if err == nil {
		_, err = tx.Exec(ctx, drop+"; ALTER TABLE catalog.videos DISABLE TRIGGER videos_names")
	}
	return rebuild + "; ALTER TABLE catalog.videos ENABLE TRIGGER videos_names", err
}

func slug(what string) string { return fmt.Sprintf("%s-%s", what, objectid.New()) }

func create(t testing.TB, db postgres.Beginner, r *resource.Resource, fields []Fields) objectid.ID {
	t.Helper()
	object := Fields{}
	for _, some := range fields {
		for name, value := range some {
			object[name] = value
		}
	}
	body, err := json.Marshal([]Fields{object})
	require.NoError(t, err)
	var ids []objectid.ID
	err = postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
		ids, err = r.CreateTx(t.Context(), tx, resource.Actor{Now: time.Now()}, body)
		return err
	})
	require.NoError(t, err)
	return ids[0]
}
