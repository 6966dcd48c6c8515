package subscriptions

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
)

// applyAuthorizedTx: PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED. It may come
// before or after the payment of the first code: whichever is first opens.
func (s *Applier) applyAuthorizedTx(ctx context.Context, tx pgx.Tx, sub *row, e payments.Event) (string, error) {
	if Status(sub.Status).Ended() {
		return ignoredEnded, s.store.endAtGatewayTx(ctx, tx, *sub) // or its debits would go on
	}
	if teaches(*sub, e) && !e.IsProof() {
		return askedAuthorization, s.askAuthorizationTx(ctx, tx, refusedArgs{SubscriptionID: sub.ID, EventID: e.ID, AuthorizationID: e.AuthorizationID})
	}
	c := change{action: AuthorizationActivated, source: sourceOf(e), event: &e.ID, edit: func(r *row) { noteEvent(r, e) }}
	return "", s.settler.authorizeTx(ctx, tx, sub, c, e.Authorization)
}

// teaches reports whether an event tells an id of the authorization that the row lacks,
// since the answer to the call that made it was lost.
func teaches(sub row, e payments.Event) bool {
	a := e.Authorization
	return a != nil && (sub.GwaPixAuthID == nil && a.ID != "" || sub.PixConciliationID == nil && a.ConciliationID != "")
}

func (s *Settler) authorizeTx(ctx context.Context, tx pgx.Tx, sub *row, c change, a *payments.PixAuthorization) error {
	now, note := s.clock.Now(), c.edit
	c.edit = func(r *row) {
		if note != nil {
			note(r)
		}
		closeIntent(r)
		learnAuthorization(r, a)
		if r.NextBillingDate == nil {
			r.NextBillingDate = s.calendar.periodFrom(now, r)
		}
	}
	if sub.HasChargeback && Status(sub.Status) == Suspended {
		return s.store.editTx(ctx, tx, sub, c.edit)
	}
	_, err := s.store.moveTx(ctx, tx, sub, c)
	return err
}

// applyUnauthorizedTx: …_CANCELLED, …_REFUSED and …_EXPIRED, which end access, as
// the specification says, also within a period that is paid. Cancelled is final and is
// applied at once; should the gateway be charging on, a job ends it there. The others may be
// older than what made the authorization active: the gateway is asked first, by job, and
// says which end it is.
func (s *Applier) applyUnauthorizedTx(ctx context.Context, tx pgx.Tx, sub *row, e payments.Event) (string, error) {
	switch {
	case Status(sub.Status).Ended():
		return ignoredEnded, nil
	case e.Kind == payments.AuthorizationWasCancelled && !s.calendar.endsWithPeriod(*sub):
		c := change{action: AuthorizationCancelled, source: ByWebhook, event: &e.ID}
		if _, err := s.store.moveTx(ctx, tx, sub, c); err != nil {
			return "", err
		}
		return "", s.store.endTx(ctx, tx, endArgs{SubscriptionID: sub.ID, Told: true})
	case e.Kind != payments.AuthorizationWasCancelled && sub.LastEventAt != nil && e.CreatedAt.Before(*sub.LastEventAt):
		return ignoredOlder, nil
	}
	return askedAuthorization, s.askAuthorizationTx(ctx, tx, refusedArgs{SubscriptionID: sub.ID, EventID: e.ID})
}

// unauthorizeTx ends a subscription with its authorization.
func (s *Applier) unauthorizeTx(ctx context.Context, tx pgx.Tx, sub *row, action Action, event string) error {
	now := s.clock.Now()
	c := change{action: action, source: ByWebhook, event: &event, edit: func(r *row) {
		r.GatewayEndedAt = &now
	}}
	if s.calendar.endsWithPeriod(*sub) {
		c.action, c.edit = GatewayDeletedPaid, s.calendar.endedThere
	}
	_, err := s.store.moveTx(ctx, tx, sub, c)
	return err
}

// authorizationRef names the row's automatic PIX at gateway A.
func authorizationRef(sub row) payments.AuthorizationRef {
	return payments.AuthorizationRef{ID: text(sub.GwaPixAuthID), SubscriptionID: sub.ID, CustomerGatewayID: text(sub.GwaCustomerID)}
}

func learnAuthorization(r *row, a *payments.PixAuthorization) {
	if a == nil {
		return
	}
	learn(&r.GwaPixAuthID, a.ID)
	learn(&r.GwaCustomerID, a.CustomerID)
	learn(&r.PixConciliationID, a.ConciliationID)
	learn(&r.PixPayload, a.Payload)
	learn(&r.PixImage, a.EncodedImage)
	if a.ExpiresAt != nil {
		r.PixExpiresAt = a.ExpiresAt
	}
}

// cycleAfterTx is the beginning of the cycle after the one whose debit failed or is
// gone; nil when the payment is no debit. Without it the debits would stop at the first
// that nobody paid.
func (s *Applier) cycleAfterTx(ctx context.Context, tx pgx.Tx, sub row, e payments.Event) (*time.Time, error) {
	if !sub.PixAutomatic || e.Payment == nil {
		return nil, nil //nolint:nilnil // nil is the answer: no debit
	}
	cycle, err := s.reads.cycleOfTx(ctx, tx, sub, e.Payment.ID)
	if err != nil || cycle == nil {
		return nil, err
	}
	next := latestOf(s.calendar.monthsOn(*cycle, int(sub.PeriodMonths), sub), sub.NextBillingDate)
	return &next, nil
}

// skipCycleTx has the debits go on with the cycle after the one of the event's
// debit, which nobody will pay. Moved is false when they have gone on already, and
// when the payment is no debit.
func (s *Applier) skipCycleTx(ctx context.Context, tx pgx.Tx, sub *row, e payments.Event) (moved bool, err error) {
	next, err := s.cycleAfterTx(ctx, tx, *sub, e)
	if err != nil || next == nil || sub.NextBillingDate != nil && !next.After(*sub.NextBillingDate) {
		return false, err
	}
	return true, s.store.editTx(ctx, tx, sub, func(r *row) { r.NextBillingDate = next })
}
