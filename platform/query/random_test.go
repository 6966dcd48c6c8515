package query_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"marquee/platform/query"
)

// things is a collection with a field of every kind, for random documents.
var things = &query.Collection{Fields: map[string]query.Field{
	"_id":   {Expr: "t.id", Kind: query.OID},
	"s":     {Expr: "t.s", Kind: query.String, Nullable: true},
	"w":     {Expr: "t.w", Kind: query.String, Presence: query.WhenSet},
	"i":     {Expr: "t.i", Kind: query.Int},
	"n":     {Expr: "t.n", Kind: query.Number, Nullable: true},
	"price": {Expr: "t.price_cents", Kind: query.Cents, Nullable: true},
	"b":     {Expr: "t.b", Kind: query.Bool, Nullable: true},
	"d":     {Expr: "t.d", Kind: query.Date, Nullable: true},
	"o":     {Expr: "t.o", Kind: query.OID, Nullable: true},
	"tags":  {Expr: "t.tags", Kind: query.String, Array: true},
	"nums":  {Expr: "t.nums", Kind: query.Int, Array: true},
	"ids":   {Expr: "t.ids", Kind: query.OID, Array: true},
	"doc":   {Expr: "t.doc", Kind: query.JSON, Nullable: true},
}}

const thingsTable = `CREATE TEMP TABLE things (
	id platform.object_id PRIMARY KEY, s text COLLATE "C", w text COLLATE "C", i integer NOT NULL, n numeric, price_cents bigint,
	b boolean, d timestamptz, o platform.object_id, tags text[] COLLATE "C" NOT NULL, nums bigint[] NOT NULL,
	ids text[] NOT NULL, doc jsonb)`

const thingsInsert = `INSERT INTO things VALUES ($1, $2, $3, $4, $5::text::numeric, $6, $7, $8, $9, $10, $11, $12, $13::text::jsonb)`

// draw makes random documents and filters.
type draw struct {
	*rand.Rand
	// vocabulary holds the paths of a collection and what their operands are mostly
	// drawn from; nil is that of things.
	vocabulary map[string][]any
	paths      []string // of vocabulary, sorted
}

func pick[T any](r draw, of ...T) T { return of[r.IntN(len(of))] }

var (
	words    = []any{"", "a", "b", "ab", "A", "Á", "ß", "z", "10", "9", "a b", "x'y", `q"\u`, "😀"}
	numbers  = []any{-3.0, -0.5, 0.0, 1.0, 1.5, 2.0, 10.0, 12.25}
	wholes   = []any{-3.0, 0.0, 1.0, 2.0, 3.0, 10.0}
	instants = []any{"2024-01-10T00:00:00Z", "2024-01-10T12:30:00.5Z", "1969-12-31T23:59:59.999Z"}
	hexes    = []any{"65a000000000000000000001", "65a000000000000000000002", "c10000000000000000000003"}
	patterns = []any{"a", "^a", "b$", "^$", "[^a]", "á", ".", "a|z"}
)

// thing is a random document as the API shows it, and its row.
func (r draw) thing(n int) (document, []any) {
	id := fmt.Sprintf("%024x", n+1)
	orNull := func(v any) any {
		if r.IntN(4) == 0 {
			return nil
		}
		return v
	}
	d := document{
		"_id": objectID(id), "s": orNull(pick(r, words...)), "i": pick(r, wholes...), "n": orNull(pick(r, numbers...)),
		"price": orNull(pick(r, numbers...)), "b": orNull(r.IntN(2) == 0), "tags": r.list(words),
		"nums": r.list(wholes),
		"doc":  orNull(r.json(3)),
	}
	if w := orNull(pick(r, words...)); w != nil {
		d["w"] = w
	}
	row := []any{
		id, d["s"], d["w"], int(d["i"].(float64)), nil, nil, d["b"], nil, nil, texts(d["tags"]), whole(d["nums"]),
		nil, nil,
	}
	if v, ok := d["n"].(float64); ok {
		row[4] = fmt.Sprint(v)
	}
	if v, ok := d["price"].(float64); ok {
		row[5] = int64(v * 100)
	}
	d["d"] = nil
	if text, ok := orNull(pick(r, instants...)).(string); ok {
		t, _ := time.Parse(time.RFC3339, text)
		d["d"], row[7] = t, t
	}
	d["o"] = nil
	if hex, ok := orNull(pick(r, hexes...)).(string); ok {
		d["o"], row[8] = objectID(hex), hex
	}
	ids := r.list(hexes)
	row[11] = texts(ids)
	for i := range ids {
		ids[i] = objectID(ids[i].(string))
	}
	d["ids"] = ids
	if d["doc"] != nil || r.IntN(3) == 0 { // SQL NULL and a null in jsonb are shown alike
		text, _ := json.Marshal(d["doc"])
		row[12] = string(text)
	}
	return d, row
}

func texts(list any) []string {
	out := []string{}
	for _, v := range list.([]any) {
		out = append(out, v.(string))
	}
	return out
}

func whole(list any) []int64 {
	out := []int64{}
	for _, v := range list.([]any) {
		out = append(out, int64(v.(float64)))
	}
	return out
}

func (r draw) list(of []any) []any {
	list := []any{}
	for range r.IntN(4) {
		list = append(list, pick(r, of...))
	}
	return list
}

