package lookup

import (
	"strconv"
	"strings"
)

// Rank says how well a record fits: the best comes first.
type Rank int

// The ranks.
const (
	Exact     Rank = iota // what was typed names this record and no other
	Whole                 // a name or title is just that
	Beginning             // a name, address or title begins with it
	Within                // it is somewhere in it
)

// Finder is how records of one kind are found. All of its SQL is a constant of the program, over the row t.
type Finder struct {
	Kind  string // in a hit, such as "promo_code"
	Route string // handler name of the route that shows them: whoever may call it may find them
	From  string // FROM clause
	Where string // what every record that the route shows meets; "" for nothing
	// Title and Note are texts that people know the record by; null is shown as "".
	Title, Note string
	// Customer is the id of the customer whose it is; "" for nobody's.
	Customer string
	// Order is the id of the ticket order that it is of; "" for none.
	Order string
	By    []By // the ways to find it, the surest first
}

// By is one way in which a record is found.
type By struct {
	Name   string // in a hit, such as "email"
	Rank   Rank
	Values Values
	Where  string // condition, with $1 for the value; it has to hold for each value
	// From takes the place of the finder's. It may name $1 too.
	From string
	// OrderBy is the order in which the first Limit are taken: one that an index gives.
	OrderBy string
	Limit   int // default most
}

// candidate is one SELECT of a statement: a finder's way, by their places.
type candidate struct{ finder, by int }

// statement is what finds a term among the finders; sql is "" when nothing could.
func statement(finders []Finder, t Term) (sql string, args []any) {
	var selects []string
	for i, f := range finders {
		for j, by := range f.By {
			values := by.Values(t)
			if len(values) == 0 {
				continue
			}
			selects = append(selects, f.selects(candidate{i, j}, values, &args))
		}
	}
	return strings.Join(selects, "\nUNION ALL "), args
}

// selects is the SELECT of one way: finder, way, place within it, id, title, note, customer, order.
func (f Finder) selects(c candidate, values []string, args *[]any) string {
	by := f.By[c.by]
	from, limit := f.From, most
	if by.From != "" {
		from = by.From
	}
	if by.Limit > 0 {
		limit = by.Limit
	}
	conditions := []string{}
	if f.Where != "" {
		conditions = append(conditions, "("+f.Where+")")
	}
	for i, v := range values {
		*args = append(*args, v)
		value := "$" + strconv.Itoa(len(*args)) + "::text"
		conditions = append(conditions, "("+strings.ReplaceAll(by.Where, "$1", value)+")")
		if i == 0 {
			from = strings.ReplaceAll(from, "$1", value)
		}
	}
	order := ""
	if by.OrderBy != "" {
		order = " ORDER BY " + by.OrderBy
	}
	return "SELECT " + strconv.Itoa(c.finder) + ", " + strconv.Itoa(c.by) + ", row_number() OVER (), x.* FROM (SELECT t.id::text, " +
		textOr(f.Title, "''") + ", " + textOr(f.Note, "''") + ", " + textOr(f.Customer, "NULL") +
		", " + textOr(f.Order, "NULL") +
		" FROM " + from + " WHERE " + strings.Join(conditions, " AND ") + order + " LIMIT " +
		strconv.Itoa(limit) + ") x"
}

// textOr is an expression as text, null as the other one.
func textOr(expr, other string) string {
	if expr == "" {
		return other + "::text"
	}
	return "coalesce((" + expr + ")::text, " + other + ")"
}
