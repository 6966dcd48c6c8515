package disputes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// listUnusedTx lists what was paid for periods that a lost dispute of another payment took
// away. A period of which no day was used is given back by itself, and so is what slipped
// through after the dispute had been opened; of one that had begun people decide.
func (s *Disputes) listUnusedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, was state.Status) error {
	chain, err := s.deps.Reads.RenewalChain(ctx, tx, sub)
	if err != nil {
		return err
	}
	disputes, err := s.DisputesOf(ctx, tx, sub)
	if err != nil {
		return err
	}
	shut := s.shutAt(was, disputes)
	for _, r := range chain {
		if err := s.listUnusedOfTx(ctx, tx, r, disputes, shut); err != nil {
			return err
		}
	}
	return nil
}

// shutAt is when access ended: what was open until now had it until now, by the gateway's
// clock where that is ahead.
func (s *Disputes) shutAt(was state.Status, disputes []payments.Dispute) time.Time {
	shut, now := time.Time{}, s.deps.Clock.Now()
	for _, d := range disputes {
		if !d.Unused && takesMoney(d) {
			shut, now = lifecycle.LatestOf(d.OpenedAt, &shut),
				lifecycle.LatestOf(lifecycle.LatestOf(now, d.ClosedAt), &d.OpenedAt)
		}
	}
	if was != state.Suspended || shut.IsZero() {
		return now
	}
	return shut
}

func (s *Disputes) listUnusedOfTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	disputes []payments.Dispute, shut time.Time,
) error {
	paid, err := s.deps.Payments.PaymentsOf(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil {
		return err
	}
	given, err := s.deps.Payments.RefundsOf(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil {
		return err
	}
	for _, p := range paid {
		left := LeftOf(p, given)
		if left <= 0 || takenBack(disputes, p.Payment) {
			continue
		}
		listed, err := s.deps.Payments.Cases().UnappliedStateOf(ctx, tx, p.Gateway, p.Payment.ID)
		if err != nil {
			return err
		}
		begins, ends, reference, err := s.PeriodOfTx(ctx, tx, sub, p)
		if err != nil {
			return err
		}
		if listed != "" || !ends.After(shut) {
			continue
		}
		begun := !begins.After(shut) && !slippedThrough(sub, disputes, p)
		note := "It paid for a period that had not begun when the lost dispute of another payment ended the subscription."
		if begun {
			note = fmt.Sprintf("It paid until %s; the lost dispute of another payment ended the subscription before that.",
				ends.UTC().Format(time.RFC3339))
		}
		_, err = s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
			Kind: payments.UnappliedLate, Amount: &left, Note: note, Automatic: !begun, Bought: begun,
			Reference: reference,
		}.Of(sub.Owner().At(p.Gateway), p.Payment))
		if err != nil {
			return err
		}
	}
	return nil
}

// slippedThrough reports whether a payment was charged by itself after a dispute that holds
// the subscription, or ended it, had been opened. Gateways tell seconds: what came in that of
// the opening came before it.
func slippedThrough(sub lifecycle.Subscription, disputes []payments.Dispute, p gateway.LedgerPayment) bool {
	return !sub.PaysOnce() && p.Payment.SettledAt != nil &&
		slices.ContainsFunc(disputes, func(d payments.Dispute) bool {
			return !d.Unused && takesMoney(d) && p.Payment.SettledAt.Truncate(time.Second).After(d.OpenedAt)
		})
}

// slippedAsOpened reports whether a payment was charged by itself in the second in which
// such a dispute was opened, for a period that had not begun then.
func slippedAsOpened(sub lifecycle.Subscription, disputes []payments.Dispute, p gateway.LedgerPayment,
	begins time.Time,
) bool {
	return !sub.PaysOnce() && p.Payment.SettledAt != nil &&
		slices.ContainsFunc(disputes, func(d payments.Dispute) bool {
			return !d.Unused && takesMoney(d) && begins.After(d.OpenedAt) &&
				p.Payment.SettledAt.Truncate(time.Second).Equal(d.OpenedAt.Truncate(time.Second))
		})
}

