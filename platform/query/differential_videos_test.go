package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"marquee/platform/query"
	"marquee/testutil/pgtest"
)

const (
	differentialVideos  = 500
	differentialLists   = 20_000 // random filters with sorts; -query.runs does not change it
	differentialBatch   = 100    // lists in one round trip
	differentialWorkers = 2
)

// listing is a random filter with a sort.
type listing struct {
	filter map[string]any
	sort   []sortKey
}

type sortKey struct {
	path      string
	direction int
}

func (l listing) texts() (filter, sort string) {
	raw, _ := json.Marshal(l.filter)
	var parts []string
	for _, k := range l.sort {
		name, _ := json.Marshal(k.path)
		parts = append(parts, fmt.Sprintf("%s:%d", name, k.direction))
	}
	return string(raw), "{" + strings.Join(parts, ",") + "}"
}

func (l listing) String() string {
	filter, sort := l.texts()
	return filter + " " + sort
}

// expected is what the evaluator in memory finds: ids in order.
func (l listing) expected(documents []document) []string {
	filter, _ := l.texts()
	decoded := decode(filter)
	found := slices.DeleteFunc(slices.Clone(documents), func(d document) bool { return !matches(d, decoded) })
	order := l.sort
	if len(order) == 0 {
		order = []sortKey{{"register_update_date", -1}}
	}
	paths := make([][]string, len(order))
	for i, k := range order {
		paths[i] = strings.Split(k.path, ".")
	}
	slices.SortStableFunc(found, func(a, b document) int {
		for i, k := range order {
			if c := sorted(a, b, paths[i], k.direction); c != 0 {
				return c
			}
		}
		return 0
	})
	return idsOf(found)
}

// queue puts the list into a batch: its ids in order and, as the routes do, the total
// beside them.
func (l listing) queue(b *pgx.Batch, c *query.Collection, from string, done func(ids []string, total int)) error {
	filter, sort := l.texts()
	f, err := query.Compile(c, filter, 1)
	if err != nil {
		return fmt.Errorf("%s: %w", l, err)
	}
	s, err := query.CompileSort(c, sort, 1+len(f.Args))
	if err != nil {
		return fmt.Errorf("%s: %w", l, err)
	}
	sql := "SELECT (SELECT count(*) FROM " + from + " WHERE " + f.SQL + "), array(SELECT " + c.Fields["_id"].Expr +
		"::text FROM " + from +
		" WHERE " + f.SQL + " ORDER BY " + s.SQL + ")"
	b.Queue(sql, append(slices.Clone(f.Args), s.Args...)...).QueryRow(func(row pgx.Row) error {
		var total int
		var ids []string
		if err := row.Scan(&total, &ids); err != nil {
			return fmt.Errorf("%s: %w", l, err)
		}
		done(ids, total)
		return nil
	})
	return nil
}

// smaller are the lists that lack one part of l.
func (l listing) smaller() []listing {
	var all []listing
	for i := range l.sort {
		all = append(all, listing{l.filter, slices.Delete(slices.Clone(l.sort), i, i+1)})
	}
	for _, f := range smallerMaps(l.filter) {
		all = append(all, listing{f, l.sort})
	}
	return all
}

func smallerMaps(m map[string]any) []map[string]any {
	var all []map[string]any
	for _, key := range slices.Sorted(maps.Keys(m)) {
		without := maps.Clone(m)
		delete(without, key)
		all = append(all, without)
		for _, v := range smallerValues(m[key]) {
			with := maps.Clone(m)
			with[key] = v
			all = append(all, with)
		}
	}
	return all
}

func smallerValues(v any) []any {
	var all []any
	switch v := v.(type) {
	case map[string]any:
		for _, m := range smallerMaps(v) {
			all = append(all, m)
		}
	case []any:
		for i := range v {
			all = append(all, slices.Delete(slices.Clone(v), i, i+1))
			for _, inner := range smallerValues(v[i]) {
				with := slices.Clone(v)
				with[i] = inner
				all = append(all, with)
			}
		}
	}
	return all
}

// shrink takes parts away for as long as the list still fails.
func shrink(l listing, fails func(listing) bool) listing {
	for {
		i := slices.IndexFunc(l.smaller(), fails)
		if i < 0 {
			return l
		}
		l = l.smaller()[i]
	}
}

// video is a random video as the API shows it. Its row is made from it.
func (r draw) video(n int) document {
	orNull := func(v any) any {
		if r.IntN(3) == 0 {
			return nil
		}
		return v
	}
	instant := func() any { t, _ := time.Parse(time.RFC3339, pick(r, instants...).(string)); return t }
	category := []any{}
	for _, hex := range r.list(hexes) {
		category = append(category, objectID(hex.(string)))
	}
	d := document{
		"_id": objectID(fmt.Sprintf("%024x", n+1)), "title": pick(r, words...), "author": pick(r, words...),
		"description": pick(r, words...), "duration": pick(r, wholes...), "enable": r.IntN(2) == 0,
		"tags": r.list(words), "category_id": category, "release_date": instant(),
		"expiration_date": orNull(instant()), "season_id": nil, "season_number": orNull(pick(r, wholes...)),
		"episode_number": orNull(pick(r, wholes...)), "legacy_id": orNull(pick(r, words...)),
		"register_update_date": instant(),
	}
	if hex, ok := orNull(pick(r, hexes...)).(string); ok {
		d["season_id"] = objectID(hex)
	}
	return d
}

