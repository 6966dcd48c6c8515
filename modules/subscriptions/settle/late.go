package settle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// lateMoneyTx opens an ended subscription again for money that came after its
// end (docs/contract/payments.md, Late money). What a recurrence charged before the end,
// and is told after it, bought nothing: whoever ended it was not told that it was paid.
// It is listed and refunded, as is money that opens nothing because the customer has
// another subscription by now, or disputes what they paid, or has deleted the account.
func (p settling) lateMoneyTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) error {
	withdrawals, err := p.db.TransitionListWithdrawals(ctx, tx, sub.ID)
	if err != nil {
		return fmt.Errorf("read withdrawals: %w", err)
	}
	if len(withdrawals) > 0 { // all goes back, also what was charged before
		return p.listLateTx(ctx, tx, *sub, "Reported after the customer had withdrawn from the subscription.")
	}
	if p.chargedBeforeEnd(*sub) {
		if !p.Absent.Deletion {
			if refunded, err := p.refundDeletedTx(ctx, tx, sub); err != nil || refunded {
				return err
			}
		}
		return p.listLateTx(ctx, tx, *sub,
			"Charged before the subscription ended, and reported after it: it added no paid time.")
	}
	why, err := p.cannotOpenTx(ctx, tx, *sub)
	if err != nil {
		return err
	}
	if why != "" {
		p.deps.Log.WarnContext(ctx, "money for an ended subscription opens nothing",
			slog.String("subscription_id", sub.ID.String()),
			slog.String("gateway", string(sub.Gateway)), slog.String("payment_id", p.ID), slog.String("why", why))
		return p.listLateTx(ctx, tx, *sub, why)
	}
	p.Recurs = p.Recurs && !p.Role.beside()
	if p.Recurs {
		if p.Recurs, err = p.endedUnknownTx(ctx, tx, *sub); err != nil {
			return err
		}
	}
	reopen := func(r *lifecycle.Subscription) {
		if p.Charge == nil || sub.Status != state.Expired { // a renewal counts from the old end, if that is later
			r.ExpiresAt, r.AnchorDay = nil, nil
		}
		r.CancelAtPeriodEnd = false
		if !p.Recurs { // what ended here was to end at the gateway, too
			p.deps.Store.Reopen(r, *sub)
		}
		p.pay(r)
	}
	moved, err := p.deps.Store.MoveTx(ctx, tx, sub,
		lifecycle.Change{Action: state.LateMoney, Source: p.Source, Event: p.Event, Edit: reopen})
	if err != nil || !moved {
		return err
	}
	if err := p.deps.Payments.CountPaymentTx(ctx, tx, sub.Gateway, p.ID); err != nil {
		return err
	}
	return p.deps.Store.StopTx(ctx, tx, *sub, p.deps.Clock.Now())
}

// endedUnknownTx reports whether a subscription ended only because nothing of it was found
// at the gateway: a recurrence that shows itself by its money is the one that was ordered,
// and goes on. What ended otherwise was to end there, too, also when nobody knew it.
func (p settling) endedUnknownTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (bool, error) {
	reason, err := p.db.TransitionGetLastReason(ctx, tx, sub.ID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, fmt.Errorf("read why the subscription ended: %w", err)
	}
	return reason == state.ReasonAbsentAtGateway, nil
}

// cannotOpenTx says why money opens an ended subscription no more; "" when it does.
func (p settling) cannotOpenTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (string, error) {
	if sub.HasChargeback { // while its money is disputed nothing opens
		return "Paid after the subscription had ended, of which a payment is disputed.", nil
	}
	withdrawals, err := p.db.TransitionListWithdrawals(ctx, tx, sub.ID)
	if err != nil || len(withdrawals) > 0 {
		return "Paid after the customer had withdrawn from the subscription.", err
	}
	gone, err := p.deps.Store.IsGoneTx(ctx, tx, sub.CustomerID)
	if err != nil || gone {
		return "Paid after the customer had deleted the account.", err
	}
	live, err := p.db.SubscriptionGetLive(ctx, tx, sub.CustomerID)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case live.IsPendingRenewal() && *live.RenewsID == sub.ID:
		return "", nil
	}
	return "Paid after the subscription had ended; the customer has another one, " + live.ID.String() + ".", nil
}

// chargedBeforeEnd reports whether a payment that is told after the end was a charge of
// a recurrence before it. Gateways tell seconds at most: one in the second of the end
// came after it. A code that was paid before the end and is told after it opens the row.
func (p Payment) chargedBeforeEnd(sub lifecycle.Subscription) bool {
	oneOff := sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic
	return sub.StartedAt != nil && !oneOff && p.SettledAt != nil &&
		p.SettledAt.Before(sub.EndedAt.Truncate(time.Second))
}

// LateMoneyArgs reads money live that would open a subscription which has ended, or that
// nobody here ordered: where webhooks are not signed, whoever has the token could have a
// subscription opened, or lengthened for ever.
type LateMoneyArgs struct {
	Gateway         gateway.Name `json:"gateway,omitempty"` // "" of the releases that queued none
	SubscriptionID  objectid.ID  `json:"subscription_id"`
	PaymentID       string       `json:"payment_id"`
	EventID         string       `json:"event_id"`
	First           bool         `json:"first"`
	ChargeID        objectid.ID  `json:"charge_id,omitempty"`        // the code of a further period, if named
	AuthorizationID string       `json:"authorization_id,omitempty"` // the one that the event names
	SettledAt       *time.Time   `json:"settled_at,omitempty"`       // by the event; gateway A tells the day alone
	Misses          int          `json:"misses,omitempty"`           // checks that did not find it paid
}

// Kind names the job.
func (LateMoneyArgs) Kind() string { return "subscriptions_late_money" }

// InsertLateTx has the gateway asked for a payment.
func (s *Settler) InsertLateTx(ctx context.Context, tx pgx.Tx, a LateMoneyArgs) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway})
}
