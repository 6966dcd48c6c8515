package gwa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
	_ "time/tzdata" // the gateway's zone has to be known on machines without zone files

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/objectid"
)

// Kinds of objects in the gateway's words. Authorizations tell none.
const (
	kindCustomer     = "customer"
	kindSubscription = "subscription"
	kindPayment      = "payment"
)

// errNotThere is an answer of 404. It proves nothing by itself: the gateway's own
// may have an empty body, and a proxy gives one, too.
var errNotThere = errors.New("answered 404")

// taking reads a 2xx answer into a new value that has passed its check.
func taking[T any](into **T, check func(*T) error) func(raw []byte) error {
	return func(raw []byte) error {
		got := new(T)
		if json.Unmarshal(raw, got) != nil {
			return reply.Odd("it is not the JSON that was expected")
		}
		if err := check(got); err != nil {
			return err
		}
		*into = got
		return nil
	}
}

// get reads; an odd answer is ErrUnavailable.
func get[T any](ctx context.Context, g *client, path string, query url.Values, check func(*T) error) (*T, error) {
	return repeated(ctx, g, request{method: http.MethodGet, path: path, query: query, timeout: g.cfg.Timeout}, check)
}

// repeated makes a call whose repetition is harmless.
func repeated[T any](ctx context.Context, g *client, r request, check func(*T) error) (got *T, err error) {
	r.take = taking(&got, check)
	return got, g.repeat(ctx, r)
}

// post is made once: the gateway knows no idempotency keys. An odd answer is
// ErrOutcomeUnknown.
func post[T any](ctx context.Context, g *client, r request, check func(*T) error) (got *T, err error) {
	if r.method == "" {
		r.method = http.MethodPost
	}
	r.take = taking(&got, check)
	return got, translated(g.call(ctx, r), true)
}

type identified interface{ identity() reply.Identity }

// list is the envelope of lists.
type list[T any] struct {
	Object     string `json:"object"`
	TotalCount *int   `json:"totalCount"`
	HasMore    bool   `json:"hasMore"`
	Data       []T    `json:"data"`
}

// check wants the envelope of a list and an id in each of its rows.
func (l *list[T]) check() error {
	switch {
	case l.Object != "list" || l.TotalCount == nil || l.Data == nil:
		return reply.Odd("it is no list")
	case *l.TotalCount < len(l.Data):
		return reply.Odd("it counts fewer rows than it has")
	}
	for i := range l.Data {
		if row, ok := any(&l.Data[i]).(identified); ok && row.identity().ID == "" {
			return reply.Odd("a row of it has no id")
		}
	}
	return nil
}

// maxPages bounds how far a list is read.
const maxPages = 50

// each reads a list page by page until f answers false.
func each[T any](ctx context.Context, g *client, path string, query url.Values, f func(*T) bool) error {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", "100")
	seen := 0
	for page := range maxPages {
		query.Set("offset", strconv.Itoa(page*100))
		got, err := get(ctx, g, path, query, (*list[T]).check)
		if err != nil {
			return err
		}
		for i := range got.Data {
			if !f(&got.Data[i]) {
				return nil
			}
		}
		seen += len(got.Data)
		if !got.HasMore {
			if seen < *got.TotalCount {
				return fmt.Errorf("%w: the list tells %d of its %d rows", gateway.ErrUnavailable, seen, *got.TotalCount)
			}
			return nil
		}
	}
	return fmt.Errorf("%w: the list has more than %d entries", gateway.ErrUnavailable, maxPages*100)
}

// find is the first row of a list that is what is looked for, nil without any.
func find[T any](ctx context.Context, g *client, path string, query url.Values,
	is func(*T) bool,
) (found *T, err error) {
	err = each(ctx, g, path, query, func(row *T) bool {
		if is(row) {
			found = row
		}
		return found == nil
	})
	return found, err
}

// named is a list by our reference.
func named(local objectid.ID) url.Values { return url.Values{"externalReference": {local.String()}} }

