package tickets_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// sell sells at the counter.
func sell(b *bundle, event objectid.ID, quantity int, method string) object {
	b.t.Helper()
	return b.admin.Post("/events/"+event.String()+"/box-office-sales", object{
		"quantity": quantity, "method": method, "note": "Press, by the director",
		"buyer": object{"full_name": "Ana Souza", "email": "ana@example.com", "phone": "+5511987654321"},
	}).Expect(200).Map()
}

func saleID(m object) string { return m["sale"].(object)["_id"].(string) }

// TestBoxOfficeSells: paid at once, without a gateway, with codes that open the door, whether the store shows the
// event or not.
func TestBoxOfficeSells(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"is_sale_box_office": false, "max_per_person": 1})
	for _, method := range []string{"cash", "card_machine", "courtesy"} {
		m := sell(b, event, 2, method)
		sale := m["sale"].(object)
		require.Equal(t, method, sale["method"])
		require.Equal(t, "paid", sale["status"])
		require.InDelta(t, map[bool]float64{true: 0, false: 241}[method == "courtesy"], sale["total"], 0)
		require.Equal(t, object{
			"full_name": "Ana Souza", "email": "ana@example.com", "phone": "+5511987654321",
		}, sale["buyer"])
		require.InDelta(t, 2, sale["tickets_good"], 0)
		require.Len(t, m["tickets"], 2)
		for _, ticket := range m["tickets"].([]any) {
			code := ticket.(object)
			require.Contains(t, code["qr_data_uri"], "data:image/png;base64,")
			require.Equal(t, "available", b.ticketStatus(objectid.ID(code["_id"].(string))))
		}
		again := b.admin.Get("/events/" + event.String() + "/box-office-sales/" + sale["_id"].(string)).Expect(200).Map()
		require.Equal(t, m, again, "printed again")
		b.admin.Post("/tickets/consume-qr",
			object{"qr_payload": m["tickets"].([]any)[0].(object)["qr_payload"], "event_id": event}).Expect(200)
	}
	require.Equal(t, 6, b.issued(event))
	require.Empty(t, b.gateways.Charges(t))
	require.Equal(t, 6, b.count("SELECT count(*) FROM tickets.transitions WHERE reason = 'box_office' AND actor_id IS NOT NULL"))
	require.Equal(t, 3, b.count("SELECT count(*) FROM accounts.audit_log WHERE resource = 'ticket-orders' AND after->>'method' IS NOT NULL"))
	sales := b.admin.Get("/events/" + event.String() + "/box-office-sales?qty=2").Expect(200).Map()
	require.Len(t, sales["sales"], 2)
	require.Equal(t, true, sales["more"])
	today := b.clock.Now().In(saoPaulo(t)).Format(time.DateOnly)
	all := b.admin.Get("/events/" + event.String() + "/box-office-sales?day=" + today).Expect(200).Map()
	require.Len(t, all["sales"], 3)
	require.Equal(t, "courtesy", all["sales"].([]any)[0].(object)["method"], "newest first")
	require.Empty(t, b.admin.Get("/events/" + event.String() + "/box-office-sales?day=2020-01-01").Expect(200).Map()["sales"])
	require.Empty(t, docs(b.me.Get("/me/tickets").Expect(200)), "of no account")
}

func saoPaulo(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return zone
}

func TestBoxOfficeRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"capacity": 2})
	path := "/events/" + event.String() + "/box-office-sales"
	for field, body := range map[string]object{
		"quantity":    {"quantity": 101, "method": "cash"},
		"method":      {"quantity": 1, "method": "pix"},
		"note":        {"quantity": 1, "method": "courtesy", "note": "   no "},
		"buyer.email": {"quantity": 1, "method": "cash", "buyer": object{"email": "Ana <ana@example.com>"}},
		"buyer.phone": {"quantity": 1, "method": "cash", "buyer": object{"phone": "call me"}},
	} {
		require.Equal(t, field, b.admin.Post(path, body).Expect(422).Field(), field)
	}
	b.me.Post(path, object{"quantity": 1, "method": "cash"}).Expect(403)
	b.nobody.Post(path, object{"quantity": 1, "method": "cash"}).Expect(401)
	b.admin.Post(path, object{"quantity": 3, "method": "cash"}).Expect(409)
	b.admin.Post("/events/"+objectid.New().String()+"/box-office-sales", object{"quantity": 1, "method": "cash"}).Expect(404)
	b.admin.Post("/events/x/box-office-sales", object{"quantity": 1, "method": "cash"}).Expect(422)
	free := b.event(object{"ticket_value": nil})
	require.Equal(t, "method",
		b.admin.Post("/events/"+free.String()+"/box-office-sales", object{"quantity": 1, "method": "cash"}).Expect(422).Field())
	sell(b, free, 1, "courtesy")
	off := b.event(object{"is_active": false})
	b.admin.Post("/events/"+off.String()+"/box-office-sales", object{"quantity": 1, "method": "cash"}).Expect(400)

	sold := b.admin.Post(path, object{"quantity": 1, "method": "cash"}).Expect(200).Map()
	order := saleID(sold)
	require.Equal(t, object{"full_name": "", "email": "", "phone": nil}, sold["sale"].(object)["buyer"])
	b.admin.Post("/admin/ticket-orders/"+order+"/refund", object{"reason": "By the gateway"}).Expect(422)
	b.admin.Post("/admin/ticket-orders/"+order+"/cancel", object{"reason": "By the gateway"}).Expect(422)
	b.admin.Post("/events/"+free.String()+"/box-office-sales/"+order+"/refund", object{"reason": "Of another event"}).Expect(404)
	store := b.me.Post("/store/purchase/gwa/pix", pix(event, 1)).Expect(200).Map()
	b.admin.Get(path + "/" + store["order"].(object)["_id"].(string)).Expect(404)
	b.admin.Post(path+"/"+store["order"].(object)["_id"].(string)+"/refund", object{"reason": "Of the store"}).Expect(404)
	b.clock.Advance(60 * 24 * time.Hour)
	b.admin.Post(path, object{"quantity": 1, "method": "cash"}).Expect(400)
}

// TestBoxOfficeHandsBack: by ticket and whole, by hand, in the ledger of refunds; a place that is given back is sold
// again.
func TestBoxOfficeHandsBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"capacity": 3})
	sold := sell(b, event, 3, "cash")
	path := "/events/" + event.String() + "/box-office-sales/" + saleID(sold)
	var ids []string
	for _, ticket := range sold["tickets"].([]any) {
		ids = append(ids, ticket.(object)["_id"].(string))
	}
	b.admin.Put("/tickets/"+ids[2]+"/consume", nil).Expect(200)
	require.Equal(t, "ticket_ids",
		b.admin.Post(path+"/refund", object{"reason": "Wrong session", "ticket_ids": []string{objectid.New().String()}}).Expect(404).Field())
	b.admin.Post(path+"/refund", object{"reason": "Wrong session", "ticket_ids": ids[2:]}).Expect(422)

	key := b.admin.With("Idempotency-Key", "hand-back-one-ticket")
	one := key.Post(path+"/refund", object{"reason": "Wrong session", "ticket_ids": ids[:1]}).Expect(200)
	require.Equal(t, string(one.Body),
		string(key.Post(path+"/refund", object{"reason": "Wrong session", "ticket_ids": ids[:1]}).Expect(200).Body))
	back := one.Map()
	require.InDelta(t, 120.5, back["refund_amount"], 0)
	require.Equal(t, "paid", back["status"])
	require.Equal(t, []any{ids[0]}, back["ticket_ids"])
	require.Equal(t, "expired", b.ticketStatus(objectid.ID(ids[0])))
	require.Equal(t, 2, b.issued(event))
	b.admin.Post(path+"/refund", object{"reason": "Wrong session", "ticket_ids": ids[:1]}).Expect(422)
	sell(b, event, 1, "card_machine")

	b.admin.Post(path+"/refund", object{"reason": "Changed their mind"}).Expect(200)
	last := b.admin.Post(path+"/refund", object{"reason": "The film stopped", "include_consumed": true}).Expect(200).Map()
	require.Equal(t, "refunded", last["status"])
	require.Equal(t, "consumed", b.ticketStatus(objectid.ID(ids[2])))
	b.admin.Post(path+"/refund", object{"reason": "Once more"}).Expect(422)
	require.Equal(t, 36150,
		b.count("SELECT sum(amount_cents) FROM payments.refunds WHERE kind = 'by_hand' AND status = 'done' AND gateway IS NULL AND payment_ref = local_id"))
	sale := b.admin.Get(path).Expect(200).Map()["sale"].(object)
	require.InDelta(t, 361.5, sale["refunded"], 0)
	require.Equal(t, "refunded", sale["status"])

	courtesy := sell(b, event, 1, "courtesy")
	gone := b.admin.Post("/events/"+event.String()+"/box-office-sales/"+saleID(courtesy)+"/refund",
		object{"reason": "They did not come"}).Expect(200).Map()
	require.InDelta(t, 0, gone["refund_amount"], 0)
	require.Equal(t, "refunded", gone["status"])
	require.Empty(t, b.gateways.Charges(t))
	require.Zero(t, b.count(`SELECT count(*) FROM payments.refund_transitions
		WHERE from_state IS NOT NULL OR to_state <> 'done' OR action <> 'made'`), "what is handed back counts at once")
	listed := b.admin.Get(`/admin/refunds?query={"kind":"by_hand"}`)
	if listed.Status == http.StatusOK {
		require.Len(t, docs(listed), 4)
	}
}

