package financetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// book is golden.txt, read.
type book struct {
	t        testing.TB
	now      time.Time
	facts    []fact
	line     int
	subjects []string             // the subscriptions that indented lines are about
	unborn   map[string]int       // subscriptions without history yet → their first fact
	born     map[string]time.Time // when each history begins
	status   map[string]string    // of each subscription, while writing
}

// fact is one thing that happened.
type fact struct {
	line  int
	at    time.Time
	write func(t testing.TB, tx pgx.Tx) error
}

func read(t testing.TB, text string) *book {
	t.Helper()
	b := &book{t: t, unborn: map[string]int{}, born: map[string]time.Time{}, status: map[string]string{}}
	for line := range strings.Lines(text) {
		b.line++
		indented := strings.HasPrefix(line, " ")
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case indented:
			b.history(words)
		default:
			verb, known := verbs[words[0]]
			require.True(t, known, "golden.txt:%d: %s", b.line, words[0])
			verb(b, words[1:])
		}
	}
	return b
}

var verbs = map[string]func(b *book, words []string){
	"now":              func(b *book, w []string) { b.now = b.time(w[0]) },
	"plan":             (*book).plan,
	"customers":        (*book).customers,
	"customer-deleted": (*book).deleted,
	"subscription":     func(b *book, w []string) { b.subscription(w[0], w[1], w[2:]); b.subjects = w[:1] },
	"subscriptions":    (*book).subscriptions,
	"more":             func(b *book, w []string) { b.subjects = w[:1] },
	"moved":            (*book).moved,
	"pay":              (*book).pay,
	"fail":             (*book).fail,
	"refund":           (*book).refund,
	"dispute":          (*book).dispute,
	"event":            (*book).event,
	"promo":            (*book).promo,
	"redemption":       (*book).redemption,
	"order":            (*book).order,
	"ticket":           (*book).ticket,
	"sale":             (*book).sale,
	"handback":         (*book).handback,
}

// inOrder is by time, and within one instant as in the file.
func (b *book) inOrder() []fact {
	slices.SortStableFunc(b.facts, func(x, y fact) int { return x.at.Compare(y.at) })
	return b.facts
}

func (b *book) time(s string) time.Time {
	b.t.Helper()
	if len(s) == len(time.DateOnly) {
		s += "T12:00:00Z"
	}
	at, err := time.Parse(time.RFC3339, s)
	require.NoError(b.t, err, "golden.txt:%d", b.line)
	return at
}

// Names are those of a range such as S11-S20, or a single name.
func Names(t testing.TB, s string) []string {
	t.Helper()
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		return []string{first}
	}
	return between(t, first, last)
}

func between(t testing.TB, first, last string) []string {
	t.Helper()
	var from, to int
	_, err := fmt.Sscanf(first[1:]+" "+last[1:], "%d %d", &from, &to)
	require.NoError(t, err)
	var all []string
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprintf("%c%02d", first[0], n))
	}
	return all
}

// add writes a statement at an instant. Its arguments reach the server as
// literals, whose type is that of where they stand.
func (b *book) add(at time.Time, sql string, args ...any) {
	b.facts = append(b.facts, fact{line: b.line, at: at, write: func(t testing.TB, tx pgx.Tx) error {
		return exec(t, tx, sql, args...)
	}})
}

func exec(t testing.TB, tx pgx.Tx, sql string, args ...any) error {
	_, err := tx.Exec(t.Context(), sql, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	return err
}

// columns turns column=value words into the SET list of an update. Values are
// written by us, in golden.txt.
func (b *book) columns(words []string) string {
	var set strings.Builder
	for _, w := range words {
		column, value, found := strings.Cut(w, "=")
		require.True(b.t, found, "golden.txt:%d: %s", b.line, w)
		switch {
		case strings.HasSuffix(column, "_at") || strings.HasSuffix(column, "_date"):
			value = b.time(value).Format(time.RFC3339)
		case column == "event_id":
			value = ID(value).String()
		}
		fmt.Fprintf(&set, ", %s = '%s'", column, value)
	}
	return set.String()
}
