package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
)

// A ticket that an admin had wait although its order is paid does not wait beyond
// the event; places that wait for money go through their order.
func TestAWaitingTicketOfAPaidOrderExpires(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	paid := ticketsOf(b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200).Map())[0]
	open := ticketsOf(b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200).Map())[0]
	b.admin.Put("/tickets", []object{{"_id": paid, "status": "pending"}}).Expect(200)
	require.NoError(t, b.service.ExpireEnded(t.Context()))
	require.Equal(t, "pending", b.ticketStatus(paid), "not yet")
	b.clock.Advance(31 * 24 * time.Hour)
	require.NoError(t, b.service.ExpireEnded(t.Context()))
	require.Equal(t, "expired", b.ticketStatus(paid))
	require.Equal(t, "pending", b.ticketStatus(open))
	require.Equal(t, 1, b.issued(event))
}