// videoWords are the paths of videos and what their operands are mostly drawn from.
var videoWords = map[string][]any{
	"_id": {"000000000000000000000001", "0000000000000000000000ff", "0000000000000000000001f4"}, "title": words,
	"author": words, "description": words, "duration": numbers, "enable": {true, false}, "tags": words,
	"category_id": hexes, "release_date": instants, "expiration_date": instants, "season_id": hexes,
	"season_number": numbers, "episode_number": numbers, "legacy_id": words, "register_update_date": instants,
	"nope": {1.0, "a"}, "title.x": {"a"}, "tags.0": words, "tags.1": words, "tags.x": words,
	"category_id.0": hexes,
}

func (r draw) listing() listing {
	l := listing{filter: r.filter(2)}
	for range r.IntN(4) {
		k := sortKey{r.path(), pick(r, 1, -1)}
		if !slices.ContainsFunc(l.sort, func(other sortKey) bool { return other.path == k.path }) {
			l.sort = append(l.sort, k)
		}
	}
	return l
}

// setupVideos is a database of its own with random videos.
func setupVideos(t *testing.T, r draw) (address string, documents []document) {
	t.Helper()
	address = pgtest.URL(t)
	db, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer db.Close(context.WithoutCancel(t.Context()))
	tables := strings.ReplaceAll(sampleTables(`COLLATE "C"`), "CREATE TEMP TABLE", "CREATE TABLE")
	_, err = db.Exec(t.Context(), tables+"; TRUNCATE videos")
	require.NoError(t, err)
	for i := range differentialVideos {
		documents = append(documents, r.video(i))
	}
	rows, err := json.Marshal(documents)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO videos SELECT (r).* FROM (SELECT jsonb_populate_record(NULL::videos, v || jsonb_build_object('id', v->'_id')) AS r
			FROM jsonb_array_elements($1::text::jsonb) v) x`, string(rows))
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "ANALYZE videos")
	require.NoError(t, err)
	return address, documents
}

// mismatch is the first of the lists in which Postgres and the evaluator disagree, or
// nil. A list that Postgres or the compiler refuses is an error.
func mismatch(ctx context.Context, db *pgx.Conn, documents []document, lists ...listing) (failing *listing, err error) {
	batch := &pgx.Batch{}
	for _, l := range lists {
		err := l.queue(batch, videos, "videos v", func(ids []string, total int) {
			if want := l.expected(documents); failing == nil && (!slices.Equal(want, ids) || total != len(want)) {
				failing = &l
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	return failing, nil
}

// Twenty thousand random filters and sorts over five hundred random videos give the
// ids, the order and the totals of the evaluator in memory. A list that does not is
// shrunk to its smallest failing part.
func TestVideos_differential(t *testing.T) {
	t.Parallel()
	lists := differentialLists
	if testing.Short() {
		lists /= 10
	}
	seed := *differentialSeed
	t.Logf("seed %d (-query.seed)", seed)
	address, documents := setupVideos(t, draw{Rand: rand.New(rand.NewPCG(seed, 3))})
	group, ctx := errgroup.WithContext(t.Context())
	for worker := range differentialWorkers {
		group.Go(func() error {
			r := draw{rand.New(rand.NewPCG(seed, uint64(4+worker))), videoWords, slices.Sorted(maps.Keys(videoWords))}
			return compareLists(ctx, r, address, documents, lists/differentialWorkers)
		})
	}
	require.NoError(t, group.Wait(), "seed %d", seed)
}

func compareLists(ctx context.Context, r draw, address string, documents []document, n int) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	db, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	for done := 0; done < n; done += differentialBatch {
		var lists []listing
		for range differentialBatch {
			lists = append(lists, r.listing())
		}
		failing, err := mismatch(ctx, db, documents, lists...)
		if err != nil {
			return err
		}
		if failing != nil {
			small := shrink(*failing, func(l listing) bool {
				still, err := mismatch(ctx, db, documents, l)
				return err == nil && still != nil
			})
			return fmt.Errorf("differs from the evaluator: %s, shrunk from %s", small, *failing)
		}
	}
	return nil
}

// A failing list shrinks to the part that fails.
func TestVideos_shrink(t *testing.T) {
	t.Parallel()
	l := listing{
		decode(`{"$or":[{"title":"a","duration":{"$gt":1,"$mod":[2,1]}},{"tags":{"$in":["a","b"]}}],"enable":true}`),
		[]sortKey{{"title", 1}, {"tags", -1}},
	}
	small := shrink(l, func(l listing) bool {
		return strings.Contains(l.String(), `"$mod":[2,1]`) && strings.Contains(l.String(), `"tags":-1`)
	})
	require.Equal(t, `{"$or":[{"duration":{"$mod":[2,1]}}]} {"tags":-1}`, small.String())
}
