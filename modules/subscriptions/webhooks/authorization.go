package webhooks

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// applyAuthorizedTx: PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED. It may come
// before or after the payment of the first code: whichever is first opens.
func (s *Applier) applyAuthorizedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	authorization gateway.PixAuthorization,
) (gateway.Reason, error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, s.deps.Store.EndAtGatewayTx(ctx, tx, *sub) // or its debits would go on
	}
	if teaches(*sub, authorization) && !e.IsProof() {
		return gateway.ReasonToConfirmAuthorization,
			s.queueAuthorizationCheckTx(ctx, tx,
				RefusedArgs{SubscriptionID: sub.ID, EventID: e.ID, AuthorizationID: e.AuthorizationID})
	}
	c := lifecycle.Change{
		Action: state.AuthorizationActivated, Source: settle.SourceOf(e), Event: &e.ID,
		Edit: func(r *lifecycle.Subscription) { recordEvent(r, e) },
	}
	return "", s.deps.Settler.AuthorizeTx(ctx, tx, sub, c, &authorization)
}

// teaches reports whether an event tells an id of the authorization that the row lacks,
// since the answer to the call that made it was lost.
func teaches(sub lifecycle.Subscription, a gateway.PixAuthorization) bool {
	return sub.GwaPixAuthID == nil && a.ID != "" || sub.PixConciliationID == nil && a.ConciliationID != ""
}

// applyUnauthorizedTx: …_CANCELLED, …_REFUSED and …_EXPIRED, which end access, as the contract says
// (docs/contract/payments.md, Webhooks), also within a period that is paid. Cancelled is final and is
// applied at once; should the gateway be charging on, a job ends it there. The others may be
// older than what made the authorization active: the gateway is asked first, by job, and
// says which end it is.
func (s *Applier) applyUnauthorizedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	authorization gateway.PixAuthorization,
) (gateway.Reason, error) {
	cancelled := authorization.Status == gateway.AuthorizationStatusCancelled
	switch {
	case sub.Status.Ended():
		return gateway.ReasonEnded, nil
	case cancelled && !s.deps.Calendar.EndsWithPeriod(*sub):
		c := lifecycle.Change{Action: state.AuthorizationCancelled, Source: state.ByWebhook, Event: &e.ID}
		if _, err := s.deps.Store.MoveTx(ctx, tx, sub, c); err != nil {
			return "", err
		}
		return "", s.deps.Store.EndReportedTx(ctx, tx, *sub)
	case !cancelled && sub.LastEventAt != nil && e.CreatedAt.Before(*sub.LastEventAt):
		return gateway.ReasonOlder, nil
	}
	return gateway.ReasonToConfirmAuthorization,
		s.queueAuthorizationCheckTx(ctx, tx, RefusedArgs{SubscriptionID: sub.ID, EventID: e.ID})
}

// UnauthorizeTx ends a subscription with its authorization.
func (s *Applier) UnauthorizeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, action state.Action,
	event string,
) error {
	now := s.deps.Clock.Now()
	c := lifecycle.Change{
		Action: action, Source: state.ByWebhook, Event: &event,
		Edit: func(r *lifecycle.Subscription) { r.GatewayEndedAt = &now },
	}
	if s.deps.Calendar.EndsWithPeriod(*sub) {
		c.Action, c.Edit = state.GatewayDeletedPaid, s.deps.Calendar.EndedThere
	}
	_, err := s.deps.Store.MoveTx(ctx, tx, sub, c)
	return err
}

// RefusedArgs asks gateway A whether the authorization of a subscription that runs was
// refused, or has expired, as an event says; or whether one stands that the subscription
// does not know yet.
type RefusedArgs struct {
	SubscriptionID  objectid.ID `json:"subscription_id"`
	EventID         string      `json:"event_id"`
	AuthorizationID string      `json:"authorization_id,omitempty"` // the one that the event names
}

// Kind names the job.
func (RefusedArgs) Kind() string { return "subscriptions_authorization_refused" }

func (s *Applier) queueAuthorizationCheckTx(ctx context.Context, tx pgx.Tx, a RefusedArgs) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway})
}
