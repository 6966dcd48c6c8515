package settle

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
)

// IsFirst reports whether the payment is the one-off that began a subscription
// whose recurrence is charged apart: the first code of an automatic PIX, a first
// month that a promo code lowered.
func IsFirst(sub lifecycle.Subscription, e gateway.Event) bool {
	if sub.PixAutomatic {
		return e.ConciliationID != "" && e.ConciliationID == nullable.Value(sub.PixConciliationID)
	}
	return sub.FirstAmountCents != nil && e.Gateway.Traits().FirstMonthApart && e.SubscriptionID == ""
}

// RoleOfTx judges a payment that names the subscription, which may be none of its own: a
// card is paid by the charges that name its recurrence, at gateway B by its invoices, and
// by one first month that a promo code lowered; automatic PIX by its first code and its
// debits. Whatever else was made for them, also of the right amount, pays no period. A
// manual PIX is lengthened by each payment. What is read live has to tell its
// authorization itself: of an event's word it is not known who sent it.
func (s *Settler) RoleOfTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
	p gateway.Payment,
) (Role, error) {
	if IsFirst(sub, e) {
		if sub.LastPaymentAt != nil && !sub.PaysOnce() {
			return OpeningAgain, nil
		}
		return Opening, nil
	}
	beside, err := s.isBesideTx(ctx, tx, sub, e, p)
	if beside {
		return Beside, err
	}
	return OfPeriod, err
}

func (s *Settler) isBesideTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
	p gateway.Payment,
) (bool, error) {
	switch {
	case sub.PaysOnce():
		return false, nil
	case !sub.PixAutomatic && !e.Gateway.Traits().Invoices:
		return e.SubscriptionID == "", nil
	case !sub.PixAutomatic:
		return e.SubscriptionID == "" && p.InvoiceID == "", nil
	case sub.LastPaymentAt == nil, e.AuthorizationID != "" && e.Type != gateway.ReadLive:
		return false, nil
	case p.AuthorizationGatewayID != "" && p.AuthorizationGatewayID == nullable.Value(sub.GwaPixAuthID):
		return false, nil
	}
	_, found, err := s.deps.Reads.DebitOfTx(ctx, tx, sub, p.ID)
	if err != nil || found {
		return false, err
	}
	awaited, err := s.db.DebitHasAwaited(ctx, tx, sub.ID)
	if err != nil {
		return false, fmt.Errorf("read debits: %w", err)
	}
	return !awaited, nil
}

// SourceOf says who brought an event: the gateway itself, or what was read of it.
func SourceOf(e gateway.Event) state.Source {
	switch e.Type {
	case gateway.Reconciled:
		return state.ByReconcile
	case gateway.ReadLive:
		return state.ByLiveRead
	}
	return state.ByWebhook
}

// EventOf is the event's id for the history, nil for what is none of the gateway's.
func EventOf(e gateway.Event) *string { return nullable.Ptr(e.ID) }

// IsOthers reports whether the ledger has a payment as that of something else.
func IsOthers(sub lifecycle.Subscription, known *gateway.LedgerPayment) bool {
	return known != nil && (known.Purpose != gateway.ForSubscription || known.LocalID != sub.ID)
}

// Absent is what was looked for before a payment is settled, and is not there: of what makes a payment something other
// than a renewal most have nothing, and so it is looked for at once. What is there is read where it is needed. The zero
// value says nothing.
type Absent struct {
	Payment     bool // no payment with the id
	Others      bool // none with it that is for something else
	Failures    bool // no failed attempt of the subscription after the event
	Charge      bool // the event is about no renewal charge
	Pauses      bool // the subscription's collection was never paused
	ChargeMoves bool // no extension has moved its charges
	Deletion    bool // the customer, who is locked, has not deleted the account
}
