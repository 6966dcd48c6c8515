package postgres

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Columns are the columns of a table that changes of its rows write, each with its value in
// a row. What else a row has is written once, when it is inserted.
type Columns[R any] []struct {
	Name string
	Of   func(r *R) any
}

// Differing are those in which two rows differ.
func (c Columns[R]) Differing(before, after *R) (differ Columns[R]) {
	for _, column := range c {
		if !same(column.Of(before), column.Of(after)) {
			differ = append(differ, column)
		}
	}
	return differ
}

func same(a, b any) bool {
	if at, ok := a.(*time.Time); ok {
		other, _ := b.(*time.Time)
		return at == nil && other == nil || at != nil && other != nil && at.Equal(*other)
	}
	return reflect.DeepEqual(a, b)
}

// Outside are the names of those that are not among the named.
func (c Columns[R]) Outside(named []string) (more []string) {
	for _, column := range c {
		if !slices.Contains(named, column.Name) {
			more = append(more, column.Name)
		}
	}
	return more
}

// Update runs an update, in which %s stands for what sets them, such as ", state = $4", behind
// something that the update sets in any case. It answers how many rows it changed. What happens
// often writes the same few sets of columns: each is prepared once a connection.
func (c Columns[R]) Update(ctx context.Context, tx pgx.Tx, update string, row *R, args ...any) (int64, error) {
	update, args = c.set(update, row, args)
	tag, err := tx.Exec(ctx, update, args...)
	return tag.RowsAffected(), err
}

// UpdateLater is Update by ChangeLater, with the error of an update that changes no row.
func (c Columns[R]) UpdateLater(ctx context.Context, tx pgx.Tx, unchanged error, update string, row *R,
	args ...any,
) error {
	update, args = c.set(update, row, args)
	return ChangeLater(ctx, tx, unchanged, update, args...)
}

// set puts the columns into an update.
func (c Columns[R]) set(update string, row *R, args []any) (string, []any) {
	var set strings.Builder
	args = slices.Clone(args)
	for _, column := range c {
		args = append(args, column.Of(row))
		fmt.Fprintf(&set, ", %s = $%d", column.Name, len(args))
	}
	return fmt.Sprintf(update, set.String()), args
}
