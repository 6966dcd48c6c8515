package subscriptions

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/strays"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// The rooms' work that tests have done at once, and that jobs and checks do otherwise.

// Recover is that of the room.
func (s *Service) Recover(ctx context.Context, id objectid.ID) error {
	return s.checkout.Recover(ctx, id)
}

// Expire is that of the room.
func (s *Service) Expire(ctx context.Context, id objectid.ID) error {
	return s.recovery.Expire(ctx, id)
}

// DropPix is that of the room.
func (s *Service) DropPix(ctx context.Context, id objectid.ID) error {
	return s.recovery.DropPix(ctx, id)
}

// Debit is that of the room.
func (s *Service) Debit(ctx context.Context, id objectid.ID) error { return s.debits.Debit(ctx, id) }

// SettleDebitLate is a check of a debit's order that stands still between the empty answer that proves it missing and
// its settling, in which it has no lease any more.
func (s *Service) SettleDebitLate(ctx context.Context, i intent.Intent, meanwhile func()) error {
	operation := s.debits.Operation()
	row, _, err := operation.Row(ctx, i)
	if err != nil {
		return err
	}
	meanwhile()
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		return operation.SettleTx(ctx, tx, &row, intent.Missing[gateway.Payment]{}, intent.ByCheck)
	})
}

// EndAtGateway is the check of what is to end, at once.
func (s *Service) EndAtGateway(ctx context.Context, id objectid.ID) error {
	if err := s.base.Intents.CheckOne(ctx, intent.End, id); err != nil {
		return err
	}
	return s.calls.EndAtGateway(ctx, id)
}

// GiveBack is that of the room.
func (s *Service) GiveBack(ctx context.Context, id objectid.ID) error {
	return s.withdrawals.GiveBack(ctx, id)
}

// EndStrays is that of the room.
func (s *Service) EndStrays(ctx context.Context) error { return s.strays.EndStrays(ctx) }

// MailDunning is that of the room.
func (s *Service) MailDunning(ctx context.Context, id objectid.ID, paymentID string, day int) error {
	return s.dunning.MailDunning(ctx, id, paymentID, day)
}

// ConfirmLateMoney is that of the room.
func (s *Service) ConfirmLateMoney(ctx context.Context, a settle.LateMoneyArgs) error {
	return s.reconciler.ConfirmLateMoney(ctx, a)
}

// SyncRecurrence is that of the room.
func (s *Service) SyncRecurrence(ctx context.Context, a webhooks.RecurrenceArgs) error {
	return s.reconciler.SyncRecurrence(ctx, a)
}

// ApplyEventTx is that of the room.
func (s *Service) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	return s.applier.ApplyEventTx(ctx, tx, e)
}

// TakeStrayMoney is that of the room.
func (s *Service) TakeStrayMoney(ctx context.Context, a strays.StrayMoneyArgs) error {
	return s.strays.TakeStrayMoney(ctx, a)
}
