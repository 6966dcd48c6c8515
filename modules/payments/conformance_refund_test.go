package payments_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func (g *gatewayUnderTest) cardTerms(t *testing.T, i gateway.Instrument) gateway.CardTerms {
	t.Helper()
	return gateway.CardTerms{
		Reference: objectid.New(), Kind: gateway.KindTicketOrder, Payer: g.payer(t), Amount: 24000,
		Description: "Tickets: Opening night (2)", Instrument: i,
	}
}

// charged is a ticket order paid by card.
func (g *gatewayUnderTest) charged(t *testing.T) gateway.Payment {
	t.Helper()
	c, err := g.ChargeCard(t.Context(), g.cardTerms(t, g.approved))
	require.NoError(t, err)
	require.Equal(t, gateway.PaymentStatusSettled, c.Payment.Status)
	return c.Payment
}

func (g *gatewayUnderTest) refundTerms(p gateway.Payment, amount money.Cents) gateway.RefundTerms {
	return gateway.RefundTerms{
		RefundID: objectid.New(), Payment: gateway.PaymentRef{PaymentID: p.ID}, Amount: amount, Reason: "A courtesy",
		Admin: "root", RequestedAt: g.stage.Clock.Now(),
	}
}

func TestRefundInParts(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		p := g.charged(t)
		first := g.refundTerms(p, 2000)
		made, err := g.Refund(t.Context(), first)
		require.NoError(t, err)
		require.Equal(t, gateway.RefundStatusDone, made.Status)
		require.EqualValues(t, 2000, made.Amount)
		require.Equal(t, "A courtesy", made.Reason)
		require.Equal(t, first.RefundID, made.RefundID)
		require.True(t, made.Report.HasTotal)
		require.EqualValues(t, 2000, made.Report.Total)
		require.True(t, json.Valid(made.Response), "it is JSON")

		if g.Name() == gateway.GWB {
			again, err := g.Refund(t.Context(), first)
			require.NoError(t, err)
			require.EqualValues(t, 2000, again.Report.Total, "the same request is no second refund")
		}

		rest, err := g.Refund(t.Context(), g.refundTerms(p, 22000))
		require.NoError(t, err)
		require.EqualValues(t, 24000, rest.Report.Total)

		all, err := g.ListRefunds(t.Context(), gateway.PaymentRef{PaymentID: p.ID})
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.EqualValues(t, 22000, all[0].Amount, "newest first")
		require.Equal(t, first.RefundID, all[1].RefundID)

		_, err = g.Refund(t.Context(), g.refundTerms(p, 1))
		var rejected *gateway.Rejected
		require.ErrorAs(t, err, &rejected, "nothing is left")
	})
}

func TestRefundIsMadeOnceAfterLostAnswer(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		p := g.charged(t)
		terms := g.refundTerms(p, 2000)
		g.fault(t, stage.Fault{Method: "POST", Path: g.refundPath(p), Kind: stage.FaultResetAfter})
		_, err := g.Refund(t.Context(), terms)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
		g.stage.Faults.Clear()

		found, ok, err := g.FindRefund(t.Context(), terms)
		require.NoError(t, err)
		require.True(t, ok)
		require.EqualValues(t, 2000, found.Amount)
		require.EqualValues(t, 2000, found.Report.Total)
		_, ok, err = g.FindRefund(t.Context(), g.refundTerms(p, 2000))
		require.NoError(t, err)
		require.False(t, ok, "of another request with the same amount there is none")
	})
}

func (g *gatewayUnderTest) refundPath(p gateway.Payment) string {
	if g.Name() == gateway.GWA {
		return "/payments/" + p.ID + "/refund"
	}
	return "/refunds"
}

func TestCardIsChargedOnce(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.cardTerms(t, g.approved)
		_, ok, err := g.FindCardCharge(t.Context(), terms)
		require.NoError(t, err)
		require.False(t, ok)
		g.fault(t, stage.Fault{Method: "POST", Path: g.pixPath, Kind: stage.FaultResetAfter})
		_, err = g.ChargeCard(t.Context(), terms)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
		g.stage.Faults.Clear()

		found, ok, err := g.FindCardCharge(t.Context(), terms)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, gateway.PaymentStatusSettled, found.Payment.Status)
		require.EqualValues(t, 24000, found.Payment.Amount)
		require.Equal(t, gateway.MethodCard, found.Payment.Method)
		require.NotNil(t, found.Payment.SettledAt)
		require.NotEmpty(t, found.Card.Last4)
		read, err := g.ReadPayment(t.Context(), found.Payment.ID, terms.Reference)
		require.NoError(t, err)
		require.Equal(t, found.Payment.NativeStatus, read.NativeStatus)
		_, ok, err = g.FindPix(t.Context(), gateway.PixTerms{
			Reference: terms.Reference, Kind: gateway.KindSubscriptionPix, Payer: terms.Payer,
		})
		require.NoError(t, err)
		require.False(t, ok, "a card payment is no PIX")
	})
}

