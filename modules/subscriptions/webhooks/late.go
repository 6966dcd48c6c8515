package webhooks

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
)

// asksFirstTx has money of gateway A that names the subscription read live, by job, before
// it is believed to be of another recurrence, authorization or gateway, or teaches the
// subscription its recurrence.
func (s *Applier) asksFirstTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, why stray, e gateway.Event) (bool, error) {
	teaches := e.SubscriptionID != "" && lifecycle.RemoteID(sub) == ""
	told, settled := e.Payload.(gateway.SettledPayment)
	if !settled || e.IsProof() || why.reason == "" && !teaches {
		return false, nil
	}
	known, err := s.payments.FindPayment(ctx, tx, e.Gateway, told.Payment.ID)
	if err != nil || known != nil {
		return false, err
	}
	a := settle.LateMoneyArgs{
		SubscriptionID: sub.ID, PaymentID: told.Payment.ID, EventID: e.ID, First: settle.IsFirst(sub, e), AuthorizationID: e.AuthorizationID,
		SettledAt: told.Payment.SettledAt,
	}
	charge, err := s.reads.ChargeOf(ctx, tx, e)
	if err != nil {
		return false, err
	}
	if charge != nil {
		a.ChargeID = charge.ID
	}
	return true, s.settler.InsertLateTx(ctx, tx, a, time.Time{})
}