// TestBoxOfficeRepeatsItsAnswer: a key sells once.
func TestBoxOfficeRepeatsItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	key := b.admin.With("Idempotency-Key", "one-sale-at-the-counter")
	body := object{"quantity": 2, "method": "cash"}
	first := key.Post("/events/"+event.String()+"/box-office-sales", body).Expect(200)
	again := key.Post("/events/"+event.String()+"/box-office-sales", body).Expect(200)
	require.Equal(t, string(first.Body), string(again.Body))
	require.Equal(t, 2, b.issued(event))
	key.Post("/events/"+event.String()+"/box-office-sales", object{"quantity": 1, "method": "cash"}).Expect(409)
}

// TestBoxOfficeBesideTheStore: 60 buyers at the counter and in the store at once, of 20 places: all are sold, none twice.
func TestBoxOfficeBesideTheStore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"capacity": 20})
	buyers := make([]func() *apitest.Response, 60)
	for n := range buyers {
		if n%2 == 0 {
			buyers[n] = func() *apitest.Response {
				return b.admin.Post("/events/"+event.String()+"/box-office-sales", object{"quantity": 1, "method": "cash"})
			}
			continue
		}
		buyers[n] = buyerInTheRoom(b, event, n)
	}
	statuses := make([]int, len(buyers))
	var all sync.WaitGroup
	for n, buy := range buyers {
		all.Go(func() { statuses[n] = buy().Status })
	}
	all.Wait()
	sold := 0
	for _, status := range statuses {
		require.Contains(t, []int{http.StatusOK, http.StatusConflict, http.StatusTooManyRequests, http.StatusBadRequest}, status)
		if status == http.StatusOK {
			sold++
		}
	}
	for b.admin.Post("/events/"+event.String()+"/box-office-sales", object{"quantity": 1, "method": "cash"}).Status == http.StatusOK {
		sold++ // guests hold at most half of what is free
	}
	require.Equal(t, 20, b.issued(event))
	require.Equal(t, 20, sold, fmt.Sprint(statuses))
}

// TestCalledOffEventIsHandedBackAtTheCounter: no job asks a gateway for it, nobody is written to, and the holders come.
func TestCalledOffEventIsHandedBackAtTheCounter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	sold := sell(b, event, 2, "cash")
	used := sold["tickets"].([]any)[0].(object)["_id"].(string)
	b.admin.Put("/tickets/"+used+"/consume", nil).Expect(200)
	b.admin.Post("/admin/events/"+event.String()+"/cancel", object{"reason": "The projector broke", "refund": "all"}).Expect(200)
	b.work()
	b.sweep()
	progress := func() object {
		return b.admin.Get("/admin/events/" + event.String() + "/cancellation").Expect(200).Map()["progress"].(object)
	}
	require.InDelta(t, 1, progress()["not_asked"], 0)
	b.admin.Post("/events/"+event.String()+"/box-office-sales", object{"quantity": 1, "method": "cash"}).Expect(400)
	back := b.admin.Post("/events/"+event.String()+"/box-office-sales/"+saleID(sold)+"/refund",
		object{"reason": "Called off"}).Expect(200).Map()
	require.InDelta(t, 241, back["refund_amount"], 0)
	require.InDelta(t, 1, progress()["refunded"], 0)
	require.InDelta(t, 241, progress()["amount"], 0)
	require.Empty(t, b.mails.to("ana@example.com", ""))
}

// TestBoxOfficeForgetsItsBuyers: 30 days after the event nobody knows who they were.
func TestBoxOfficeForgetsItsBuyers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sell(b, b.event(nil), 1, "cash")
	known := func() int {
		return b.count("SELECT count(*) FROM tickets.orders o JOIN tickets.customers c ON c.id = o.customer_id WHERE o.buyer_phone <> '' OR c.name <> '' OR c.email <> ''")
	}
	b.clock.Advance(59 * 24 * time.Hour)
	b.sweep()
	require.Equal(t, 1, known())
	b.clock.Advance(3 * 24 * time.Hour)
	b.sweep()
	require.Equal(t, 0, known())
}
