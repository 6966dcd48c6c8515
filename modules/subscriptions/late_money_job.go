package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// LateMoneyArgs reads money live that would open a subscription which has ended, or that
// nobody here ordered: gateway A's webhooks are not signed, and whoever has the token
// could have a subscription opened, or lengthened for ever.
type LateMoneyArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	PaymentID      string      `json:"payment_id"`
	EventID        string      `json:"event_id"`
	Recurs         bool        `json:"recurs"`
	First          bool        `json:"first"`
	ChargeID       objectid.ID `json:"charge_id,omitempty"` // the code for a further period that the event names
	Misses         int         `json:"misses,omitempty"`    // looks that did not find it paid
}

// Kind names the job.
func (LateMoneyArgs) Kind() string { return "subscriptions_late_money" }

// lateMoneyPauses lie between the looks for a payment that was told and is not found, or
// not paid: gateway A's answers may lag, and the last of four decides.
var lateMoneyPauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// asksLiveTx has money of gateway A that would open the subscription, or lengthen it
// without having been ordered here, confirmed by the gateway first, by job: nothing is
// booked until then. Late money that opens nothing is read live before it is refunded.
func (s *Service) asksLiveTx(ctx context.Context, tx pgx.Tx, sub row, p payment) (bool, error) {
	ended := Status(sub.Status).Ended()
	if sub.Gateway != string(payments.GWA) || p.source != ByWebhook || !ended && isOrdered(sub, p) {
		return false, nil
	}
	known, err := s.payments.FindPayment(ctx, tx, payments.GWA, p.ID)
	if err != nil || known != nil {
		return false, err
	}
	if ended && s.chargedBeforeEnd(sub, p) {
		return false, nil
	}
	if ended {
		if why, err := s.cannotOpenTx(ctx, tx, sub, p); err != nil || why != "" {
			return false, err
		}
	}
	a := LateMoneyArgs{SubscriptionID: sub.ID, PaymentID: p.ID, EventID: text(p.event), Recurs: p.recurs, First: p.first}
	if p.charge != nil {
		a.ChargeID = p.charge.ID
	}
	_, err = s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return false, fmt.Errorf("have late money read: %w", err)
	}
	return true, nil
}

// isOrdered reports whether a payment that a webhook of gateway A tells is one that was
// ordered here, of the amount that was asked for. The charges of a card's recurrence and
// of an automatic PIX have ids of the gateway's own: their amount has to be right.
func isOrdered(sub row, p payment) bool {
	if p.charge == nil && !paysOnce(sub) {
		full := sub.PriceCents * int64(sub.PeriodMonths)
		first := p.first && sub.FirstAmountCents != nil && int64(p.Amount) == *sub.FirstAmountCents
		return first || int64(p.Amount) == sub.PriceCents || int64(p.Amount) == full
	}
	id := sub.PixPaymentID
	if p.charge != nil {
		id = p.charge.GatewayPaymentID
	}
	return text(id) == p.ID && p.Amount == askedFor(sub, p)
}

// paysOnce reports whether each period is paid by a code of its own.
func paysOnce(sub row) bool {
	return sub.PaymentMethod == string(payments.MethodPix) && !sub.PixAutomatic
}

// askedFor is what the code that was paid asks for, or one like it would.
func askedFor(sub row, p payment) money.Cents {
	switch {
	case p.charge != nil:
		return money.Cents(p.charge.AmountCents)
	case text(sub.PixPaymentID) == p.ID || sub.LastPaymentAt == nil:
		return pixAmount(sub)
	}
	return money.Cents(sub.PriceCents * int64(sub.PeriodMonths))
}

// keepOtherAmountTx lists a PIX at gateway A of another amount than the code asks for: it
// pays no period, and people decide.
func (s *Service) keepOtherAmountTx(ctx context.Context, tx pgx.Tx, sub row, p payment) (bool, error) {
	byCode := p.charge != nil || paysOnce(sub)
	if sub.Gateway != string(payments.GWA) || !byCode || p.source != ByLiveRead && p.source != ByReconcile || p.Amount == askedFor(sub, p) {
		return false, nil
	}
	_, err := s.payments.RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedForeign, Gateway: payments.GWA, PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: p.SettledAt, Note: fmt.Sprintf("R$ %s were paid where R$ %s are asked for.", p.Amount, askedFor(sub, p)),
	})
	return true, err
}

// lookLater has a payment looked for once more after a miss; false: it was the last.
func (s *Service) lookLater(ctx context.Context, a LateMoneyArgs) (bool, error) {
	if a.Misses >= len(lateMoneyPauses) {
		return false, nil
	}
	at := s.clock.Now().Add(lateMoneyPauses[a.Misses])
	a.Misses++
	return true, postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		_, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway, ScheduledAt: at})
		return err
	})
}

// ConfirmLateMoney applies late money as the gateway shows it. What it does not know, or
// shows as another's or unpaid, gives nothing; what it does not answer is asked again.
func (s *Service) ConfirmLateMoney(ctx context.Context, a LateMoneyArgs) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return err
	}
	reference := sub.ID
	var charge renewalCharge
	if a.ChargeID != "" {
		charge, err = s.db.GetRenewalCharge(ctx, s.pool, a.ChargeID)
	} else {
		charge, err = s.db.GetRenewalChargeByPayment(ctx, s.pool, subscriptionsdb.GetRenewalChargeByPaymentParams{Gateway: sub.Gateway, GatewayPaymentID: &a.PaymentID})
	}
	renews := err == nil && charge.SubscriptionID == sub.ID
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	if renews {
		reference = charge.ID
	}
	remote, err := gateway.ReadPayment(ctx, a.PaymentID, reference)
	if err == nil && remote.Status != payments.PaymentSettled {
		err = fmt.Errorf("%w: it is %s", payments.ErrGatewayMissing, remote.NativeStatus)
	}
	if errors.Is(err, payments.ErrGatewayMissing) {
		if again, err := s.lookLater(ctx, a); err != nil || again {
			return err
		}
		s.log.WarnContext(ctx, "late money that the gateway does not confirm gives nothing", slog.String("subscription_id", sub.ID.String()),
			slog.String("payment_id", a.PaymentID), slog.Any("error", err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("read late payment %s: %w", a.PaymentID, err)
	}
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		locked, err := s.lockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		p := payment{Payment: remote, source: ByLiveRead, event: filled(a.EventID), recurs: a.Recurs, first: a.First}
		if renews {
			locked, err := s.db.GetRenewalChargeForUpdate(ctx, tx, charge.ID)
			if err != nil {
				return fmt.Errorf("read renewal charge: %w", err)
			}
			p.charge, p.recurs = &locked, locked.Cycle.Valid
		}
		return s.settlePaymentTx(ctx, tx, &locked, p)
	})
}
