package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Part is a query of at most one row that shares a statement with others. So modules that
// may not name each other's schemas answer a request in one round trip and from one snapshot
// (design page performance, point 3). Its text is a constant: statements are kept by it.
type Part struct {
	SQL     string // parameters count from $1
	Args    []any
	Targets []any  // where the columns go; each takes NULL, which all are without a row
	Done    func() // called once the targets are filled
}

// Parts are asked together.
type Parts []Part

// Ask runs the parts as one statement.
func (p Parts) Ask(ctx context.Context, db DB) error {
	sql, args := p.statement()
	return p.scan(db.QueryRow(ctx, sql, args...))
}

// Queue adds the parts to the batch as one statement.
func (p Parts) Queue(b *pgx.Batch) {
	sql, args := p.statement()
	b.Queue(sql, args...).QueryRow(p.scan)
}

func (p Parts) scan(row pgx.Row) error {
	var targets []any
	for _, part := range p {
		targets = append(targets, part.Targets...)
	}
	if err := row.Scan(targets...); err != nil {
		return err
	}
	for _, part := range p {
		part.Done()
	}
	return nil
}

// most is how many parts a statement takes.
const most = 4

// joined keeps the statements by the texts of their parts.
var joined sync.Map // [most]string → string

func (p Parts) statement() (sql string, args []any) {
	var key [most]string
	for i, part := range p {
		key[i] = part.SQL
		args = append(args, part.Args...)
	}
	if known, ok := joined.Load(key); ok {
		return known.(string), args //nolint:forcetypeassert // nothing else is kept there
	}
	sql = p.join()
	joined.Store(key, sql)
	return sql, args
}

var parameter = regexp.MustCompile(`\$\d+`)

// join counts each part's parameters on from those before it. A part without a row leaves
// its columns NULL instead of taking the others' away.
func (p Parts) join() string {
	columns, tables, before := make([]string, len(p)), "(VALUES (1)) one", 0
	for i, part := range p {
		text := parameter.ReplaceAllStringFunc(part.SQL, func(name string) string {
			n, _ := strconv.Atoi(name[1:])
			return "$" + strconv.Itoa(n+before)
		})
		columns[i] = fmt.Sprintf("part%d.*", i+1)
		tables += fmt.Sprintf(" LEFT JOIN (%s) part%d ON true", text, i+1)
		before += len(part.Args)
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + tables
}
