package subscriptions

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// recoverArgs asks the gateway what became of an intent whose answer was lost.
type recoverArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"` // tells the tries of one intent apart
}

// Kind names the job.
func (recoverArgs) Kind() string { return "subscriptions_recover" }

// maxRecoveryDelay bounds the doubling of the waits.
const maxRecoveryDelay = time.Hour

// Recover asks the gateway about an open intent and finishes or cancels it
// (open-shapes, Card money moves once). Card data are gone by then, so nothing is
// made anew. An intent that is not open is left alone.
func (s *Service) Recover(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil || !sub.IntentOpen {
		return err
	}
	a, err := s.ask(payments.Background(ctx), sub)
	if err != nil {
		s.log.WarnContext(ctx, "recovery could not ask the gateway", slog.String("subscription_id", id.String()),
			slog.String("gateway", sub.Gateway), slog.Any("error", err))
		return s.postpone(ctx, sub, false, 0)
	}
	switch {
	case a.open:
		if sub, err = s.settle(ctx, sub, a); err != nil {
			return err
		}
		return s.postpone(ctx, sub, false, s.age(sub)/2) // a look at a card's risk may take days
	case a.nothing && int(sub.RecoveryTries)+1 < s.recoveryTries(sub):
		return s.postpone(ctx, sub, true, 0)
	}
	_, err = s.settle(ctx, sub, a)
	return err
}

// recoveryTries without finding anything prove that nothing was made. Gateway
// A's search may lag; gateway B's needs no more than the call under way to end.
func (s *Service) recoveryTries(sub row) int {
	if sub.Gateway == string(payments.GWB) {
		return min(2, s.cfg.RecoveryTries)
	}
	return s.cfg.RecoveryTries
}

// ask looks at the gateway for what the intent's call may have made.
func (s *Service) ask(ctx context.Context, sub row) (answer, error) {
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return answer{}, err
	}
	plan, err := s.db.GetPlanByPlanID(ctx, s.pool, sub.PlanID)
	if err != nil {
		return answer{}, fmt.Errorf("read plan: %w", err)
	}
	payer := s.payerOfRow(ctx, sub)
	if sub.PixAutomatic {
		auth, ok, err := gateway.FindPixAuthorization(ctx, s.authorizationOf(sub, plan, payer))
		return answer{source: ByRecovery, auth: &auth, nothing: !ok}, err
	}
	if s.chargesFirstMonth(sub) && *sub.FirstAmountCents > 0 {
		return s.askFirstMonth(ctx, gateway, sub, plan, payer)
	}
	if sub.PaymentMethod == string(payments.MethodPix) {
		charge, ok, err := gateway.FindPix(ctx, s.pixTermsOf(sub, plan, payer))
		return answer{source: ByRecovery, pix: &charge, nothing: !ok}, err
	}
	remote, ok, err := gateway.FindSubscription(ctx, s.termsOf(sub, plan, payer))
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
func (s *Service) payerOfRow(ctx context.Context, sub row) payments.Payer {
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

// postpone sets the next look at the gateway, no sooner than after the wait; a try
// counts only when the gateway answered that there is nothing.
func (s *Service) postpone(ctx context.Context, sub row, counts bool, wait time.Duration) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.lockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || !locked.IntentOpen {
			return err
		}
		return s.editTx(ctx, tx, &locked, func(r *row) {
			if counts {
				r.RecoveryTries++
			}
			delay := min(max(s.cfg.RecoveryDelay<<min(r.RecoveryTries, 16), wait), maxRecoveryDelay)
			at := s.clock.Now().Add(delay)
			r.RecoveryAt = &at
		})
	})
}
