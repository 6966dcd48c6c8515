package modeltest_test

import (
	"context"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"
)

// ticketScenarios are purchases.
var ticketScenarios = []scenario{
	{
		name: "admin_ticket_order_refund", what: "gwa", key: true, good: []int{200}, again: []int{422},
		given: a(onSaleNow, before(cardTicketsA)), do: ofOrder("/refund"), done: givenBack(6000),
	},
	{
		name: "admin_ticket_order_refund", what: "gwb", key: true, good: []int{200}, again: []int{422},
		rests: 26 * time.Hour, given: a(onSaleNow, before(cardTicketsB)), do: ofOrder("/refund"),
		done: givenBack(6000),
	},
	{
		name: "admin_ticket_order_cancel", what: "paid", key: true, good: []int{200},
		given: a(onSaleNow, before(cardTicketsA)), do: ofOrder("/cancel"), done: givenBack(6000),
	},
	{
		name: "admin_ticket_order_cancel", what: "pending", key: true, good: []int{200},
		given: a(onSaleNow, before(customerRequest(http.MethodPost, "/store/purchase/gwb/pix", ticketsBy(nil)))),
		do:    ofOrder("/cancel"), done: noTickets,
	},
	{
		name: "tickets_give_back", what: "gwa", after: sweepAll, given: before(cardTicketsA), do: callOff,
		done: givenBack(6000),
	},
	{
		name: "tickets_give_back", what: "gwb", after: sweepAll, rests: 26 * time.Hour, given: before(cardTicketsB),
		do: callOff, done: givenBack(6000),
	},
	{
		name: "tickets_give_back", what: "nothing paid", after: sweepAll,
		given: before(customerRequest(http.MethodPost, "/store/purchase/gwb/pix", ticketsBy(nil))), do: callOff,
		done: noTickets,
	},
	{
		name: "me_ticket_order_withdraw", what: "gwa", key: true, good: []int{200}, again: []int{200},
		after: sweepAll, given: before(cardTicketsA), do: withCustomerOrder("/withdraw"), done: givenBack(6000),
	},
	{
		name: "me_ticket_order_withdraw", what: "gwb", key: true, good: []int{200}, again: []int{200},
		after: sweepAll, rests: 26 * time.Hour, given: before(cardTicketsB), do: withCustomerOrder("/withdraw"),
		done: givenBack(6000),
	},
	{
		name: "store_purchase_gwa_card", key: true, good: []int{200}, after: sweepAll,
		do: customerRequest(http.MethodPost, "/store/purchase/gwa/card", ticketsBy(object{
			"credit_card": card(0), "credit_card_holder_info": holder(),
		})),
		done: seated("paid"),
	},
	{
		name: "store_purchase_gwa_card", what: "declined", key: true, good: []int{400}, also: []int{200},
		again: []int{200}, after: sweepAll,
		do: customerRequest(http.MethodPost, "/store/purchase/gwa/card", ticketsBy(object{
			"credit_card": card(3), "credit_card_holder_info": holder(),
		})),
		done: noTickets,
	},
	{
		name: "store_purchase_gwa_pix", key: true, good: []int{200}, after: sweepAll,
		do: customerRequest(http.MethodPost, "/store/purchase/gwa/pix", ticketsBy(nil)),
	},
	{
		name: "store_purchase_gwb_card", key: true, good: []int{200}, after: sweepAll,
		do: customerRequest(http.MethodPost, "/store/purchase/gwb/card",
			ticketsBy(object{"payment_method_id": visa})),
		done: seated("paid"),
	},
	{
		name: "store_purchase_gwb_card", what: "declined", key: true, good: []int{400}, also: []int{200},
		again: []int{200}, after: sweepAll,
		do: customerRequest(http.MethodPost, "/store/purchase/gwb/card",
			ticketsBy(object{"payment_method_id": "pm_card_visa_chargeDeclined"})),
		done: noTickets,
	},
	{
		name: "store_purchase_gwb_pix", key: true, good: []int{200}, after: sweepAll,
		do: customerRequest(http.MethodPost, "/store/purchase/gwb/pix", ticketsBy(nil)),
	},
	{
		name: "store_checkout_gwa_card", key: true, good: []int{200}, after: sweepAll,
		do: guest("/store/purchase/checkout/gwa/card",
			object{"credit_card": card(0), "credit_card_holder_info": holder()}),
		done: seated("paid"),
	},
	{
		name: "store_checkout_gwa_pix", key: true, good: []int{200}, after: sweepAll,
		do: guest("/store/purchase/checkout/gwa/pix", object{}),
	},
	{
		name: "store_checkout_gwb_card", key: true, good: []int{200}, after: sweepAll,
		do: guest("/store/purchase/checkout/gwb/card", object{"payment_method_id": visa}), done: seated("paid"),
	},
	{
		name: "store_checkout_gwb_pix", key: true, good: []int{200}, after: sweepAll,
		do: guest("/store/purchase/checkout/gwb/pix", object{}),
	},
}

