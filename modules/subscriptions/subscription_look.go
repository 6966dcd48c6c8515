package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// recoverArgs asks the gateway what became of an intent whose answer was lost. Only
// the release before the schedule of looks inserts it.
type recoverArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"` // tells the tries of one intent apart
}

// Kind names the job.
func (recoverArgs) Kind() string { return "subscriptions_recover" }

// adoptAfter is when a row whose outcome is open has to have an intent of its own: the
// release before the schedule of looks makes rows without, and recovers by recovery_at,
// which lies so far ahead that it leaves the rows of this one alone.
const adoptAfter = 10 * time.Minute

// openIntentTx opens the intent of a row whose call follows the commit.
func (s *Recovery) openIntentTx(ctx context.Context, tx pgx.Tx, sub row, callTime time.Duration) error {
	return s.intents.OpenTx(ctx, tx, intent.Opening{Ref: intentOf(sub.ID), Customer: sub.CustomerID, Gateway: sub.Gateway, CallTime: callTime})
}

// notKnown notes that a call ended without an answer that says what it did. The row
// stays as it is; the looks find out.
func (s *Recovery) notKnown(ctx context.Context, sub row, cause error) {
	s.log.WarnContext(ctx, "what the gateway did is not known", slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", sub.Gateway), slog.Any("error", cause))
	if err := s.intents.NotKnown(ctx, intentOf(sub.ID), cause); err != nil {
		s.log.WarnContext(ctx, "not noted: the first look waits for the lease", slog.String("subscription_id", sub.ID.String()), slog.Any("error", err))
	}
}

// waitsForGateway notes that the gateway took the call on and decides later.
func (s *Recovery) waitsForGateway(ctx context.Context, sub row) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error { return s.intents.WaitTx(ctx, tx, intentOf(sub.ID)) })
}

// Recover looks at an open intent at once. One that is not open is left alone, and so
// is one whose call may still be under way.
func (s *Recovery) Recover(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil || !sub.IntentOpen {
		return err
	}
	if err := s.adopt(ctx, id); err != nil {
		return err
	}
	return s.intents.LookAt(ctx, intent.Subscription, id)
}

// adopt opens the intent that a row of the release before lacks.
func (s *Recovery) adopt(ctx context.Context, id objectid.ID) error {
	if open, err := s.intents.IsOpen(ctx, s.pool, intentOf(id)); err != nil || open {
		return err
	}
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil {
		return err
	}
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.lockTx(ctx, tx, sub.CustomerID, id)
		if err != nil || !locked.IntentOpen {
			return err
		}
		var open *intent.ErrOpen
		err = s.openIntentTx(ctx, tx, locked, 0)
		if errors.As(err, &open) {
			return nil
		}
		return err
	})
}

// look asks the gateway about an open intent and finishes or cancels it (open-shapes,
// Card money moves once). Card data are gone by then, so nothing is charged anew.
func (s *Recovery) look(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	sub, err := s.db.GetSubscription(ctx, s.pool, l.Subject)
	if err != nil {
		return 0, err
	}
	if !sub.IntentOpen {
		return intent.Settled, nil
	}
	a, err := s.ask(payments.Background(ctx), sub, l)
	if err != nil {
		return 0, err
	}
	if a.nothing && !l.Proved {
		return intent.NotThere, nil
	}
	if sub, err = s.settler.settle(ctx, sub, a); err != nil {
		return 0, err
	}
	switch {
	case a.seeks:
		return intent.NotThere, nil
	case a.open && sub.IntentOpen:
		return intent.Waiting, nil
	}
	return intent.Settled, nil
}

// ask looks at the gateway for what the intent's call may have made.
func (s *Recovery) ask(ctx context.Context, sub row, l *intent.Look) (answer, error) {
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return answer{}, err
	}
	plan, err := s.db.GetPlanByPlanID(ctx, s.pool, sub.PlanID)
	if err != nil {
		return answer{}, fmt.Errorf("read plan: %w", err)
	}
	payer := s.reads.payerOfRow(ctx, sub)
	if sub.PixAutomatic {
		auth, ok, err := gateway.FindPixAuthorization(ctx, s.calendar.authorizationOf(sub, plan, payer))
		return answer{source: ByRecovery, auth: &auth, nothing: !ok}, err
	}
	if s.calendar.chargesFirstMonth(sub) && *sub.FirstAmountCents > 0 {
		return s.askFirstMonth(ctx, gateway, sub, plan, payer, l)
	}
	if sub.PaymentMethod == string(payments.MethodPix) {
		charge, ok, err := gateway.FindPix(ctx, s.calendar.pixTermsOf(sub, plan, payer))
		return answer{source: ByRecovery, pix: &charge, nothing: !ok}, err
	}
	remote, ok, err := gateway.FindSubscription(ctx, s.calendar.termsOf(sub, plan, payer))
	if err != nil || !ok {
		return answer{source: ByRecovery, nothing: true}, err
	}
	return readRemote(ByRecovery, &remote), nil
}

// readRemote judges a card subscription that was read live.
func readRemote(source Source, remote *payments.RemoteSubscription) answer {
	a := answer{source: source, remote: remote}
	switch remote.Status {
	case payments.RemoteCanceled, payments.RemoteIncompleteExpired:
		a.declined = true
	case payments.RemoteIncomplete:
		a.declined = remote.Outcome == payments.RequiresPaymentMethod
		a.open = remote.Outcome == payments.OutcomeUnknown
	}
	return a
}

// payerOfRow is the payer as the row knows him; his data are only asked for
// where they still are.
func (s *Reads) payerOfRow(ctx context.Context, sub row) payments.Payer {
	customer, err := s.accounts.CustomerByID(ctx, s.pool, sub.CustomerID)
	if err != nil {
		customer = accounts.Customer{ID: sub.CustomerID}
	}
	payer := payerOf(customer, payments.GatewayName(sub.Gateway))
	if sub.Gateway == string(payments.GWA) && sub.GwaCustomerID != nil {
		payer.GatewayID = *sub.GwaCustomerID
	}
	if sub.Gateway == string(payments.GWB) && sub.GwbCustomerID != nil {
		payer.GatewayID = *sub.GwbCustomerID
	}
	return payer
}
