package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// volatile are what differs between two right answers: ids, instants, secrets and signatures.
var volatile = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`), "‹token›"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)`), "‹instant›"},
	{regexp.MustCompile(`"(archive_token|signature)": ?"[^"]+"`), `"$1":"‹secret›"`},
	{regexp.MustCompile(`(evt|in|sub)_bench_\w+`), "‹$1›"},
	{regexp.MustCompile(`\b[0-9a-f]{24}\b`), "‹id›"},
	{regexp.MustCompile(`\b1[0-9]{9}\b`), "‹second›"},
}

// masked is an answer or a row without what is its own.
func masked(text []byte) []byte {
	for _, o := range volatile {
		text = o.form.ReplaceAll(text, []byte(o.as))
	}
	return text
}

// compareResponses asks both sides and holds their answers to each other: byte for byte, but for
// what is each one's own where mask is set. It returns ours.
func (b *bench) compareResponses(ctx context.Context, ours, beside request, mask bool) ([]byte, error) {
	code, body, err := b.ours.do(ctx, ours)
	if err != nil {
		return nil, err
	}
	otherCode, other, err := b.beside.do(ctx, beside)
	if err != nil {
		return nil, err
	}
	one, two := body, other
	if mask {
		one, two = masked(body), masked(other)
	}
	if code/100 != 2 || code != otherCode || !bytes.Equal(one, two) {
		return nil, fmt.Errorf("the answers to %s %s differ:\n%d %s\n%d %s", ours.Method, ours.Path, code, one,
			otherCode, two)
	}
	return body, nil
}

// compareRows holds what both sides have written to each other. The statement yields a row's
// text for what $1 names.
func compareRows(ctx context.Context, conn *pgx.Conn, sql, ours, beside string) error {
	var rows [2]string
	for i, name := range []string{ours, beside} {
		found, err := conn.Query(ctx, sql, name)
		if err != nil {
			return fmt.Errorf("compare what was written: %w", err)
		}
		all, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("compare what was written: %w", err)
		}
		for n := range all {
			all[n] = string(masked([]byte(all[n])))
		}
		slices.Sort(all) // ids of their own have ordered them
		rows[i] = strings.Join(all, "\n")
	}
	if rows[0] != rows[1] {
		return fmt.Errorf("the rows that were written differ:\n%s\n\n%s", rows[0], rows[1])
	}
	return nil
}
