package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// LateMoneyArgs reads money live that would open a subscription which has ended: gateway
// A's webhooks are not signed, and whoever has the token could have it opened for ever.
type LateMoneyArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	PaymentID      string      `json:"payment_id"`
	EventID        string      `json:"event_id"`
	Recurs         bool        `json:"recurs"`
	First          bool        `json:"first"`
}

// Kind names the job.
func (LateMoneyArgs) Kind() string { return "subscriptions_late_money" }

// asksLiveTx has late money of gateway A that would open the subscription confirmed by
// the gateway first, by job: nothing is booked until then. Money that opens nothing is
// read live before it is refunded.
func (s *Service) asksLiveTx(ctx context.Context, tx pgx.Tx, sub row, p payment) (bool, error) {
	if sub.Gateway != string(payments.GWA) || p.source != ByWebhook || !Status(sub.Status).Ended() {
		return false, nil
	}
	known, err := s.payments.FindPayment(ctx, tx, payments.GWA, p.ID)
	if err != nil || known != nil {
		return false, err
	}
	if s.chargedBeforeEnd(sub, p) {
		return false, nil
	}
	if why, err := s.cannotOpenTx(ctx, tx, sub, p); err != nil || why != "" {
		return false, err
	}
	_, err = s.jobs.InsertTx(ctx, tx, LateMoneyArgs{SubscriptionID: sub.ID, PaymentID: p.ID, EventID: text(p.event), Recurs: p.recurs, First: p.first},
		&river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return false, fmt.Errorf("have late money read: %w", err)
	}
	return true, nil
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
	charge, err := s.db.GetRenewalChargeByPayment(ctx, s.pool, subscriptionsdb.GetRenewalChargeByPaymentParams{Gateway: sub.Gateway, GatewayPaymentID: &a.PaymentID})
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
