package export

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5/pgtype"

	"marquee/platform/postgres"
)

// Rows runs a statement when it is ranged over and yields its rows as the server
// sends them; what is not read yet waits in the server. The statement gives one
// value a column, in their order: text, bigint (Integer, and Money in cents),
// float8 (Decimal, Percent), date, timestamptz, boolean. The slice is used again
// for each row.
func Rows(ctx context.Context, db postgres.DB, columns []Column, sql string, args ...any) iter.Seq2[[]Value, error] {
	return func(yield func([]Value, error) bool) {
		rows, err := db.Query(ctx, sql, args...)
		if err != nil {
			yield(nil, fmt.Errorf("read rows: %w", err))
			return
		}
		defer rows.Close()
		s := newScanner(columns)
		for rows.Next() {
			if err := rows.Scan(s.targets...); err != nil {
				yield(nil, fmt.Errorf("read row: %w", err))
				return
			}
			if !yield(s.values(), nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, fmt.Errorf("read rows: %w", err))
		}
	}
}

// scanner takes the values of one row after another without allocating any but
// the texts.
type scanner struct {
	columns []Column
	targets []any
	row     []Value
}

func newScanner(columns []Column) *scanner {
	s := &scanner{columns: columns, targets: make([]any, len(columns)), row: make([]Value, len(columns))}
	for i, c := range columns {
		switch c.Kind {
		case Integer, Money:
			s.targets[i] = &pgtype.Int8{}
		case Decimal, Percent:
			s.targets[i] = &pgtype.Float8{}
		case Date:
			s.targets[i] = &pgtype.Date{}
		case Timestamp:
			s.targets[i] = &pgtype.Timestamptz{}
		case Bool:
			s.targets[i] = &pgtype.Bool{}
		default:
			s.targets[i] = &pgtype.Text{}
		}
	}
	return s
}

func (s *scanner) values() []Value {
	for i, target := range s.targets {
		var v Value
		switch t := target.(type) {
		case *pgtype.Text:
			v = Value{Valid: t.Valid, Text: t.String}
		case *pgtype.Int8:
			v = Value{Valid: t.Valid, Int: t.Int64}
		case *pgtype.Float8:
			v = Value{Valid: t.Valid, Float: t.Float64}
		case *pgtype.Date:
			v = Value{Valid: t.Valid && t.InfinityModifier == pgtype.Finite, Time: t.Time}
		case *pgtype.Timestamptz:
			v = Value{Valid: t.Valid && t.InfinityModifier == pgtype.Finite, Time: t.Time}
		case *pgtype.Bool:
			v = Value{Valid: t.Valid}
			if t.Bool {
				v.Int = 1
			}
		}
		s.row[i] = v
	}
	return s.row
}
