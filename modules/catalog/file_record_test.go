package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog"
	"marquee/modules/catalog/catalogtest"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
)

func TestFilesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	svc := catalog.New(catalog.Deps{Pool: db, Clock: clock.System{}})
	records := map[string]objectid.ID{
		"video": catalogtest.Video(t, db), "category": catalogtest.Category(t, db, "Drama"),
		"tag": catalogtest.Tag(t, db, "silent"), "season": catalogtest.Season(t, db, "One"),
	}
	nobody := objectid.New()
	require.Len(t, svc.FileRecords(), len(records))
	for _, kind := range svc.FileRecords() {
		for name, id := range records {
			place, ok, err := kind.FilePlace(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, name == kind.FileKind(), ok, "%s of kind %s", name, kind.FileKind())
			require.True(t, !ok || place == files.Place{Purpose: files.Record, Visibility: files.Members})
		}
		_, ok, err := kind.FilePlace(t.Context(), nobody)
		require.NoError(t, err)
		require.False(t, ok)

		stored, gone := files.Ref{
			FileID: objectid.New(), RecordID: records[kind.FileKind()],
		}, files.Ref{FileID: objectid.New(), RecordID: nobody}
		abandoned, err := kind.AbandonedFiles(t.Context(), []files.Ref{stored, gone})
		require.NoError(t, err)
		if kind.FileKind() == "video" {
			require.Empty(t, abandoned, "thumbnails stay until the file routes delete them")
			continue
		}
		require.Equal(t, []objectid.ID{gone.FileID}, abandoned, kind.FileKind())
	}
}
