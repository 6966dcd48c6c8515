package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/query"
	"marquee/testutil/pgtest"
)

func TestCollection_Validate(t *testing.T) {
	t.Parallel()
	for _, c := range []*query.Collection{videos, webhookLogs, things, board} {
		require.NoError(t, c.Validate())
	}
	id := query.Field{Expr: "t.id", Kind: query.OID}
	for name, field := range map[string]query.Field{
		"password":       {Expr: "t.p", Kind: query.String},
		"password_salt":  {Expr: "t.p", Kind: query.String},
		"reset_code_at":  {Expr: "t.p", Kind: query.Date},
		"token_hash":     {Expr: "t.p", Kind: query.String},
		"login_attempts": {Expr: "t.p", Kind: query.Int},
		"api_token":      {Expr: "t.p", Kind: query.String},
		"a..b":           {Expr: "t.p", Kind: query.String},
		"kindless":       {Expr: "t.p"},
		"empty":          {Kind: query.String},
		"placeholder":    {Expr: "f($1)", Kind: query.String},
		"null_array":     {Expr: "t.p", Kind: query.String, Array: true, Nullable: true},
		"json_array":     {Expr: "t.p", Kind: query.JSON, Array: true},
		"id_paths":       {Expr: "t.p", Kind: query.String, OIDPaths: []string{"a"}},
	} {
		c := &query.Collection{Fields: map[string]query.Field{"_id": id, name: field}}
		require.ErrorContains(t, c.Validate(), name)
	}
	require.ErrorContains(t, (&query.Collection{}).Validate(), "_id")
	c := &query.Collection{Fields: map[string]query.Field{"_id": id}, DefaultSort: `{x: 1}`}
	require.ErrorContains(t, c.Validate(), "default sort")
}

func TestCompile_unknown(t *testing.T) {
	t.Parallel()
	f, err := query.Compile(things, `{"nope":1,"i":1,"$or":[{"password":"x"},{"s.x":1}]}`, 1)
	require.NoError(t, err)
	require.Equal(t, 2, f.Unknown)
	s, err := query.CompileSort(things, `{"nope":1,"i":1}`, 1)
	require.NoError(t, err)
	require.Equal(t, 1, s.Unknown)
}

// board has what the sample collections lack: dotted names of columns, ids inside
// jsonb, a computed expression, and null at the end of the order.
var board = &query.Collection{
	DefaultSort: `{"index":1}`,
	Fields: map[string]query.Field{
		"_id":          {Expr: "b.id", Kind: query.OID},
		"index":        {Expr: "b.index", Kind: query.Int, Nullable: true, NullsEnd: true},
		"address":      {Expr: "jsonb_build_object('city', b.city)", Kind: query.JSON},
		"address.city": {Expr: "b.city", Kind: query.String},
		"files":        {Expr: "b.files", Kind: query.JSON, OIDPaths: []string{"file_id"}},
		"count":        {Expr: "(SELECT count(*) FROM unnest(b.labels))", Kind: query.Int},
	},
}