func TestRefusedCardCharge(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		_, err := g.ChargeCard(t.Context(), g.cardTerms(t, g.declined))
		var declined *gateway.Declined
		require.ErrorAs(t, err, &declined)
		require.NotEmpty(t, declined.Message)
	})
}

func TestChangeOfCard(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		before, err := g.ListPayments(t.Context(), gateway.PaymentsQuery{SubscriptionGatewayID: sub.GatewayID})
		require.NoError(t, err)
		change := gateway.CardChange{
			ChangeID: objectid.New(), SubscriptionID: terms.SubscriptionID, SubscriptionGatewayID: sub.GatewayID,
			Payer: terms.Payer, Instrument: g.other,
		}
		card, err := g.ChangeCard(t.Context(), change)
		require.NoError(t, err)
		require.Equal(t, "4444", card.Last4)
		after, err := g.ListPayments(t.Context(), gateway.PaymentsQuery{SubscriptionGatewayID: sub.GatewayID})
		require.NoError(t, err)
		require.Len(t, after, len(before), "nothing is charged")

		change.ChangeID, change.Instrument = objectid.New(), g.refused
		_, err = g.ChangeCard(t.Context(), change)
		var declined *gateway.Declined
		require.ErrorAs(t, err, &declined)
		change.ChangeID, change.SubscriptionGatewayID, change.Instrument = objectid.New(), "sub_0000000000000000",
			g.other
		_, err = g.ChangeCard(t.Context(), change)
		require.ErrorIs(t, err, gateway.ErrMissing)
		_, open, err := g.PayOpenInvoice(t.Context(), gateway.InvoicePayment{
			AttemptID: objectid.New(), SubscriptionGatewayID: sub.GatewayID,
		})
		require.NoError(t, err)
		require.False(t, open)
	})
}

func TestPaymentsOfASubscription(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		_, err := g.ChargeCard(t.Context(), gateway.CardTerms{
			Reference: objectid.New(), Kind: gateway.KindTicketOrder, Payer: terms.Payer, Amount: 24000,
			Instrument: g.approved,
		})
		require.NoError(t, err)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		g.chargeFirst(t)
		query := gateway.PaymentsQuery{
			SubscriptionID: terms.SubscriptionID, SubscriptionGatewayID: sub.GatewayID,
			CustomerGatewayID: terms.Payer.GatewayID,
		}
		all, err := g.ListPayments(t.Context(), query)
		require.NoError(t, err)
		require.Len(t, all, 1, "the ticket order is not the subscription's")
		p := all[0]
		require.EqualValues(t, 4990, p.Amount)
		require.Equal(t, sub.LatestPayment.ID, p.Payment.ID, "the ledger's key")
		require.Equal(t, gateway.PaymentStatusSettled, p.Payment.Status)
		require.Equal(t, "brl", p.Currency)
		require.False(t, p.Refunded)
		require.WithinDuration(t, g.stage.Clock.Now(), p.CreatedAt, 36*time.Hour)

		_, err = g.Refund(t.Context(), g.refundTerms(p.Payment, 4990))
		require.NoError(t, err)
		all, err = g.ListPayments(t.Context(), query)
		require.NoError(t, err)
		require.True(t, all[0].Refunded)
		require.EqualValues(t, 4990, all[0].AmountRefunded)
	})
}

func TestPaymentsOfAPixSubscription(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.pixTerms(t)
		made, err := g.CreatePix(t.Context(), terms)
		require.NoError(t, err)
		require.NoError(t, g.payPix(made.Payment.ID))
		order := gateway.PixTerms{
			Reference: objectid.New(), Kind: gateway.KindTicketOrder, Payer: terms.Payer, Amount: 9900,
			DueDate: terms.DueDate, ExpiresIn: time.Hour,
		}
		sold, err := g.CreatePix(t.Context(), order)
		require.NoError(t, err)
		require.NoError(t, g.payPix(sold.Payment.ID))
		all, err := g.ListPayments(t.Context(), gateway.PaymentsQuery{
			SubscriptionID: terms.Reference, CustomerGatewayID: terms.Payer.GatewayID,
		})
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, made.Payment.ID, all[0].Payment.ID)
		require.Equal(t, gateway.MethodPix, all[0].Payment.Method)
	})
}

// madeSince reads all pages of what was made since an instant.
func (g *gatewayUnderTest) madeSince(t *testing.T,
	since time.Time,
) (settled, refunded, disputed map[string]gateway.Event) {
	t.Helper()
	settled, refunded, disputed = map[string]gateway.Event{}, map[string]gateway.Event{}, map[string]gateway.Event{}
	for page := ""; ; {
		events, next, err := g.CreatedSince(t.Context(), since, page)
		require.NoError(t, err)
		for _, e := range events {
			require.Equal(t, g.Name(), e.Gateway)
			require.Equal(t, gateway.Reconciled, e.Type)
			switch p := e.Payload.(type) {
			case gateway.SettledPayment:
				settled[p.Payment.ID] = e
			case gateway.RefundChange:
				if p.Report.HasTotal || refunded[p.Report.PaymentID].Payload == nil {
					refunded[p.Report.PaymentID] = e
				}
			case gateway.DisputeChange:
				disputed[p.Report.PaymentID] = e
			default:
				t.Fatalf("unexpected %s", e.Kind())
			}
		}
		if page = next; next == "" {
			return settled, refunded, disputed
		}
	}
}

