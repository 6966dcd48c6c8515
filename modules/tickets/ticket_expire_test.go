package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// A paid ticket is not made to wait: there is nothing that would come. One that an earlier
// version let wait does so until its event is over; places that wait for money go through
// their order.
func TestATicketOfAPaidOrderDoesNotWait(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	bought := ticketsOf(b.me.Post("/store/purchase/gwb/card", cardB(event, 2, paymentstest.TokenApproved)).Expect(200).
		Map())
	open := ticketsOf(b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200).Map())[0]
	given := b.give(b.customer.ID, event)
	waiting := func(ids ...objectid.ID) (all []object) {
		for _, id := range ids {
			all = append(all, object{"_id": id, "status": "pending"})
		}
		return all
	}
	refused := b.admin.Put("/tickets", waiting(given, bought[0])).Expect(409)
	require.Equal(t, "Ticket "+bought[0].String()+" stays as it is: its order is paid, so that it waits for nothing.",
		refused.Detail())
	require.Equal(t, "status", refused.Field())
	require.Equal(t, "available", b.ticketStatus(given), "all or nothing")
	b.admin.Put("/tickets", waiting(given)).Expect(200) // it is of no order
	b.admin.Put("/tickets", []object{{"_id": bought[0], "status": "expired"}}).Expect(200)
	b.admin.Put("/tickets", waiting(bought[0])).Expect(409)
	b.admin.Put("/tickets/"+bought[1].String()+"/consume", nil).Expect(200)
	b.admin.Put("/tickets", waiting(bought[1])).Expect(409)
	b.admin.Put("/tickets", []object{
		{"_id": bought[0], "status": "available"},
		{"_id": bought[1], "status": "available"},
	}).Expect(200)

	old := bought[0]
	_, err := b.db.Exec(t.Context(), "UPDATE tickets.tickets SET status = 'pending' WHERE id = $1", old)
	require.NoError(t, err)
	require.NoError(t, b.service.Events().ExpireEnded(t.Context()))
	require.Equal(t, "pending", b.ticketStatus(old), "not yet")
	b.clock.Advance(31 * 24 * time.Hour)
	require.NoError(t, b.service.Events().ExpireEnded(t.Context()))
	require.Equal(t, "expired", b.ticketStatus(old))
	require.Equal(t, "pending", b.ticketStatus(open))
	require.Equal(t, 2, b.issued(event))
}
