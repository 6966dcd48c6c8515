package query_test

import (
	"context"
	_ "embed"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/query"
	"marquee/platform/query/querytest"
	"marquee/testutil/pgtest"
)

// videos is the registry of the contract's first sample collection.
var videos = &query.Collection{
	DefaultSort: `{"register_update_date":-1}`,
	Fields: map[string]query.Field{
		"_id":                  {Expr: "v.id", Kind: query.OID},
		"title":                {Expr: "v.title", Kind: query.String},
		"author":               {Expr: "v.author", Kind: query.String},
		"description":          {Expr: "v.description", Kind: query.String},
		"duration":             {Expr: "v.duration", Kind: query.Int},
		"enable":               {Expr: "v.enable", Kind: query.Bool},
		"tags":                 {Expr: "v.tags", Kind: query.String, Array: true},
		"category_id":          {Expr: "v.category_id", Kind: query.OID, Array: true},
		"release_date":         {Expr: "v.release_date", Kind: query.Date},
		"expiration_date":      {Expr: "v.expiration_date", Kind: query.Date, Nullable: true},
		"season_id":            {Expr: "v.season_id", Kind: query.OID, Nullable: true},
		"season_number":        {Expr: "v.season_number", Kind: query.Int, Nullable: true},
		"episode_number":       {Expr: "v.episode_number", Kind: query.Int, Nullable: true},
		"legacy_id":            {Expr: "v.legacy_id", Kind: query.String, Nullable: true},
		"register_update_date": {Expr: "v.register_update_date", Kind: query.Date},
	},
}

// webhookLogs is the registry of the second, for paths into jsonb.
var webhookLogs = &query.Collection{
	DefaultSort: `{"_id":1}`,
	Fields: map[string]query.Field{
		"_id":          {Expr: "w.id", Kind: query.OID},
		"event_id":     {Expr: "w.event_id", Kind: query.String},
		"gateway":      {Expr: "w.gateway", Kind: query.String},
		"processed":    {Expr: "w.processed", Kind: query.Bool},
		"processed_at": {Expr: "w.processed_at", Kind: query.Date, Nullable: true},
		"payload":      {Expr: "w.payload", Kind: query.JSON},
	},
}

// The tables behind them. collate is the clause of text columns: the product's is
// COLLATE "C", and without it the SQL has to give the same results.
func sampleTables(collate string) string {
	text := "text " + collate
	return `
CREATE TEMP TABLE videos (
	id platform.object_id PRIMARY KEY, title ` + text + ` NOT NULL, author ` + text + ` NOT NULL, description ` + text +
		` NOT NULL,
	duration integer NOT NULL, enable boolean NOT NULL, tags text[] ` + collate +
		` NOT NULL, category_id text[] NOT NULL,
	release_date timestamptz NOT NULL, expiration_date timestamptz, season_id platform.object_id,
	season_number integer, episode_number integer, legacy_id ` + text + `,
	register_update_date timestamptz NOT NULL DEFAULT '2024-05-05T00:00:00Z');
CREATE TEMP TABLE webhook_logs (
	id platform.object_id PRIMARY KEY, event_id ` + text + ` NOT NULL, gateway ` + text + ` NOT NULL,
	processed boolean NOT NULL, processed_at timestamptz, payload jsonb NOT NULL);
INSERT INTO videos SELECT r.*, '2024-05-05T00:00:00Z' FROM jsonb_to_recordset($videos$` + string(vectors.Videos) +
		`$videos$)
	AS r(_id text, title text, author text, description text, duration int, enable boolean, tags text[], category_id text[],
		release_date timestamptz, expiration_date timestamptz, season_id text, season_number int, episode_number int, legacy_id text);
INSERT INTO webhook_logs SELECT * FROM jsonb_to_recordset($logs$` + string(vectors.WebhookLogs) + `$logs$)
	AS r(_id text, event_id text, gateway text, processed boolean, processed_at timestamptz, payload jsonb);
CREATE INDEX ON videos USING gin (tags);
CREATE INDEX ON webhook_logs USING gin (payload jsonb_path_ops);`
}

// vectors is the contract's fixture: sample rows, and filters and sorts with their results.
var vectors = querytest.Vectors()

func target(v querytest.Case) (*query.Collection, string) {
	if v.Collection == "videos" {
		return videos, "videos v"
	}
	return webhookLogs, "webhook_logs w"
}

// setup is a transaction with the sample data.
func setup(t testing.TB) pgx.Tx {
	tx := pgtest.Tx(t)
	_, err := tx.Exec(t.Context(), sampleTables(`COLLATE "C"`))
	require.NoError(t, err)
	return tx
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// find runs a filter and a sort as a list route does, behind a base predicate with an
// argument of its own, and returns the ids.
func find(ctx context.Context, db querier, c *query.Collection, from, filter, sort string) ([]string, error) {
	f, err := query.Compile(c, filter, 2)
	if err != nil {
		return nil, err
	}
	s, err := query.CompileSort(c, sort, 2+len(f.Args))
	if err != nil {
		return nil, err
	}
	id := c.Fields["_id"].Expr
	sql := "SELECT " + id + " FROM " + from + " WHERE (" + id + " <> $1) AND " + f.SQL + " ORDER BY " + s.SQL
	args := append(append([]any{pgx.QueryExecModeExec, "none"}, f.Args...), s.Args...)
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("%w in %s %v", err, sql, args)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("%w in %s %v", err, sql, args)
	}
	return ids, nil
}
