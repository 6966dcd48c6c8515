package tickets_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/tickets"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

func TestTicketsByAdmin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"capacity": 2})
	ticket := b.give(b.customer.ID, event)
	doc := docs(b.admin.Get("/tickets?_id=" + ticket.String()).Expect(200))[0]
	require.Equal(t, b.customer.Email, doc["customer_email"])
	require.Equal(t, b.customer.FullName, doc["customer_name"])
	require.Equal(t, "Premiere", doc["event_title"])
	require.Nil(t, doc["ticket_order_id"])
	require.Equal(t, "available", doc["status"])
	require.Equal(t, 1, b.issued(event))
	b.admin.Post("/tickets", object{"customer_id": objectid.New(), "event_id": event}).Expect(404)
	b.admin.Post("/tickets", object{"customer_id": b.customer.ID, "event_id": objectid.New()}).Expect(404)
	b.admin.Post("/tickets", []object{}).Expect(422)
	b.me.Post("/tickets", object{"customer_id": b.customer.ID, "event_id": event}).Expect(403)
	b.me.Get("/tickets").Expect(403)

	changed := docs(b.admin.Put("/tickets", []object{{
		"_id": ticket, "title": "Row A", "status": "consumed", "customer_name": "ignored",
	}}).Expect(200))[0]
	require.Equal(t, "Row A", changed["title"])
	require.NotNil(t, changed["consumed_at"])
	back := docs(b.admin.Put("/tickets", []object{{"_id": ticket, "status": "available"}}).Expect(200))[0]
	require.Nil(t, back["consumed_at"])
	require.Equal(t, "customer_id", b.admin.Put("/tickets", []object{{
		"_id": ticket, "customer_id": objectid.New(),
	}}).Expect(422).Field())
	require.Equal(t, "status", b.admin.Put("/tickets", []object{{"_id": ticket, "status": "sold"}}).Expect(422).Field())
	b.admin.Delete("/tickets?_id="+ticket.String(), nil).Expect(200)
	require.Equal(t, 0, b.issued(event))
	blank := docs(b.admin.Post("/tickets", object{
		"customer_id": b.customer.ID, "event_id": event, "title": "  ",
	}).Expect(200))[0]
	require.Equal(t, "Premiere", blank["title"], "spaces are no title")
}

// TestOwnTicketsTakeEveryParameter: that the list is narrowed to its owner neither
// shows through the contract nor can be undone by a filter.
func TestOwnTicketsTakeEveryParameter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	other, _ := b.another()
	first, strangers := b.give(b.customer.ID, event), b.give(other.ID, event)
	b.give(b.customer.ID, event)
	nested := strings.Repeat(`{"$and":[`, 10) + "{}" + strings.Repeat("]}", 10)
	for query, found := range map[string]int{
		"": 2, "?query=null": 2, "?query=%20": 2, "?query=": 2, "?query=" + url.QueryEscape(nested): 2,
		"?_id=" + first.String(): 1,
		"?query=" + url.QueryEscape(`{"$or":[{},{"customer_id":"`+other.ID.String()+`"}]}`):        2,
		"?query=" + url.QueryEscape(`{"customer_id":"`+other.ID.String()+`"}`):                     0,
		"?query=" + url.QueryEscape(`{"event_title":{"$regex":"."}}`) + "&sort={\"created_at\":1}": 2,
		"?qty_docs_page=1&current_page=1":                                                          1,
	} {
		require.Len(t, docs(b.me.Get("/me/tickets"+query).Expect(200)), found, query)
	}
	b.me.Get("/me/tickets?_id=" + strangers.String()).Expect(404)
	b.me.Get("/me/tickets?_id=" + objectid.New().String()).Expect(404)
	refused := b.me.Get("/me/tickets?query=" + url.QueryEscape(`{"title":{"$foo":1}}`)).Expect(422)
	require.Equal(t, []any{
		"query", "query", "title", "$foo",
	}, refused.Map()["detail"].([]any)[0].(object)["loc"], "as the client wrote it")
}

