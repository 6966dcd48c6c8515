package tickets_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/soak"
)

func TestEventsAreACollection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"code": "premiere-1", "event_end_date": nil})
	doc := docs(b.admin.Get("/events?_id=" + event.String()).Expect(200))[0]
	require.Equal(t, "PREMIERE-1", doc["code"])
	require.InDelta(t, 120.5, doc["ticket_value"], 0)
	require.InDelta(t, 0, doc["tickets_issued"], 0)
	require.Equal(t, doc["register_date"], doc["created_at"])
	a := b.admin.Post("/events", []object{{
		"title": "Other", "event_date": "2099-01-01", "code": "Premiere-1",
	}}).Expect(409)
	require.Equal(t, "CONFLICT", a.Code())
	require.Equal(t, "code", a.Field())
	require.Equal(t, "event_end_date", b.admin.Post("/events", []object{{
		"title": "x", "event_date": "2099-01-02", "event_end_date": "2099-01-01",
	}}).Expect(422).Field())
	require.Equal(t, "description", b.admin.Post("/events", []object{{
		"title": "x", "event_date": "2099-01-02", "description": strings.Repeat("é", 1001),
	}}).Expect(422).Field())
	b.admin.Post("/events", []object{{
		"title": "x", "event_date": "2099-01-02", "description": strings.Repeat("é", 1000),
	}}).Expect(200)
	require.Equal(t, "event_type", b.admin.Post("/events", []object{{
		"title": "x", "event_date": "2099-01-02", "event_type": "party",
	}}).Expect(422).Field())
	b.admin.Post("/events", []object{{
		"title": "past", "event_date": "2020-01-02",
	}}).Expect(200) // a start in the past is accepted
	b.me.Get("/events?_id=" + event.String()).Expect(403)
	b.nobody.Get("/events").Expect(401)
	b.me.Post("/events", []object{}).Expect(403)
	found := docs(b.me.Get("/events?query=" + url.QueryEscape(`{"ticket_value":{"$gt":120.4}}`)).Expect(200))
	require.Len(t, found, 1)
	b.admin.Delete("/events?_id="+event.String(), nil).Expect(200)
	b.admin.Delete("/events?_id="+event.String(), nil).Expect(404)
}

// TestTheRatingOfAnEvent is a field of the collection, by which it is filtered and sorted, and of the store.
func TestTheRatingOfAnEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unrated := b.event(nil)
	rated := b.event(object{"age_rating": "14", "rating_reasons": []string{"violence", "drogas lícitas"}})
	store := func(id objectid.ID) object {
		return b.nobody.Get("/store/events/" + id.String()).Expect(200).Map()
	}
	require.Equal(t, "14", store(rated)["age_rating"])
	require.Equal(t, []any{"violence", "drogas lícitas"}, store(rated)["rating_reasons"])
	require.Nil(t, store(unrated)["age_rating"])
	require.Equal(t, []any{}, store(unrated)["rating_reasons"])
	for query, want := range map[string]objectid.ID{
		`{"age_rating":"14"}`: rated, `{"age_rating":{"$in":["L","10"]}}`: "", `{"age_rating":null}`: unrated,
		`{"rating_reasons":"violence"}`: rated,
	} {
		found := docs(b.admin.Get("/events?query=" + url.QueryEscape(query)).Expect(200))
		if want == "" {
			require.Empty(t, found, query)
			continue
		}
		require.Len(t, found, 1, query)
		require.Equal(t, want.String(), found[0]["_id"], query)
	}
	b.admin.Put("/events", []object{{"_id": unrated, "age_rating": "L"}}).Expect(200)
	sorted := docs(b.admin.Get("/events?sort=" + url.QueryEscape(`{"age_rating":1}`)).Expect(200))
	require.Equal(t, "14", sorted[0]["age_rating"])
	require.Equal(t, "L", sorted[1]["age_rating"])
	for field, value := range map[string]any{"age_rating": "21", "rating_reasons": make([]string, 21)} {
		require.Equal(t, field, b.admin.Put("/events", []object{{
			"_id": rated, field: value,
		}}).Expect(422).Field())
	}
}