func ticketsBy(how object) object {
	body := object{"event_id": eventID, "quantity": 2}
	for field, value := range how {
		body[field] = value
	}
	return body
}

func guest(path string, how object) func(h *history) response {
	body := ticketsBy(how)
	body["buyer"] = object{
		"full_name": "Rita Lima", "email": "rita@example.com", "tax_id": "52998224725", "phone": "+5511987654321",
	}
	return func(h *history) response { return h.request(http.MethodPost, path, "", body) }
}

// ordersIn counts those that hold places, or have been paid for.
func ordersIn(h *history, state string) (n int) {
	err := h.db.QueryRow(context.Background(), `SELECT count(*) FROM tickets.orders WHERE state = $1`, state).Scan(&n)
	if err != nil {
		h.fail("the database refuses", "%v", err)
	}
	return n
}

func seated(state string) func(h *history) bool {
	return func(h *history) bool { return ordersIn(h, state) == 1 && issuedTickets(h) == 2 }
}

func noTickets(h *history) bool { return issuedTickets(h) == 0 && ordersIn(h, "paid") == 0 }

func issuedTickets(h *history) (n int) {
	err := h.db.QueryRow(context.Background(), `SELECT tickets_issued FROM tickets.events`).Scan(&n)
	if err != nil {
		h.fail("the database refuses", "%v", err)
	}
	return n
}

var (
	cardTicketsA = customerRequest(http.MethodPost, "/store/purchase/gwa/card", ticketsBy(object{
		"credit_card": card(0), "credit_card_holder_info": holder(),
	}))
	cardTicketsB = customerRequest(http.MethodPost, "/store/purchase/gwb/card",
		ticketsBy(object{"payment_method_id": visa}))
)

// callOff calls the one event off, and has the jobs of the next half hour run.
func callOff(h *history) response {
	h.request(http.MethodPost, "/admin/events/"+eventID+"/cancel", h.admin, object{
		"reason": "as promised", "refund": "all",
	})
	return sweepTickets(h)
}

// withCustomerOrder has the customer do something with their one order.
func withCustomerOrder(what string) func(h *history) response {
	return func(h *history) response {
		var id string
		require.NoError(h.t, h.db.QueryRow(context.Background(), "SELECT id FROM tickets.orders").Scan(&id))
		return customerRequest(http.MethodPost, "/me/ticket-orders/"+id+what, nil)(h)
	}
}

// ofOrder has an admin do something with the one order.
func ofOrder(what string) func(h *history) response {
	return func(h *history) response {
		var id string
		require.NoError(h.t, h.db.QueryRow(context.Background(), "SELECT id FROM tickets.orders").Scan(&id))
		return h.request(http.MethodPost, "/admin/ticket-orders/"+id+what, h.admin, why)
	}
}
