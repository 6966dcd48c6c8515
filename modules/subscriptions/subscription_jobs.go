package subscriptions

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// expireArgs ends access when expires_at is reached.
type expireArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (expireArgs) Kind() string { return "subscriptions_expire" }

// dropPixArgs gives up a PIX that nobody paid in time.
type dropPixArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (dropPixArgs) Kind() string { return "subscriptions_drop_pix" }

// endArgs ends at the gateway what has ended here.
type endArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
}

// Kind names the job.
func (endArgs) Kind() string { return "subscriptions_end_at_gateway" }

// sweepArgs looks for rows whose jobs were lost.
type sweepArgs struct{}

// Kind names the job.
func (sweepArgs) Kind() string { return "subscriptions_sweep" }

// Expire ends a subscription whose expires_at is reached; one that was extended
// meanwhile, or has ended, is left alone.
func (s *Service) Expire(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil {
		return err
	}
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.lockTx(ctx, tx, sub.CustomerID, id)
		if err != nil || locked.ExpiresAt == nil || locked.ExpiresAt.After(s.clock.Now()) {
			return err
		}
		_, err = s.moveTx(ctx, tx, &locked, change{action: PeriodEnds, source: ByJob})
		return err
	})
}

// DropPix gives up a PIX that nobody paid before its code ran out or the wait was
// over; it cancels the payment at the gateway first.
func (s *Service) DropPix(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil {
		return err
	}
	waits := Status(sub.Status) == Pending && sub.PaymentMethod == string(payments.MethodPix) && !sub.IntentOpen
	if !waits || s.pixDue(sub).After(s.clock.Now()) {
		return nil
	}
	return s.dropPix(ctx, sub, PixRunsOut, ByJob)
}

// EndAtGateway cancels at the gateway a subscription that has ended here, so that
// it charges nobody.
func (s *Service) EndAtGateway(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil || !Status(sub.Status).Ended() || remoteID(sub) == "" {
		return err
	}
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return err
	}
	return gateway.CancelSubscription(ctx, remoteID(sub))
}

// Sweep does what is due and was not done: jobs get lost when somebody empties
// their table, or sleep while the clock of a database goes wrong.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.clock.Now()
	var failed error
	each := func(ids []objectid.ID, err error, step func(context.Context, objectid.ID) error) {
		failed = errors.Join(failed, err)
		for _, id := range ids {
			failed = errors.Join(failed, step(ctx, id))
		}
	}
	expirations, err := s.db.ListDueExpirations(ctx, s.pool, &now)
	each(expirations, err, s.Expire)
	recoveries, err := s.db.ListDueRecoveries(ctx, s.pool, &now)
	each(recoveries, err, s.Recover)
	pix, err := s.db.ListDuePix(ctx, s.pool, s.duePixParams(now))
	each(pix, err, s.DropPix)
	return failed
}