func TestFilter_fieldForms(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	_, err := tx.Exec(t.Context(), `
CREATE TEMP TABLE board (id platform.object_id, index integer, city text COLLATE "C" NOT NULL, files jsonb NOT NULL, labels text[] NOT NULL);
INSERT INTO board VALUES
	('65a000000000000000000001', 2, 'Olinda', '[{"file_id":"c10000000000000000000001","size":3}]', '{a,b}'),
	('65a000000000000000000002', NULL, 'Natal', '[]', '{}'),
	('65a000000000000000000003', 1, 'Natal', '[{"file_id":"c10000000000000000000002","size":5}]', '{a}')`)
	require.NoError(t, err)
	for _, row := range []struct{ filter, sort, want string }{
		{``, ``, "312"},
		{``, `{"index":-1}`, "132"},
		{`{"address.city":"Natal"}`, ``, "32"},
		{`{"address":{"city":"Natal"}}`, ``, "32"},
		{`{"address":{"$exists":true}}`, ``, "312"},
		{`{"address.city.x":null}`, ``, "312"},
		{`{"count":{"$gte":1}}`, `{"count":-1}`, "13"},
		{`{"files.file_id":"C10000000000000000000001"}`, ``, "1"},
		{`{"files.file_id":{"$oid":"c10000000000000000000001"}}`, ``, "1"},
		{`{"files.0.file_id":"C10000000000000000000001"}`, ``, "1"},
		{`{"files":{"$elemMatch":{"file_id":"C10000000000000000000001","size":3}}}`, ``, "1"},
		{`{"files.file_id":{"$gt":"c10000000000000000000001"}}`, ``, "3"},
		{`{"files.file_id":{"$regex":"^c"}}`, ``, ""},
		{`{"files.file_id":{"$type":"objectId"}}`, ``, "31"},
		{`{"files.file_id":{"$type":"string"}}`, ``, ""},
		{`{"files.file_id":{"$ne":"x"}}`, ``, "312"},
		{`{"files.file_id":{"$in":["C10000000000000000000002",7]}}`, ``, "3"},
		{`{"files":[]}`, ``, "2"},
		{`{"files.size":{"$gt":3}}`, ``, "3"},
	} {
		ids, err := find(t.Context(), tx, board, "board b", row.filter, row.sort)
		require.NoError(t, err)
		got := ""
		for _, id := range ids {
			got += id[23:]
		}
		require.Equal(t, row.want, got, row.filter+row.sort)
	}
}

// A list among the elements of a list is one value to $elemMatch: its own elements do
// not count.
func TestFilter_listsInLists(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	_, err := tx.Exec(t.Context(), thingsTable)
	require.NoError(t, err)
	for id, doc := range map[string]string{
		"a00000000000000000000001": `{"a":[["x",4]]}`, "a00000000000000000000002": `{"a":["x",4]}`,
		"a00000000000000000000003": `[[{"k":1}],{"k":2}]`,
	} {
		_, err := tx.Exec(t.Context(),
			`INSERT INTO things VALUES ($1, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, '{}', '{}', '{}', $2::text::jsonb)`, id, doc)
		require.NoError(t, err)
	}
	for filter, want := range map[string]string{
		`{"doc.a":{"$elemMatch":{"$regex":"x"}}}`:                "2",
		`{"doc.a":{"$elemMatch":{"$mod":[2,0]}}}`:                "2",
		`{"doc.a":{"$elemMatch":{"$eq":"x"}}}`:                   "2",
		`{"doc.a":{"$elemMatch":{"$gt":3}}}`:                     "2",
		`{"doc.a":{"$elemMatch":{"$size":2}}}`:                   "1",
		`{"doc.a":{"$elemMatch":{"$eq":["x",4]}}}`:               "1",
		`{"doc.a":{"$elemMatch":{"$elemMatch":{"$regex":"x"}}}}`: "1",
		`{"doc.a":{"$elemMatch":{"0":"x"}}}`:                     "1",
		`{"doc.a":"x"}`:                                          "2",
		`{"doc.a":{"$regex":"x"}}`:                               "2",
		`{"doc.a":["x",4]}`:                                      "12",
		`{"doc":{"$elemMatch":{"k":1}}}`:                         "",
		`{"doc":{"$elemMatch":{"k":2}}}`:                         "3",
		`{"doc":{"$elemMatch":{"k":null}}}`:                      "3",
		`{"doc.k":{"$in":[1,2]}}`:                                "3",
		`{"doc.k":1}`:                                            "",
	} {
		ids, err := find(t.Context(), tx, things, "things t", filter, "")
		require.NoError(t, err)
		got := ""
		for _, id := range ids {
			got += id[23:]
		}
		require.Equal(t, want, got, filter)
	}
}
