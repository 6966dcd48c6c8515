package gwa

import (
	"net/url"
	"strconv"

	"marquee/testutil/sandbox/gwa/account"
)

// Bounds of lists (docs/gateway-facts.md, A1).
const (
	defaultLimit = 10
	maxLimit     = 100
)

// listView is the envelope of lists.
type listView[V any] struct {
	Object     string `json:"object"`
	HasMore    bool   `json:"hasMore"`
	TotalCount int    `json:"totalCount"`
	Limit      int    `json:"limit"`
	Offset     int    `json:"offset"`
	Data       []V    `json:"data"`
}

// page cuts out what limit and offset of the query name; a limit above 100 counts as 100.
func page[T, V any](q url.Values, all []T, view func(T) V) (listView[V], *account.APIError) {
	limit, err := number(q, "limit", defaultLimit)
	if err != nil {
		return listView[V]{}, err
	}
	offset, err := number(q, "offset", 0)
	if err != nil {
		return listView[V]{}, err
	}
	limit = min(max(limit, 1), maxLimit)
	from := min(offset, len(all))
	to := min(from+limit, len(all))
	v := listView[V]{
		Object: "list", HasMore: to < len(all), TotalCount: len(all), Limit: limit, Offset: offset, Data: []V{},
	}
	for _, o := range all[from:to] {
		v.Data = append(v.Data, view(o))
	}
	return v, nil
}

func number(q url.Values, name string, otherwise int) (int, *account.APIError) {
	s := q.Get(name)
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, account.BadRequest("invalid_"+name, "O parâmetro "+name+" é inválido.")
	}
	return n, nil
}

// match tells whether value is what the query names; an absent or empty parameter matches all.
func match(q url.Values, name, value string) bool {
	want := q.Get(name)
	return want == "" || want == value
}

// within tells whether a date lies in the span of name[ge] and name[le], or is name itself.
func within(q url.Values, name string, d account.Day) bool {
	ge, le := q.Get(name+"[ge]"), q.Get(name+"[le]")
	return match(q, name, string(d)) && (ge == "" || d != "" && string(d) >= ge) &&
		(le == "" || d != "" && string(d) <= le)
}

// included tells whether a removed object belongs to a list: only with includeDeleted or deletedOnly.
func included(q url.Values, deleted bool) bool {
	if q.Get("deletedOnly") == "true" {
		return deleted
	}
	return !deleted || q.Get("includeDeleted") == "true"
}
