package tickets_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets/ticketstest"
	"marquee/testutil/apitest"
)

// TestMixedRush: cards, PIX, guests and an admin at few seats over HTTP. Nobody
// gets an error of ours, no seat is given twice, and every settled charge belongs
// to a seated order.
func TestMixedRush(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	const seats, buyers = 8, 24
	event := ticketstest.Event(t, b.db, seats)
	clients := make([]*apitest.Client, 6)
	for i := range clients {
		_, clients[i] = b.another()
	}
	statuses := make([]int, buyers)
	var wg sync.WaitGroup
	for i := range buyers {
		me := clients[i%len(clients)]
		wg.Go(func() {
			var a *apitest.Answer
			switch i % 4 {
			case 0:
				a = me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved))
			case 1:
				a = me.Post("/store/purchase/gwa/pix", pix(event, 1))
			case 2:
				a = b.nobody.Post("/store/purchase/checkout/gwb/pix", guest(pix(event, 1), fmt.Sprintf("rush%d@example.com", i%2), guestCPF))
			default:
				a = b.admin.Post("/tickets", object{"customer_id": b.customer.ID, "event_id": event})
			}
			statuses[i] = a.Status
		})
	}
	wg.Wait()
	served := 0
	for _, status := range statuses {
		if status == 200 {
			served++
			continue
		}
		require.Equal(t, 409, status, "%v", statuses)
	}
	require.Equal(t, seats, served)
	b.settle()
	require.Equal(t, seats, b.issued(event))
	require.Equal(t, b.count("SELECT count(*) FROM tickets.orders WHERE state = 'paid'"), b.count("SELECT count(*) FROM payments.payments"))
}