var keys = []string{"a", "b", "c", `k"\`}

// json is a random value in jsonb.
func (r draw) json(depth int) any {
	switch n := r.IntN(10); {
	case depth > 0 && n < 4:
		d := document{}
		for range r.IntN(4) {
			d[pick(r, keys...)] = r.json(depth - 1)
		}
		return d
	case depth > 0 && n < 7:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, r.json(depth-1))
		}
		return list
	}
	return pick[any](r, nil, true, false, 1.0, 2.0, 1.5, "a", "b", "10")
}

// scalar is a random operand, mostly of the field's kind.
func (r draw) scalar(path string) any {
	kinds := map[string][]any{
		"s": words, "w": words, "tags": words, "i": numbers, "nums": numbers, "n": numbers, "price": numbers,
		"b": {true, false}, "d": instants, "o": hexes, "ids": hexes, "_id": {fmt.Sprintf("%024x", 1+r.IntN(9))},
		"doc": {true, false, 1.0, 2.0, 1.5, "a", "b", "10"},
	}
	top, _, _ := strings.Cut(path, ".")
	isDate := top == "d" || strings.HasSuffix(top, "_date")
	if r.vocabulary != nil {
		kinds = r.vocabulary
	}
	if r.IntN(6) > 0 && kinds[top] != nil {
		v := pick(r, kinds[top]...)
		if text, ok := v.(string); ok && len(text) == 24 && !isDate && r.IntN(2) == 0 {
			return map[string]any{"$oid": strings.ToUpper(text)}
		}
		return v
	}
	if isDate {
		return pick[any](r, nil, 1.0, true)
	}
	return pick[any](r, nil, 1.0, "a", true, 0.001, 1e30, -1e30)
}

func (r draw) path() string {
	if r.vocabulary != nil {
		return pick(r, r.paths...)
	}
	path := pick(r, "_id", "s", "w", "i", "n", "price", "b", "d", "o", "tags", "nums", "ids", "doc", "doc", "doc",
		"nope",
		"s.x", "tags.0", "tags.1", "tags.x", "nums.0", "doc.", "doc.", "doc.", "doc.", "doc.", "doc.")
	if path == "doc." {
		return "doc." + r.below()
	}
	return path
}

// below is a path inside jsonb.
func (r draw) below() string {
	var segments []string
	for range 1 + r.IntN(3) {
		segments = append(segments, pick(r, "a", "b", "c", "a", "b", `k"\`, "0", "1"))
	}
	return strings.Join(segments, ".")
}

func (r draw) filter(depth int) map[string]any {
	f := map[string]any{}
	for range 1 + r.IntN(2) {
		if depth > 0 && r.IntN(3) == 0 {
			f[pick(r, "$and", "$or", "$nor")] = []any{r.filter(depth - 1), r.filter(depth - 1)}
		} else {
			path := r.path()
			f[path] = r.condition(path, depth)
		}
	}
	return f
}

// condition is what a path is asked: a value or operators.
func (r draw) condition(path string, depth int) any {
	if r.IntN(4) == 0 {
		return r.value(path)
	}
	operators := map[string]any{}
	for range 1 + r.IntN(2) {
		op := pick(r, "$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$exists", "$not", "$regex", "$mod",
			"$size",
			"$type", "$all", "$elemMatch")
		operators[op] = r.operand(op, path, depth)
	}
	return operators
}

func (r draw) operand(op, path string, depth int) any {
	switch op {
	case "$gt", "$gte", "$lt", "$lte":
		return r.scalar(path)
	case "$in", "$nin":
		return r.values(path, r.IntN(4))
	case "$all":
		return r.values(path, r.IntN(3))
	case "$exists":
		return r.IntN(2) == 0
	case "$not":
		if depth == 0 {
			return map[string]any{"$gt": r.scalar(path)}
		}
		if c, ok := r.condition(path, depth-1).(map[string]any); ok && isOperatorObject(c) {
			return c
		}
		return map[string]any{"$eq": r.value(path)}
	case "$regex":
		return pick(r, patterns...)
	case "$mod":
		return []any{pick[any](r, 2.0, 3.0, -2.0), pick[any](r, 0.0, 1.0, -1.0)}
	case "$size":
		return float64(r.IntN(4))
	case "$type":
		return pick[any](r, "string", "number", "bool", "objectId", "date", "array", "object", "null")
	case "$elemMatch":
		if depth > 0 && strings.HasPrefix(path, "doc") && r.IntN(2) == 0 {
			below := r.below()
			return map[string]any{below: r.condition("doc", depth-1)}
		}
		if c, ok := r.condition(path, max(depth-1, 0)).(map[string]any); ok && isOperatorObject(c) {
			return c
		}
		return map[string]any{"$eq": r.value(path)}
	}
	return r.value(path)
}

func (r draw) values(path string, n int) []any {
	values := []any{}
	for range n {
		values = append(values, r.value(path))
	}
	return values
}

// value is an operand for equality: a scalar, a list or a sub-document.
func (r draw) value(path string) any {
	switch r.IntN(8) {
	case 0:
		list := []any{}
		for range r.IntN(3) {
			if v := r.scalar(path); v != nil {
				list = append(list, v)
			}
		}
		return list
	case 1:
		return map[string]any{pick(r, "a", "b"): pick[any](r, nil, 1.0, "a", []any{})}
	}
	return r.scalar(path)
}