func TestCapacityBelowWhatIsIssuedIsAWarning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	b.me.Post("/store/purchase/gwb/card", cardB(event, 3, paymentstest.TokenApproved)).Expect(200)
	a := b.admin.Put("/events", []object{{"_id": event, "capacity": 2}}).Expect(200)
	warnings := a.Map()["info"].(object)["warnings"].([]any)
	require.Len(t, warnings, 1)
	require.Equal(t, "capacity", warnings[0].(object)["field"])
	require.Equal(t, 3, b.issued(event))
	doc := b.nobody.Get("/store/events/" + event.String()).Expect(200).Map()
	require.InDelta(t, 0, doc["available_tickets"], 0)
	b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(409)
	b.admin.Post("/tickets", object{"customer_id": b.customer.ID, "event_id": event}).Expect(409)
	require.Nil(t, b.admin.Put("/events", []object{{"_id": event, "capacity": 4}}).Expect(200).Map()["info"])
	b.give(b.customer.ID, event)
	require.Equal(t, 4, b.issued(event))
	require.Equal(t, "CONFLICT", b.admin.Delete("/events?_id="+event.String(), nil).Expect(409).Code())
}

func TestTheStoreShowsWhatIsOnSale(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.clock.Now()
	running := b.event(object{"title": "running", "event_date": now.Add(-2 * time.Hour).Format(time.RFC3339Nano)})
	b.event(object{"title": "over by the fallback", "event_date": now.Add(-4 * time.Hour).Format(time.RFC3339Nano)})
	long := b.event(object{
		"title": "long", "event_date": now.Add(-48 * time.Hour).Format(time.RFC3339Nano),
		"event_end_date": now.Add(time.Hour).Format(time.RFC3339Nano), "capacity": nil, "ticket_value": nil,
	})
	hidden := b.event(object{"title": "not for sale", "is_sale_box_office": false})
	b.event(object{"title": "inactive", "is_active": false})
	events := b.nobody.Get("/store/events").Expect(200).Map()["events"].([]any)
	require.Len(t, events, 2)
	require.Equal(t, long.String(), events[0].(object)["_id"])
	require.Nil(t, events[0].(object)["available_tickets"])
	require.Nil(t, events[0].(object)["ticket_value"])
	require.Nil(t, events[0].(object)["image_url"])
	require.Equal(t, running.String(), events[1].(object)["_id"])
	require.InDelta(t, 100, events[1].(object)["available_tickets"], 0)
	b.nobody.Get("/store/events/" + hidden.String()).Expect(404)
	b.nobody.Get("/store/events/nothing").Expect(422)
	b.clock.Advance(2 * time.Hour)
	require.Empty(t, b.nobody.Get("/store/events").Expect(200).Map()["events"])
}

func TestPurchaseErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"capacity": 2})
	closed := b.event(object{"is_sale_box_office": false})
	over := b.event(object{"event_date": b.clock.Now().Add(-4 * time.Hour).Format(time.RFC3339Nano)})
	cheap := b.event(object{"ticket_value": 1.5})
	for _, path := range []string{"gwa/card", "gwa/pix", "gwb/card", "gwb/pix"} {
		path = "/store/purchase/" + path
		require.Equal(t, "NOT_FOUND", b.me.Post(path, pix(objectid.New(), 1)).Expect(404).Code())
		require.Equal(t, "VALIDATION_ERROR", b.me.Post(path, pix(closed, 1)).Expect(400).Code())
		require.Equal(t, "VALIDATION_ERROR", b.me.Post(path, pix(over, 1)).Expect(400).Code())
		require.Equal(t, "CONFLICT", b.me.Post(path, pix(event, 3)).Expect(409).Code())
		for _, quantity := range []any{0, -1, 1 << 31, 1.5, "2", nil, 11} {
			a := b.me.Post(path, object{"event_id": event, "quantity": quantity}).Expect(422)
			require.Equal(t, "quantity", a.Field(), "%v", quantity)
		}
		b.me.Post(path, object{"event_id": "x", "quantity": 1}).Expect(422)
		b.me.Post(path, object{"event_id": event, "quantity": 1, "promo": "x"}).Expect(422)
		b.nobody.Post(path, pix(event, 1)).Expect(401)
		b.admin.Post(path, pix(event, 1)).Expect(403)
	}
	require.Equal(t, "credit_card", b.me.Post("/store/purchase/gwa/card", pix(event, 1)).Expect(400).Field())
	body := cardA(event, 1, "12")
	require.Equal(t, "credit_card.number", b.me.Post("/store/purchase/gwa/card", body).Expect(400).Field())
	require.Equal(t, "payment_method_id", b.me.Post("/store/purchase/gwb/card", pix(event, 1)).Expect(400).Field())
	b.me.Post("/store/purchase/gwa/pix", pix(cheap, 1)).Expect(400)
	b.me.Post("/store/purchase/gwa/pix", pix(cheap, 4)).Expect(200)
	require.Equal(t, 0, b.issued(event))
}

func TestHotQueriesUseTheirIndexesLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	b := setup(t)
	b.unsound = []string{"orders_match_ledger", "paid_orders_have_tickets"} // orders without money and tickets
	_, err := b.db.Exec(t.Context(), `
		INSERT INTO tickets.customers (id, name, email) SELECT lpad(to_hex(i), 24, '0'), 'n', 'e' FROM generate_series(1, 2000) i;
		INSERT INTO tickets.events (id, title, event_date, is_sale_box_office) SELECT 'e' || lpad(to_hex(i), 23, '0'), 't', now() + (i - 1000) * interval '1 day', i % 2 = 0 FROM generate_series(1, 2000) i;
		INSERT INTO tickets.tickets (event_id, customer_id, title, status, reason)
			SELECT 'e' || lpad(to_hex(1 + i % 2000), 23, '0'), lpad(to_hex(1 + i % 1999), 24, '0'), 't', 'available', 'admin' FROM generate_series(1, 20000) i;
		INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, payment_status, state, intent_open, created_at, updated_at)
			SELECT 'a' || lpad(to_hex(i), 23, '0'), lpad(to_hex(1 + i % 1999), 24, '0'), 'e' || lpad(to_hex(1 + i % 2000), 23, '0'), 1, 1, 1, 'gwa', 'pix', 'RECEIVED', 'paid', false, now(), now() FROM generate_series(1, 20000) i;
		INSERT INTO tickets.declines (subject, mac, at) SELECT 'card', sha256(i::text::bytea), now() FROM generate_series(1, 5000) i;
		ANALYZE tickets.declines; ANALYZE tickets.events; ANALYZE tickets.tickets; ANALYZE tickets.orders; ANALYZE tickets.customers;`)
	require.NoError(t, err)
	const customer = "'000000000000000000000001'"
	for name, c := range map[string]struct{ query, index string }{
		"store": {
			"SELECT * FROM tickets.events WHERE is_sale_box_office AND is_active AND ends_at > now() + interval '900 days'",
			"events_on_sale",
		},
		"own tickets": {"SELECT * FROM tickets.tickets WHERE customer_id = " + customer, "tickets_by_customer"},
		"own orders": {
			"SELECT * FROM tickets.orders WHERE customer_id = " + customer +
				" ORDER BY created_at DESC, id DESC LIMIT 1000",
			"orders_by_customer",
		},
		"held": {
			"SELECT o.id FROM tickets.orders o WHERE o.state = 'reserved' AND o.hold_until <= now()", "orders_held",
		},
		"by payment": {
			"SELECT * FROM tickets.orders WHERE gateway = 'gwa' AND gateway_payment_id = 'pay_1'",
			"orders_gateway_payment_unique",
		},
		"of an order": {
			"SELECT * FROM tickets.tickets WHERE order_id = 'aaaaaaaaaaaaaaaaaaaaaaaa'", "tickets_by_order",
		},
		"declines": {
			"SELECT count(*) FROM tickets.declines WHERE subject = 'card' AND mac = '\\x00' AND at > now()",
			"declines_by",
		},
	} {
		rows, err := b.db.Query(t.Context(), "EXPLAIN "+c.query)
		require.NoError(t, err)
		var plan strings.Builder
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			fmt.Fprintln(&plan, line)
		}
		require.NoError(t, rows.Err())
		require.Contains(t, plan.String(), c.index, name)
		require.NotContains(t, plan.String(), "Seq Scan", name)
	}
}
