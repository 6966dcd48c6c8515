package subscriptions_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
)

// taken is what was ever taken of the customer's money for a subscription, given back
// or not, by the gateways' own books.
func (b *bundle) taken(t *testing.T, id objectid.ID) (cents int64, waiting int) {
	t.Helper()
	for _, c := range b.gateways.Charges(t) {
		switch {
		case c.Succeeded:
			cents += c.Cents
		case c.Gateway == gateway.GWA:
			waiting++
		}
	}
	return cents, waiting
}

// pause is the state of the newest pause of collection, "" for none.
func (b *bundle) pause(t *testing.T, id objectid.ID) string {
	t.Helper()
	return b.text(t,
		"SELECT coalesce((SELECT state FROM subscriptions.pauses WHERE subscription_id = $1 ORDER BY id DESC LIMIT 1), '')", id)
}

// listed is the list's row of a payment.
func (b *bundle) listed(t *testing.T, payment string) object {
	t.Helper()
	docs := b.admin(t).Get(unappliedPath + `?query=` + url.QueryEscape(`{"gateway_payment_id":"`+payment+`"}`)).
		Expect(200).Map()["docs"].([]any)
	require.Len(t, docs, 1)
	return docs[0].(object)
}

// refundUnapplied does what the periodic job of unapplied payments does.
func (b *bundle) refundUnapplied(t *testing.T) {
	t.Helper()
	require.NoError(t, b.payments.Cases().Sweep(t.Context()))
}

// givenBack is what the sandboxes have given back of a payment: its charges that are
// refunded.
func givenBack(t *testing.T, b *bundle, payment string) bool {
	t.Helper()
	for _, c := range b.gateways.Charges(t) {
		if c.ID == payment {
			return c.Refunded
		}
	}
	t.Fatalf("no charge %s", payment)
	return false
}
