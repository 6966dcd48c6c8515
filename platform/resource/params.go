package resource

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/query"
)

// The parameters of a collection GET.
const (
	paramID          = "_id"
	paramQuery       = query.ParamQuery
	paramSort        = query.ParamSort
	paramPageSize    = "qty_docs_page"
	paramCurrentPage = "current_page"
	paramRange       = "docs_range"
	paramSearch      = "q" // of GET /search alone
)

// Params are the parameters of a collection GET, checked but for the filter and
// the sort.
type Params struct {
	ID    objectid.ID // set: that record alone
	Query string
	Sort  string
	Page  int // zero-based; 0 under a range
	Size  int
	Range bool // docs_range is in force: the rows from Start, Size of them
	Start int  // zero-based first row of a range

	Search string // words to find, best match first unless Sort is set; "" is no search

	// Only is what the server adds to the client's filter, such as whose records
	// they are: the ones that hold these values. They are as if there were no others.
	Only []Only
}

// Only demands a value of a text or id field.
type Only struct{ Field, Value string }

// Offset is the number of rows before the page.
func (p Params) Offset() int {
	if p.Range {
		return p.Start
	}
	return p.Page * p.Size
}

// ParseParams reads the parameters of a request's address (docs/contract/collections.md, Reading). Unknown parameters
// are ignored. Errors are 422.
func (v *View) ParseParams(u *url.URL) (Params, error) {
	p := Params{Size: v.resource.def.PageSize}
	if u.RawQuery == "" {
		return p, nil
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return p, fault.InvalidAt("is not correctly percent-encoded", "query")
	}
	one := map[string]string{}
	for _, name := range []string{paramID, paramQuery, paramSort, paramPageSize, paramCurrentPage, paramRange} {
		given := values[name]
		switch {
		case len(given) > 1:
			return p, invalidParam(name, "is given more than once")
		case len(given) == 1 && !utf8.ValidString(given[0]):
			return p, invalidParam(name, "is not valid UTF-8")
		case len(given) == 1:
			one[name] = given[0]
		}
	}
	p.Query, p.Sort = one[paramQuery], one[paramSort]
	if id := one[paramID]; id != "" {
		p.ID, err = objectid.Parse(id)
		if err != nil {
			return p, invalidParam(paramID, err.Error())
		}
		return p, nil // it wins over all the others
	}
	if p.Size, err = intParam(paramPageSize, one[paramPageSize], p.Size, 1, query.MaxPageSize); err != nil {
		return p, err
	}
	if p.Page, err = intParam(paramCurrentPage, one[paramCurrentPage], 0, 0, query.MaxPage); err != nil {
		return p, err
	}
	return p, p.parseRange(one[paramRange])
}

func intParam(name, text string, def, low, high int) (int, error) {
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalidParam(name, "has to be a whole number")
	}
	if n < low || n > high {
		return 0, invalidParam(name, "has to be from "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
	}
	return n, nil
}

// parseRange reads "(start, end)"; "(0, 0)" and the empty text mean no range.
func (p *Params) parseRange(text string) error {
	if text == "" {
		return nil
	}
	inner, opened := strings.CutPrefix(strings.TrimSpace(text), "(")
	inner, closed := strings.CutSuffix(inner, ")")
	first, second, two := strings.Cut(inner, ",")
	start, okStart := rangeBound(first)
	end, okEnd := rangeBound(second)
	switch {
	case !opened || !closed || !two || !okStart || !okEnd:
		return invalidParam(paramRange, "has to be two whole numbers in parentheses, such as (0, 10)")
	case start == 0 && end == 0:
		return nil
	case end <= start:
		return invalidParam(paramRange, "has to end after its start")
	case end-start > query.MaxPageSize:
		return invalidParam(paramRange, "spans more than "+strconv.Itoa(query.MaxPageSize)+" documents")
	}
	p.Range, p.Start, p.Size, p.Page = true, start, end-start, 0
	return nil
}

func rangeBound(text string) (int, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n <= math.MaxInt32
}

// invalidParam is the 422 for a query parameter.
func invalidParam(name, msg string) error { return fault.InvalidAt(msg, "query", name) }
