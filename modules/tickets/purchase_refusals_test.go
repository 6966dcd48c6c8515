package tickets_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// TestRefusals: what the routes of tickets and the door do not take.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	over := b.event(object{"event_date": b.clock.Now().Add(-4 * time.Hour).Format(time.RFC3339Nano)})
	unknown := objectid.New().String()
	code := b.code(b.give(b.customer.ID, event))
	at := b.clock.Now().Format(time.RFC3339)
	many := make([]object, 1001)
	for i := range many {
		many[i] = object{"qr_payload": "x", "scanned_at": at}
	}
	for name, c := range map[string]struct {
		status, got int
	}{
		"give a ticket to an event that is over": {
			400, b.admin.Post("/tickets", object{"customer_id": b.customer.ID, "event_id": over}).Status,
		},
		"give a ticket, malformed event": {
			422, b.admin.Post("/tickets", object{"customer_id": b.customer.ID, "event_id": "x"}).Status,
		},
		"give a ticket, long title": {
			422,
			b.admin.Post("/tickets", object{
				"customer_id": b.customer.ID, "event_id": event, "title": string(make([]byte, 201)),
			}).Status,
		},
		"change an unknown ticket": {
			404, b.admin.Put("/tickets", []object{{"_id": unknown, "title": "x"}}).Status,
		},
		"delete an unknown ticket": {404, b.admin.Delete("/tickets?_id="+unknown, nil).Status},
		"change an unknown event": {
			404, b.admin.Put("/events", []object{{"_id": unknown, "title": "x"}}).Status,
		},
		"an order, malformed": {422, b.me.Get("/me/ticket-orders/x").Status},
		"an order, unknown":   {404, b.me.Get("/me/ticket-orders/" + unknown).Status},
		"an order, nobody":    {401, b.nobody.Get("/me/ticket-orders/" + unknown).Status},
		"an order, an admin":  {403, b.admin.Get("/me/ticket-orders/" + unknown).Status},
		"a code, malformed":   {422, b.me.Get("/me/tickets/x/qr").Status},
		"a code, unknown":     {404, b.me.Get("/me/tickets/" + unknown + "/qr").Status},
		"consume, malformed":  {422, b.me.Put("/tickets/x/consume", nil).Status},
		"consume, unknown":    {404, b.admin.Put("/tickets/"+unknown+"/consume", nil).Status},
		"scan nothing":        {422, b.admin.Post("/tickets/consume-qr", object{}).Status},
		"scan an empty text": {
			422, b.admin.Post("/tickets/consume-qr", object{"qr_payload": ""}).Status,
		},
		"scan a forged text": {
			400, b.admin.Post("/tickets/consume-qr", object{"qr_payload": "MT1.AAAA"}).Status,
		},
		"scan at a malformed event": {
			422, b.admin.Post("/tickets/consume-qr", object{"qr_payload": code, "event_id": "x"}).Status,
		},
		"upload no scans": {
			422, b.admin.Post("/tickets/consume-qr/batch", object{"scans": []object{}}).Status,
		},
		"upload too many scans": {
			422, b.admin.Post("/tickets/consume-qr/batch", object{"scans": many}).Status,
		},
		"upload a scan without its instant": {
			422, b.admin.Post("/tickets/consume-qr/batch", object{"scans": []object{{"qr_payload": code}}}).Status,
		},
		"upload scans as a customer": {
			403, b.me.Post("/tickets/consume-qr/batch", object{"scans": many[:1]}).Status,
		},
		"upload scans as nobody": {
			401, b.nobody.Post("/tickets/consume-qr/batch", object{"scans": many[:1]}).Status,
		},
		"bundle of a malformed event": {422, b.admin.Get("/events/x/checkin-bundle").Status},
		"bundle as nobody": {
			401, b.nobody.Get("/events/" + event.String() + "/checkin-bundle").Status,
		},
		"an unknown event of the store": {404, b.nobody.Get("/store/events/" + unknown).Status},
		"a body that is no JSON":        {422, b.me.Post("/store/purchase/gwb/pix", "{").Status},
		"a list where an object is asked": {
			422, b.me.Post("/store/purchase/gwb/pix", []object{pix(event, 1)}).Status,
		},
		"an object where a list is asked": {
			422, b.admin.Post("/events", object{"title": "x", "event_date": "2099-01-01"}).Status,
		},
		"an event with a capacity below zero": {
			422, b.admin.Post("/events", []object{{"title": "x", "event_date": "2099-01-01", "capacity": -1}}).Status,
		},
		"an event with a price of three decimals": {
			422,
			b.admin.Post("/events", []object{{"title": "x", "event_date": "2099-01-01", "ticket_value": 1.005}}).Status,
		},
	} {
		require.Equal(t, c.status, c.got, name)
	}
	require.Equal(t, 1, b.issued(event))
}

func TestCheckoutRefusesQuantities(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	for _, path := range []string{"gwa/card", "gwa/pix", "gwb/card", "gwb/pix"} {
		for _, quantity := range []any{0, -1, 1 << 31, 1.5, "2", nil, 11} {
			body := guest(object{"event_id": event, "quantity": quantity}, "guest@example.com", guestCPF)
			require.Equal(t, "quantity", b.nobody.Post("/store/purchase/checkout/"+path, body).Expect(422).Field(),
				"%s %v", path, quantity)
		}
	}
	require.Zero(t, b.count("SELECT count(*) FROM accounts.users WHERE email = 'guest@example.com'"))
}

// TestUploadedScansThatWereNotGood: each scan has a result of its own.
func TestUploadedScansThatWereNotGood(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event, other := b.event(nil), b.event(nil)
	elsewhere, waiting, expired := b.give(b.customer.ID, other), b.give(b.customer.ID, event),
		b.give(b.customer.ID, event)
	codes := []string{b.code(elsewhere), b.code(waiting), b.code(expired)}
	b.admin.Put("/tickets", []object{{"_id": waiting, "status": "pending"}}).Expect(200)
	late := b.clock.Now().Add(31 * 24 * time.Hour)
	b.clock.Advance(32 * 24 * time.Hour)
	var scans []object
	for _, code := range codes {
		scans = append(scans, object{"qr_payload": code, "scanned_at": late.Format(time.RFC3339Nano)})
	}
	a := b.admin.Post("/tickets/consume-qr/batch", object{"event_id": event, "scans": scans}).Expect(200).Map()
	var results []string
	for _, r := range a["results"].([]any) {
		results = append(results, fmt.Sprint(r.(object)["result"], " ", r.(object)["conflict"]))
	}
	require.Equal(t, []string{"other_event true", "refused true", "expired true"}, results)
}