func TestConsumeByHand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	ticket := b.give(b.customer.ID, event)
	_, stranger := b.another()
	stranger.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(404)
	b.nobody.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(401)
	doc := docs(b.me.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(200))[0]
	require.Equal(t, "consumed", doc["status"])
	require.Equal(t, "CONFLICT", b.me.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(409).Code())
	b.admin.Put("/tickets/"+b.give(b.customer.ID, event).String()+"/consume", nil).Expect(200)
	require.Equal(t, 2, b.issued(event), "consumed tickets hold their places")
}

func TestConsumeByCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event, other := b.event(nil), b.event(nil)
	ticket := b.give(b.customer.ID, event)
	qr := b.me.Get("/me/tickets/" + ticket.String() + "/qr").Expect(200).Map()
	require.Contains(t, qr["qr_data_uri"], "data:image/png;base64,")
	code := qr["qr_payload"].(string)
	_, stranger := b.another()
	stranger.Get("/me/tickets/" + ticket.String() + "/qr").Expect(404)

	use := func(changes object) object {
		body := object{"qr_payload": code}
		for k, v := range changes {
			body[k] = v
		}
		return body
	}
	const path = "/tickets/consume-qr"
	b.me.Post(path, use(nil)).Expect(403)
	require.Equal(t, "qr_payload", b.admin.Post(path, use(object{"qr_payload": code + "A"})).Expect(400).Field())
	require.Equal(t, "event_id", b.admin.Post(path, use(object{"event_id": other})).Expect(409).Field())
	doc := docs(b.admin.Post(path, use(object{"event_id": event, "nonce": "scan-1"})).Expect(200))[0]
	require.Equal(t, "consumed", doc["status"])
	b.admin.Post(path, use(object{"nonce": "scan-1"})).Expect(200)
	for _, again := range []object{use(nil), use(object{"nonce": "scan-2"})} {
		a := b.admin.Post(path, again).Expect(409)
		require.Equal(t, "CONFLICT", a.Code())
		require.Equal(t, doc["consumed_at"], a.Map()["consumed_at"])
	}
	b.me.Get("/me/tickets/" + ticket.String() + "/qr").Expect(409)

	gone := b.give(b.customer.ID, event)
	code = b.code(gone)
	b.admin.Put("/tickets", []object{{"_id": gone, "status": "pending"}}).Expect(200)
	require.Contains(t, b.admin.Post(path, use(nil)).Expect(409).Detail(), "pending")
	b.admin.Put("/tickets", []object{{"_id": gone, "status": "available"}}).Expect(200)
	b.clock.Advance(31 * 24 * time.Hour)
	require.Contains(t, b.admin.Post(path, use(nil)).Expect(409).Detail(), "expired")
	b.sweep()
	require.Equal(t, "expired", b.ticketStatus(gone))
	require.Equal(t, "consumed", b.ticketStatus(ticket))
	require.Equal(t, 2, b.issued(event), "expired by the end of the event is not unpaid")
	b.admin.Delete("/tickets?_id="+gone.String(), nil).Expect(200)
	b.admin.Post(path, use(nil)).Expect(404)
}

func TestTwentyDoorsOneTicket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	code := b.code(b.give(b.customer.ID, b.event(nil)))
	responses := make([]*apitest.Response, 20)
	var wg sync.WaitGroup
	for i := range responses {
		wg.Go(func() { responses[i] = b.admin.Post("/tickets/consume-qr", object{"qr_payload": code}) })
	}
	wg.Wait()
	in := 0
	for _, a := range responses {
		if a.Status == 200 {
			in++
			continue
		}
		require.Equal(t, "CONFLICT", a.Expect(409).Code())
		require.Contains(t, a.Detail(), "consumed at")
		require.Contains(t, a.Map(), "consumed_at")
	}
	require.Equal(t, 1, in)
}

