package settle

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
)

// ListUnappliedTx puts money that an ended subscription cannot take on the list of
// unapplied payments, from which it is refunded by itself, and ends at the gateway
// what went on charging.
func (s *Settler) ListUnappliedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p gateway.Payment,
	note string,
) error {
	return settling{Settler: s, Payment: Payment{Payment: p}}.listLateTx(ctx, tx, sub, note)
}

func (p settling) listLateTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, note string) error {
	_, err := p.listTx(ctx, tx, sub, payments.Unapplied{
		Kind: payments.UnappliedLate, Note: note, Automatic: true, Reference: p.reference(),
	})
	if err != nil {
		return err
	}
	return p.deps.Store.EndAtGatewayTx(ctx, tx, sub)
}

// listTx puts money that pays no period on the list: the caller says of u why.
func (p settling) listTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	u payments.Unapplied,
) (listed bool, err error) {
	_, err = p.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, u.Of(sub.Owner(), p.Payment.Payment))
	return err == nil, err
}

// reference is our id that the gateway was told with a payment, where it is not the
// subscription's: without it nobody would find the payment there.
func (p Payment) reference() objectid.ID {
	if p.Charge == nil {
		return ""
	}
	return p.Charge.ID
}

// refundDeletedTx lists money for a customer who had been deleted when it was charged:
// the deletion has not reached the subscription yet, or ended it after the charge. What
// was not open yet ends here, as nothing is to open it any more; what runs is ended by
// the deletion.
func (p settling) refundDeletedTx(ctx context.Context, tx pgx.Tx,
	sub *lifecycle.Subscription,
) (refunded bool, err error) {
	deleted, err := p.deps.Accounts.CustomerDeletedAt(ctx, tx, sub.CustomerID)
	if err != nil || deleted == nil || p.paidBeforeDeletion(*sub, *deleted, p.deps.Config.Zone) {
		return false, err
	}
	if sub.Status == state.Pending {
		if _, err := p.deps.Store.MoveTx(ctx, tx, sub,
			lifecycle.Change{Action: state.CustomerCancels, Source: p.Source, Event: p.Event}); err != nil {
			return false, err
		}
	}
	return true, p.listLateTx(ctx, tx, *sub, "Paid after the customer had deleted the account.")
}

// paidBeforeDeletion reports whether a payment that is told after the deletion had its
// access before it. A code that was paid before it and is told after it had none. Where
// gateway A tells the day of the deletion alone, the customer is given the benefit.
func (p Payment) paidBeforeDeletion(sub lifecycle.Subscription, deleted time.Time, zone *time.Location) bool {
	oneOff := sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic
	if sub.StartedAt == nil || oneOff || p.SettledAt == nil {
		return false
	}
	if sub.Traits().ChargesByDay && p.SettledAt.Equal(lifecycle.StartOfDay(*p.SettledAt, zone)) {
		return p.SettledAt.Before(lifecycle.StartOfDay(deleted, zone))
	}
	return p.SettledAt.Before(deleted.Truncate(time.Second))
}

// listMovedTx lists a charge that slipped through for time that an extension gives: it
// moves no date, and is given back by itself.
func (p settling) listMovedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (bool, error) {
	moved, err := p.db.ChargeMoveCovers(ctx, tx, sub.ID, p.dueOf(*sub, p.deps.Clock.Now()))
	if err != nil || !moved {
		return false, err
	}
	return p.listTx(ctx, tx, *sub, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Automatic: true,
		Note: "Charged for time by which the subscription was extended.",
	})
}

// listUnrecurringTx lists a charge of a recurrence that has ended, or was to: it was
// opened again for one period, or ends with its paid time. It is given back by itself. A
// charge that was taken before still pays its period, where it moves the end.
func (p settling) listUnrecurringTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (bool, error) {
	if sub.Status != state.Active && sub.GatewayEndOpenSince == nil {
		return false, nil
	}
	deleted := sub.GatewayDeletedAt
	before := sub.GatewayEndOpenSince == nil &&
		(sub.CancelAtPeriodEnd || deleted != nil && p.SettledAt != nil && p.SettledAt.Before(*deleted))
	if before && (sub.Traits().EndsWithPeriod || p.movesEnd(*sub)) {
		return false, nil
	}
	return p.listTx(ctx, tx, *sub, payments.Unapplied{
		Kind: payments.UnappliedLate, Automatic: true, Note: "Charged by a recurrence that had ended.",
	})
}

// movesEnd reports whether a payment would move the end of the subscription.
func (p settling) movesEnd(sub lifecycle.Subscription) bool {
	after := sub
	p.pay(&after)
	return after.ExpiresAt == nil || after.ExpiresAt.After(*sub.ExpiresAt)
}

// listPausedTx lists a charge that slipped through while collection was paused, to be
// given back. False: it counts as any other.
func (p settling) listPausedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (bool, error) {
	at := p.deps.Clock.Now()
	if p.SettledAt != nil {
		at = *p.SettledAt
	}
	paused, err := p.db.PauseCovers(ctx, tx, sub.ID, at)
	if err != nil || !paused {
		return false, err
	}
	all, err := p.deps.Disputes.DisputesOf(ctx, tx, *sub)
	if err != nil || disputes.DisputedPayment(all, p.Payment.Payment) {
		return false, err
	}
	p.SettledAt = &at
	return p.listTx(ctx, tx, *sub, payments.Unapplied{
		Kind: payments.UnappliedLate, Automatic: true, Reference: p.reference(), Note: disputes.PausedChargeText,
	})
}

// listBesideTx lists money that was made beside the recurrence: it moves no end, and is
// given back by itself.
func (p settling) listBesideTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (bool, error) {
	note := "It names the subscription, but is no charge of its recurrence, which pays each period."
	if p.Role == OpeningAgain {
		note = "The first month of the subscription was paid before."
	}
	return p.listTx(ctx, tx, *sub, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Automatic: true, Note: note,
	})
}

// listTwiceTx lists a second charge of gateway A's recurrence for a due date that is paid:
// it pays no further period, and is given back by itself. A charge that is tried again, or
// whose due date is moved, stays one payment, and stays made for the day that it was made
// for; gateway B makes one invoice a period, and the ledger knows it by that.
func (p settling) listTwiceTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (bool, error) {
	twins, err := p.deps.Payments.PaidFor(ctx, tx, sub.Gateway, sub.ID, p.Payment.Payment)
	if err != nil || len(twins) == 0 {
		return false, err
	}
	return p.listTx(ctx, tx, *sub, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Automatic: true,
		Note: "A second charge of the recurrence for " + p.MadeFor.In(p.deps.Config.Zone).Format(time.DateOnly) +
			", which another one has paid.",
	})
}
