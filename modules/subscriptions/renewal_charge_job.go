package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// RenewalChargeArgs does what is due for an open renewal charge.
type RenewalChargeArgs struct {
	ChargeID objectid.ID `json:"charge_id"`
	At       time.Time   `json:"at"` // tells the looks at one charge apart
}

// Kind names the job.
func (RenewalChargeArgs) Kind() string { return "subscriptions_renewal_charge" }

func (s *Store) TendTx(ctx context.Context, tx pgx.Tx, id objectid.ID, at time.Time) error {
	_, err := s.jobs.InsertTx(ctx, tx, RenewalChargeArgs{ChargeID: id, At: at}, &river.InsertOpts{
		Queue: jobs.QueueGateway, ScheduledAt: at, UniqueOpts: river.UniqueOpts{ByArgs: true},
	})
	if err != nil {
		return fmt.Errorf("schedule renewal charge: %w", err)
	}
	return nil
}

// withdrawChargesTx has the open codes of a subscription that has ended made
// unpayable, by job.
func (s *Store) withdrawChargesTx(ctx context.Context, tx pgx.Tx, sub Row) error {
	ids, err := s.db.ListOpenRenewalCharges(ctx, tx, sub.ID)
	if err != nil {
		return fmt.Errorf("list renewal charges: %w", err)
	}
	for _, id := range ids {
		if err := s.TendTx(ctx, tx, id, s.clock.Now()); err != nil {
			return err
		}
	}
	return nil
}

// TendRenewalCharge makes unpayable a code that has run out or whose subscription has
// ended. What became of an order whose answer was lost the looks find out: it sees to it
// that they do. Otherwise it does nothing.
func (s *Charges) TendRenewalCharge(ctx context.Context, id objectid.ID) error {
	charge, err := s.db.GetRenewalCharge(ctx, s.pool, id)
	if err != nil || charge.State != ChargeOpen {
		return err
	}
	if charge.IntentOpen {
		if err := s.adoptCharge(ctx, id); err != nil {
			return err
		}
		charge = s.lookNowForCharge(ctx, charge)
	}
	if charge.IntentOpen || charge.State != ChargeOpen {
		return nil
	}
	sub, err := s.db.GetSubscription(ctx, s.pool, charge.SubscriptionID)
	if err != nil || !Status(sub.Status).Ended() && !s.runsOut(charge) {
		return err
	}
	return s.withdrawCode(ctx, charge)
}

// withdrawCode makes an open code unpayable at the gateway; one that has just been
// paid is settled instead.
func (s *Charges) withdrawCode(ctx context.Context, charge RenewalCharge) error {
	gateway, err := s.payments.Gateway(payments.GatewayName(charge.Gateway))
	if err != nil {
		return err
	}
	err = gateway.CancelPix(ctx, *charge.GatewayPaymentID, charge.ID)
	switch {
	case errors.Is(err, payments.ErrAlreadyPaid):
		made, err := gateway.ReadPix(ctx, *charge.GatewayPaymentID, charge.ID)
		if err != nil {
			return err
		}
		_, err = s.keepCode(ctx, charge, made, ByLook)
		return err
	case err != nil && !errors.Is(err, payments.ErrGatewayMissing):
		return err
	}
	return s.dropCharge(ctx, charge.ID, intent.Void, ByLook)
}

// TendAll settles what is open of a subscription's renewal charges, for an account
// that is deleted: ErrStillOpen while something could still be paid.
func (s *Charges) TendAll(ctx context.Context, subscriptionID objectid.ID) error {
	ids, err := s.db.ListOpenRenewalCharges(ctx, s.pool, subscriptionID)
	if err != nil {
		return fmt.Errorf("list renewal charges: %w", err)
	}
	for _, id := range ids {
		if err := s.TendRenewalCharge(ctx, id); err != nil {
			return err
		}
	}
	if ids, err = s.db.ListOpenRenewalCharges(ctx, s.pool, subscriptionID); err == nil && len(ids) > 0 {
		return ErrStillOpen
	}
	return err
}
