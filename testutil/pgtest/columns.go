package pgtest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
)

// Compared fails unless a change of a row is seen in each of its columns, in that one alone;
// the fixed ones never change.
func Compared[R any](t testing.TB, columns postgres.Columns[R], fixed ...string) {
	t.Helper()
	row := reflect.TypeFor[R]()
	for i := range row.NumField() {
		name := columnOf(row.Field(i).Name)
		if slices.Contains(fixed, name) {
			continue
		}
		var before, after R
		fill(t, reflect.ValueOf(&after).Elem().Field(i))
		differ := columns.Differing(&before, &after)
		require.Len(t, differ, 1, name)
		require.Equal(t, name, differ[0].Name)
	}
	require.Len(t, columns, row.NumField()-len(fixed))
}

// Fill sets the columns of a row to values that they did not have.
func Fill[R any](t testing.TB, row *R, columns ...string) {
	t.Helper()
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		if slices.Contains(columns, columnOf(v.Type().Field(i).Name)) {
			fill(t, v.Field(i))
		}
	}
}

// columnOf is the column of a row's field.
func columnOf(field string) string {
	name := regexp.MustCompile(`ID|[A-Z]`).ReplaceAllStringFunc(field,
		func(s string) string { return "_" + strings.ToLower(s) })
	return strings.TrimPrefix(name, "_")
}

func fill(t testing.TB, field reflect.Value) {
	t.Helper()
	at := time.Date(2031, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	switch field.Interface().(type) {
	case *time.Time:
		field.Set(reflect.ValueOf(&at))
	case *string:
		field.Set(reflect.ValueOf(new("filled")))
	case *int32:
		field.Set(reflect.ValueOf(new(int32(7))))
	case []byte:
		field.SetBytes([]byte("filled"))
	case bool:
		field.SetBool(!field.Bool())
	case int32, int64:
		field.SetInt(field.Int() + 7)
	default:
		require.Equal(t, reflect.String, field.Kind(), "a kind of field that the test does not know: %s", field.Type())
		field.SetString("filled")
	}
}