func TestWhatWasMadeSince(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		since := g.stage.Clock.Now().Add(-time.Hour)
		terms := g.terms(t, g.approved)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		g.chargeFirst(t)
		order := g.charged(t)
		_, err = g.Refund(t.Context(), g.refundTerms(order, 500))
		require.NoError(t, err)
		unpaid := g.pixTerms(t)
		_, err = g.CreatePix(t.Context(), unpaid)
		require.NoError(t, err)

		settled, refunded, disputed := g.madeSince(t, since)
		require.Len(t, settled, 2, "the PIX is not paid")
		require.Equal(t, sub.GatewayID, settled[sub.LatestPayment.ID].SubscriptionID)
		require.EqualValues(t, 24000, paymentOf(settled[order.ID]).Amount)
		require.NotEmpty(t, settled[order.ID].Reference)
		require.EqualValues(t, 500, refunded[order.ID].Payload.(gateway.RefundChange).Report.Total)
		require.Empty(t, disputed)
		settled, refunded, disputed = g.madeSince(t, g.stage.Clock.Now().Add(49*time.Hour))
		require.Empty(t, settled)
		require.Empty(t, refunded)
		require.Empty(t, disputed)
	})
}

// What happens to a payment that was made before is told, too: that it is paid,
// given back, disputed.
func TestWhatHappenedSinceToOlderPayments(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		back, doubted := g.charged(t), g.charged(t)
		late, err := g.CreatePix(t.Context(), g.pixTerms(t))
		require.NoError(t, err)
		_, err = g.stage.Clock.Advance(4 * 24 * time.Hour)
		require.NoError(t, err)
		since := g.stage.Clock.Now().Add(-time.Hour)
		settled, refunded, disputed := g.madeSince(t, since)
		require.Empty(t, settled)
		require.Empty(t, refunded)
		require.Empty(t, disputed)

		_, err = g.Refund(t.Context(), g.refundTerms(back, 24000))
		require.NoError(t, err)
		require.NoError(t, g.dispute(doubted.ID))
		_, refunded, disputed = g.madeSince(t, since)
		require.Contains(t, refunded, back.ID)
		require.Contains(t, disputed, doubted.ID)
		require.Equal(t, gateway.DisputeOpen, disputed[doubted.ID].Payload.(gateway.DisputeChange).Report.State)
		require.EqualValues(t, 24000, disputed[doubted.ID].Payload.(gateway.DisputeChange).Report.Amount)
		if g.payPix(late.Payment.ID) == nil { // a code of gateway B has run out by then
			settled, _, _ = g.madeSince(t, since)
			require.Contains(t, settled, late.Payment.ID)
		}
	})
}

func TestEventsThatWereSent(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		since := g.stage.Clock.Now().Add(-time.Hour)
		p := g.charged(t)
		bodies, next, err := g.EventsSince(t.Context(), since, "")
		if g.Name() == gateway.GWA {
			require.ErrorIs(t, err, gateway.ErrUnsupported)
			return
		}
		require.NoError(t, err)
		require.Empty(t, next)
		found := false
		for _, body := range bodies {
			e, err := g.Gateway.(gateway.Adapter).ReadEvent(body)
			require.NoError(t, err)
			require.NotEmpty(t, e.ID)
			found = found || e.Kind() == gateway.PaymentSettled && e.PaymentID() == p.ID
		}
		require.True(t, found)
		bodies, _, err = g.EventsSince(t.Context(), g.stage.Clock.Now().Add(time.Hour), "")
		require.NoError(t, err)
		require.Empty(t, bodies)
	})
}

func TestNothingSecretInRefundsAndCharges(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		charge, err := g.ChargeCard(t.Context(), g.cardTerms(t, g.approved))
		require.NoError(t, err)
		made, err := g.Refund(t.Context(), g.refundTerms(charge.Payment, 100))
		require.NoError(t, err)
		for _, leak := range []string{
			paymentstest.CardApproved, "creditCardToken", "_secret_", "sk_test", "client_secret",
		} {
			require.NotContains(t, string(made.Response), leak)
		}
		if token := charge.CardToken.Reveal(); token != "" {
			require.NotContains(t, string(made.Response), token)
		}
	})
}

func TestDisputesOfAPayment(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		p := g.charged(t)
		none, err := g.ListDisputes(t.Context(), gateway.PaymentRef{PaymentID: p.ID})
		require.NoError(t, err)
		require.Empty(t, none)
		require.NoError(t, g.dispute(p.ID))
		all, err := g.ListDisputes(t.Context(), gateway.PaymentRef{PaymentID: p.ID})
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, gateway.DisputeOpen, all[0].State)
		require.EqualValues(t, 24000, all[0].Amount)
		require.NotEmpty(t, all[0].Reason)
		require.Equal(t, p.ID, all[0].PaymentID)
	})
}
