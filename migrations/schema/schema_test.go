package schema_test

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

func TestUpDownUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := pgtest.URL(t)
	all, err := schema.List(ctx, url)
	require.NoError(t, err)
	for i := len(all) - 1; i >= 0; i-- {
		require.True(t, all[i].Applied, all[i].File)
		file, err := schema.Down(ctx, url)
		require.NoError(t, err, all[i].File)
		require.Equal(t, all[i].File, file)
	}
	n, err := schema.Up(ctx, url)
	require.NoError(t, err)
	require.Equal(t, len(all), n)
}

// objects are what a database has, and what is said of it, but for goose's own, and for the
// extension, which stays.
func objects(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return column(t, conn, `
		SELECT o.named FROM (
			SELECT DISTINCT pg_describe_object(d.classid, d.objid, 0) AS named FROM pg_depend d
			WHERE d.objid >= 16384 AND d.classid <> 'pg_extension'::regclass AND NOT EXISTS (
				SELECT FROM pg_depend e WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e')
			UNION ALL
			SELECT 'schema ' || nspname FROM pg_namespace WHERE oid >= 16384
			UNION ALL
			SELECT concat(pg_describe_object(classoid, objoid, objsubid), ': ', description)
			FROM pg_description WHERE objoid >= 16384
		) o WHERE o.named !~ 'goose_db_version|pg_toast|pg_temp|trgm|RI_Constraint' ORDER BY 1`)
}

func TestEachMigrationIsTakenBackWholeLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	database := newDatabase(t, "steps")
	conn, p := connect(t, database), migrator(t, database, schema.FS)
	var before [][]string
	for {
		before = append(before, objects(t, conn))
		_, err := p.UpByOne(t.Context())
		if errors.Is(err, goose.ErrNoNextVersion) {
			break
		}
		require.NoError(t, err)
	}
	require.Empty(t, before[0])
	for i := len(before) - 2; i >= 0; i-- {
		back, err := p.Down(t.Context())
		require.NoError(t, err)
		if i == 0 || !strings.Contains(back.Source.Path, "_river_") { // one of River's forgets a default
			require.Equal(t, before[i], objects(t, conn), back.Source.Path)
		}
	}
}

func TestConcurrentStartsApplyOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := pgtest.URL(t)
	_, err := schema.Down(ctx, url)
	require.NoError(t, err)
	var mu sync.Mutex
	var wg sync.WaitGroup
	applied := 0
	for range 4 {
		wg.Go(func() {
			n, err := schema.Up(ctx, url)
			mu.Lock()
			defer mu.Unlock()
			applied += n
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, applied)
}

func TestFileNamesSayModuleAndPurpose(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^\d{5}_(platform|jobs|settings|files|accounts|payments|tickets|promos|subscriptions|catalog|board|finance)_[a-z0-9_]+\.sql$`)
	entries, err := fs.ReadDir(schema.FS, ".")
	require.NoError(t, err)
	seen := map[string]string{}
	for _, e := range entries {
		require.Regexp(t, form, e.Name())
		number, _, _ := strings.Cut(e.Name(), "_")
		require.Empty(t, seen[number], "two migrations share the number %s", number)
		seen[number] = e.Name()
	}
}
