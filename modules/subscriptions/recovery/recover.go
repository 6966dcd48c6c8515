package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// RecoverArgs asks the gateway what became of an intent whose answer was lost. Only
// the release before the schedule of looks inserts it.
type RecoverArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"` // tells the tries of one intent apart
}

// Kind names the job.
func (RecoverArgs) Kind() string { return "subscriptions_recover" }

// OpenIntentTx opens the intent of a row whose call follows the commit.
func (s *Recovery) OpenIntentTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, callTime time.Duration) error {
	return s.intents.OpenTx(ctx, tx, intent.Opening{Ref: lifecycle.IntentOf(sub.ID), Customer: sub.CustomerID, Gateway: sub.Gateway, CallTime: callTime})
}

// NotKnown notes that a call ended without an answer that says what it did. The row
// stays as it is; the looks find out.
func (s *Recovery) NotKnown(ctx context.Context, sub lifecycle.Row, cause error) {
	s.log.WarnContext(ctx, "what the gateway did is not known", slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", sub.Gateway), slog.Any("error", cause))
	if err := s.intents.NotKnown(ctx, lifecycle.IntentOf(sub.ID), cause); err != nil {
		s.log.WarnContext(ctx, "not noted: the first look waits for the lease", slog.String("subscription_id", sub.ID.String()), slog.Any("error", err))
	}
}

// WaitsForGateway notes that the gateway took the call on and decides later.
func (s *Recovery) WaitsForGateway(ctx context.Context, sub lifecycle.Row) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error { return s.intents.WaitTx(ctx, tx, lifecycle.IntentOf(sub.ID)) })
}

// Recover looks at an open intent at once. One that is not open is left alone, and so
// is one whose call may still be under way.
func (s *Recovery) Recover(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil || !sub.IntentOpen {
		return err
	}
	if err := s.Adopt(ctx, id); err != nil {
		return err
	}
	return s.intents.LookAt(ctx, intent.Subscription, id)
}

// Adopt opens the intent that a row of the release before lacks.
func (s *Recovery) Adopt(ctx context.Context, id objectid.ID) error {
	if open, err := s.intents.IsOpen(ctx, s.pool, lifecycle.IntentOf(id)); err != nil || open {
		return err
	}
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil {
		return err
	}
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, id)
		if err != nil || !locked.IntentOpen {
			return err
		}
		var open *intent.ErrOpen
		err = s.OpenIntentTx(ctx, tx, locked, 0)
		if errors.As(err, &open) {
			return nil
		}
		return err
	})
}

// Look asks the gateway about an open intent and finishes or cancels it (open-shapes,
// Card money moves once). Card data are gone by then, so nothing is charged anew.
func (s *Recovery) Look(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	sub, err := s.db.GetSubscription(ctx, s.pool, l.Subject)
	if err != nil {
		return 0, err
	}
	if !sub.IntentOpen {
		return intent.Settled, nil
	}
	a, err := s.ask(gateway.Background(ctx), sub, l)
	if err != nil {
		return 0, err
	}
	if a.Nothing && !l.Proved {
		return intent.NotThere, nil
	}
	if sub, err = s.settler.Settle(ctx, sub, a); err != nil {
		return 0, err
	}
	switch {
	case a.Seeks:
		return intent.NotThere, nil
	case a.Open && sub.IntentOpen:
		return intent.Waiting, nil
	}
	return intent.Settled, nil
}

// ask looks at the gateway for what the intent's call may have made.
func (s *Recovery) ask(ctx context.Context, sub lifecycle.Row, l *intent.Look) (settle.Answer, error) {
	gw, err := s.payments.Gateway(gateway.Name(sub.Gateway))
	if err != nil {
		return settle.Answer{}, err
	}
	plan, err := s.db.GetPlanByPlanID(ctx, s.pool, sub.PlanID)
	if err != nil {
		return settle.Answer{}, fmt.Errorf("read plan: %w", err)
	}
	payer := s.reads.PayerOfRow(ctx, sub)
	if sub.PixAutomatic {
		auth, ok, err := gw.FindPixAuthorization(ctx, s.calendar.AuthorizationOf(sub, plan, payer))
		return settle.Answer{Source: lifecycle.ByRecovery, Auth: &auth, Nothing: !ok}, err
	}
	if s.calendar.ChargesFirstMonth(sub) && *sub.FirstAmountCents > 0 {
		return s.askFirstMonth(ctx, gw, sub, plan, payer, l)
	}
	if sub.PaymentMethod == string(gateway.MethodPix) {
		charge, ok, err := gw.FindPix(ctx, s.calendar.PixTermsOf(sub, plan, payer))
		return settle.Answer{Source: lifecycle.ByRecovery, Pix: &charge, Nothing: !ok}, err
	}
	remote, ok, err := gw.FindSubscription(ctx, s.calendar.TermsOf(sub, plan, payer))
	if err != nil || !ok {
		return settle.Answer{Source: lifecycle.ByRecovery, Nothing: true}, err
	}
	return ReadRemote(lifecycle.ByRecovery, &remote), nil
}

// ReadRemote judges a card subscription that was read live.
func ReadRemote(source lifecycle.Source, remote *gateway.RemoteSubscription) settle.Answer {
	a := settle.Answer{Source: source, Remote: remote}
	switch remote.Status {
	case gateway.RemoteCanceled, gateway.RemoteIncompleteExpired:
		a.Declined = true
	case gateway.RemoteIncomplete:
		a.Declined = remote.Outcome == gateway.RequiresPaymentMethod
		a.Open = remote.Outcome == gateway.OutcomeUnknown
	}
	return a
}
