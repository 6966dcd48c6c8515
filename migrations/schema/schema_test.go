package schema_test

import (
	"context"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
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