// listSlippedTx lists what was charged after the dispute had been opened and was booked
// before that was told, as listPausedTx does with what is booked later: it bought nothing.
// The date of the next charge stays: the gateway has made this one.
func (s *Disputes) listSlippedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) error {
	if sub.Status.Ended() || !sub.Collects() {
		return nil
	}
	disputes, err := s.DisputesOf(ctx, tx, sub)
	if err != nil {
		return err
	}
	paid, err := s.deps.Payments.PaymentsOf(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil {
		return err
	}
	for _, p := range paid {
		slipped := slippedThrough(sub, disputes, p)
		if !slipped {
			begins, _, _, err := s.PeriodOfTx(ctx, tx, sub, p)
			if err != nil {
				return err
			}
			slipped = slippedAsOpened(sub, disputes, p, begins)
		}
		if !slipped || DisputedPayment(disputes, p.Payment) {
			continue
		}
		u := payments.Unapplied{Kind: payments.UnappliedLate, Automatic: true, Note: PausedChargeText}
		_, err := s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, u.Of(sub.Owner().At(p.Gateway), p.Payment))
		if err != nil {
			return err
		}
	}
	return nil
}

// PausedChargeText is the note of a charge that was made in spite of a pause.
const PausedChargeText = "Charged while another payment of the subscription was disputed and collection was paused."

// PeriodOfTx is the period that a payment paid for. Reference is our id of a PIX code,
// where it is not the subscription's.
func (s *Disputes) PeriodOfTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	p gateway.LedgerPayment,
) (begins, ends time.Time, reference objectid.ID, err error) {
	c, err := s.db.RenewalChargeGetByPayment(ctx, tx, p.Gateway, &p.Payment.ID)
	switch {
	case err == nil && c.MovedFrom != nil && c.MovedTo != nil:
		return *c.MovedFrom, *c.MovedTo, c.ID, nil
	case err == nil:
		reference = c.ID
	case !errors.Is(err, pgx.ErrNoRows):
		return begins, ends, "", fmt.Errorf("read renewal charge: %w", err)
	}
	d, debited, err := s.deps.Reads.DebitOfTx(ctx, tx, sub, p.Payment.ID)
	if err != nil {
		return begins, ends, "", err
	}
	begins = *p.Payment.SettledAt
	switch {
	case debited:
		begins = s.deps.Calendar.DayOf(d.Cycle)
	case p.Payment.MadeFor != nil && !sub.PaysOnce() && !sub.PixAutomatic:
		begins = *p.Payment.MadeFor
	}
	return begins, s.deps.Calendar.MonthsOn(begins, int(sub.PeriodMonths), sub), reference, nil
}

func takesMoney(d payments.Dispute) bool {
	return d.State == gateway.DisputeOpen || d.State == gateway.DisputeLost
}

// takenBack reports whether a dispute holds, or took, a payment.
func takenBack(disputes []payments.Dispute, p gateway.Payment) bool {
	for _, d := range disputes {
		if takesMoney(d) && IsOne(p, []string{d.PaymentID}) {
			return true
		}
	}
	return false
}

// IsOne reports whether one of the names is the payment's.
func IsOne(p gateway.Payment, names []string) bool {
	for _, name := range names {
		if name != "" && (name == p.ID || name == p.InvoiceID || name == p.PaymentIntentID) {
			return true
		}
	}
	return false
}

// LeftOf is what has not been given back or asked for yet.
func LeftOf(p gateway.LedgerPayment, refunds []payments.Refund) money.Cents {
	left := p.Payment.Amount
	for _, r := range refunds {
		if r.Status != gateway.RefundStatusFailed && IsOne(p.Payment, []string{r.PaymentID}) {
			left -= r.Amount
		}
	}
	return left
}