// missing finishes the look of a call that was answered with 404: the error
// becomes gateway.ErrMissing when the list by our reference, in the same look,
// holds nothing of that id. Another row's reference means that the list is not the
// one asked for.
func missing[T any, P interface {
	*T
	identified
}](ctx context.Context, g *client, err error, path, id string, local objectid.ID) error {
	if !errors.Is(err, errNotThere) || local == "" {
		return err
	}
	return absent(ctx, g, err, path, named(local), func(row *T) bool {
		t := P(row).identity()
		return t.ID == id || t.Reference != local.String()
	})
}

// absent is gateway.ErrMissing when no row of the list is in the way, else err.
func absent[T any](ctx context.Context, g *client, err error, path string, query url.Values,
	inTheWay func(*T) bool,
) error {
	there, failed := find(ctx, g, path, query, inTheWay)
	switch {
	case failed != nil:
		return fmt.Errorf("%w; looked for: %w", err, reply.Unnamed(failed))
	case there != nil:
		return fmt.Errorf("%w, but the list shows it", err)
	}
	return fmt.Errorf("%w: %w, and the list does not show it", gateway.ErrMissing, reply.Unnamed(err))
}

// remove deletes. It is done when the answer says so of that id.
func (g *client) remove(ctx context.Context, path, id string) error {
	type deletion struct {
		ID      string `json:"id"`
		Deleted bool   `json:"deleted"`
	}
	_, err := repeated(ctx, g, request{
		method: http.MethodDelete, path: path + "/" + url.PathEscape(id),
		timeout: g.cfg.Timeout,
	}, func(d *deletion) error {
		if !d.Deleted {
			return reply.Odd("it does not say that it was deleted")
		}
		return reply.Identity{ID: d.ID}.Check(reply.Identity{ID: id})
	})
	return err
}

// The gateway's forms of days and times (docs/gateway-facts.md, A10), day first with slashes.
var dateForms = []string{time.DateOnly, time.DateTime, "02/01/2006", "02/01/2006 15:04:05"}

// saoPaulo is the zone in which the gateway keeps its days.
func saoPaulo() *time.Location {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		return time.FixedZone("-03", -3*60*60) // never: tzdata is linked in
	}
	return zone
}

// parseDate reads any of the four forms; the result is UTC, of a bare day its
// 00:00 in the zone. Ok is false for anything else.
func parseDate(s string, zone *time.Location) (t time.Time, ok bool) {
	for _, form := range dateForms {
		if t, err := time.ParseInLocation(form, s, zone); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// date is a day or time as the gateway writes it. Anything that is no text is no
// date: a form that nobody knows must not fail an answer or an event.
type date string

// UnmarshalJSON never fails.
func (d *date) UnmarshalJSON(raw []byte) error {
	var s string
	_ = json.Unmarshal(raw, &s)
	*d = date(s)
	return nil
}

// in returns the instant, nil when there is none.
func (d date) in(zone *time.Location) *time.Time {
	t, ok := parseDate(string(d), zone)
	if !ok {
		return nil
	}
	return &t
}

func firstDate(zone *time.Location, dates ...date) *time.Time {
	for _, d := range dates {
		if t := d.in(zone); t != nil {
			return t
		}
	}
	return nil
}

// dueDay writes the day on which a charge falls due: that of the terms, in their
// zone, but none that is over where the gateway is, which it refuses.
func (g *client) dueDay(t time.Time) string {
	return max(day(t, g.cfg.Days), day(g.cfg.Clock.Now(), g.cfg.Zone))
}

// day writes the day of an instant in the zone.
func day(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateOnly) }

// ref is an id, or an object with an id.
type ref string

// UnmarshalJSON takes anything else as no reference.
func (r *ref) UnmarshalJSON(raw []byte) error {
	*r = ""
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*r = ref(s)
		return nil
	}
	var o struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &o) == nil {
		*r = ref(o.ID)
	}
	return nil
}

// reference is the local id that was told, "" when it is none of ours.
func reference(external *string) objectid.ID {
	if external == nil {
		return ""
	}
	id, err := objectid.Parse(*external)
	if err != nil {
		return ""
	}
	return id
}

func idOf(raw json.RawMessage) ref {
	var id ref
	if len(raw) > 0 {
		_ = id.UnmarshalJSON(raw)
	}
	return id
}

func firstID(ids ...ref) string {
	for _, id := range ids {
		if id != "" {
			return string(id)
		}
	}
	return ""
}