func TestDoorsWithoutNetwork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	good, double, void := b.give(b.customer.ID, event), b.give(b.customer.ID, event), b.give(b.customer.ID, event)
	goodCode, doubleCode, voidCode := b.code(good), b.code(double), b.code(void)
	b.admin.Put("/tickets/"+double.String()+"/consume", nil).Expect(200)
	b.admin.Delete("/tickets?_id="+void.String(), nil).Expect(200)

	b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200) // may yet be paid: not revoked
	b.me.Get("/events/" + event.String() + "/checkin-bundle").Expect(403)
	b.admin.Get("/events/" + objectid.New().String() + "/checkin-bundle").Expect(404)
	m := b.admin.Get("/events/" + event.String() + "/checkin-bundle").Expect(200).Map()
	require.Equal(t, []any{void.String()}, m["revoked"])
	require.Equal(t, double.String(), m["consumed"].([]any)[0].(object)["ticket_id"])
	public, err := base64.StdEncoding.DecodeString(m["keys"].([]any)[0].(object)["public_key"].(string))
	require.NoError(t, err)
	require.Equal(t, []any{
		object{"prefix": "MT2.", "encoding": "base45"},
		object{"prefix": "MT1.", "encoding": "base64url"},
	}, m["code_forms"])
	raw, err := tickets.Base45Decode(strings.TrimPrefix(goodCode, "MT2."))
	require.NoError(t, err)
	require.True(t, ed25519.Verify(public, append([]byte("MT1."), raw[:28]...), raw[28:]),
		"a device checks with the bundle alone")
	textCode := "MT1." + base64.RawURLEncoding.EncodeToString(raw)

	at := b.clock.Now().Add(29 * 24 * time.Hour)
	b.clock.Advance(40 * 24 * time.Hour)
	b.sweep()
	scan := func(code, nonce string) object {
		return object{"qr_payload": code, "scanned_at": at.Format(time.RFC3339Nano), "nonce": nonce}
	}
	upload := object{
		"event_id": event,
		"scans": []object{
			scan(goodCode, "1"), scan(textCode, "2"), scan(doubleCode, "3"), scan(voidCode, "4"), scan("nonsense", "5"),
		},
	}
	a := b.admin.Post("/tickets/consume-qr/batch", upload).Expect(200).Map()
	var results []string
	for _, r := range a["results"].([]any) {
		results = append(results, r.(object)["result"].(string))
	}
	require.Equal(t, []string{"consumed", "already_consumed", "already_consumed", "not_found", "forged"}, results)
	require.InDelta(t, 1, a["consumed"], 0)
	require.InDelta(t, 4, a["conflicts"], 0)
	upload["scans"].([]object)[0]["scanned_at"] = at.UTC().
		Format("2006-01-02T15:04:05.999999999") // without a zone it is UTC
	again := b.admin.Post("/tickets/consume-qr/batch", upload).Expect(200).Map()
	require.Equal(t, "repeated", again["results"].([]any)[0].(object)["result"])
	require.Equal(t, "consumed", b.ticketStatus(good), "it was scanned before the event ended")
}

// A device whose clock is ahead, and which tells no nonce, may repeat itself.
func TestADoorAheadOfTimeMayUploadTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ticket := b.give(b.customer.ID, b.event(nil))
	code, ahead := b.code(ticket), b.clock.Now().Add(5*time.Minute)
	upload := func(at time.Time) object {
		scans := []object{{"qr_payload": code, "scanned_at": at.Format(time.RFC3339Nano)}}
		return b.admin.Post("/tickets/consume-qr/batch", object{"scans": scans}).Expect(200).
			Map()["results"].([]any)[0].(object)
	}
	first := upload(ahead)
	require.Equal(t, "consumed", first["result"])
	require.Equal(t, b.clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"), first["consumed_at"],
		"nobody comes in later than now")
	for range 2 {
		again := upload(ahead)
		require.Equal(t, "repeated", again["result"])
		require.Equal(t, false, again["conflict"])
		b.clock.Advance(10 * time.Minute) // by then the device is not ahead any more
	}
	require.Equal(t, "already_consumed", upload(ahead.Add(time.Second))["result"], "somebody else")
}
