package modeltest_test

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// ticketActions are what customers do with the one event. Its few places are
// soon gone, so that money also comes too late.
var ticketActions = []action{
	{name: "gwb ticket", weight: 2, act: func(h *history, s step) {
		h.customerRequest(s, http.MethodPost, "/store/purchase/gwb/card",
			order(s, object{"payment_method_id": token(s.Pick % 11)})) // not the card that never takes a refund
	}},
	{name: "gwa ticket", weight: 2, act: func(h *history, s step) {
		h.customerRequest(s, http.MethodPost, "/store/purchase/gwa/card", order(s, object{
			"credit_card": card(s.Pick), "credit_card_holder_info": holder(),
		}))
	}},
	{name: "pix ticket", weight: 4, act: func(h *history, s step) {
		path, _ := pick([]string{"/store/purchase/gwa/pix", "/store/purchase/gwb/pix"}, s.Pick)
		h.customerRequest(s, http.MethodPost, path, order(s, object{}))
	}},
	{name: "redeems", weight: 1, act: func(h *history, s step) {
		code, _ := pick([]string{codeTicket, codeTen, codeFree}, s.Pick)
		h.customerRequest(s, http.MethodPut, "/customers/me/redeem-promo-code?code="+code, nil)
	}},
	{name: "ticket sweep", weight: 1, act: func(h *history, _ step) { h.sweepTickets() }},
}

func order(s step, body object) object {
	body["event_id"], body["quantity"] = eventID, 1+s.Pick%3
	return body
}

const overdueHoldsSQL = `SELECT id FROM tickets.orders WHERE state = 'reserved' AND NOT intent_open AND hold_until <= $1 ORDER BY id`

// sweepTickets does what is due with orders: one after the other, where the
// service's own sweep does some at a time, so that a history runs alike each time.
func (h *history) sweepTickets() {
	h.runStatusChecks()
	eachOrder(h, overdueHoldsSQL, h.tickets.ReleaseUnpaid)
	h.process.run(context.Background(), func(ctx context.Context) {
		h.process.many = true
		h.logError("ticket sweep", h.tickets.Sweep(ctx))
	})
	h.inTime(longestJob)
	h.process.many = false
}

// sweepDueTickets leaves it when nothing is due.
func sweepDueTickets(h *history) {
	var due bool
	require.NoError(h.t,
		h.db.QueryRow(context.Background(), `SELECT EXISTS (`+overdueHoldsSQL[:len(overdueHoldsSQL)-len(" ORDER BY id")]+`)`,
			h.now()).Scan(&due))
	if due {
		h.sweepTickets()
	}
}

func eachOrder(h *history, query string, do func(context.Context, objectid.ID) error) {
	rows, err := h.db.Query(context.Background(), query, h.now())
	require.NoError(h.t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[objectid.ID])
	require.NoError(h.t, err)
	for _, id := range ids {
		h.process.run(context.Background(), func(ctx context.Context) { h.logError("order", do(ctx, id)) })
		h.inTime(longestJob)
	}
}
