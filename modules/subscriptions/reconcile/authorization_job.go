package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/postgres"
)

// endedAuthorizations say what the gateway's word makes of a row that runs.
var endedAuthorizations = map[gateway.AuthorizationStatus]state.Action{
	gateway.AuthorizationRefused:   state.AuthorizationCancelled,
	gateway.AuthorizationCancelled: state.AuthorizationCancelled,
	gateway.AuthorizationExpired:   state.AuthorizationExpired,
}

// FollowAuthorization does what the gateway says of an authorization. Of one that the
// subscription did not know it learns, and is opened, when our id stands in it.
func (s *Reconciler) FollowAuthorization(ctx context.Context, a webhooks.RefusedArgs) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	follow := s.followActivation
	if a.AuthorizationID == "" {
		follow = s.followRefusal
	}
	ignored, err := follow(ctx, sub, a)
	if err != nil {
		return err
	}
	return s.finishAsked(ctx, gateway.GWA, a.EventID, sub.ID, ignored)
}

func (s *Reconciler) followActivation(ctx context.Context, sub lifecycle.Row, a webhooks.RefusedArgs) (ignored gateway.Reason, err error) {
	if sub.GwaPixAuthID != nil && *sub.GwaPixAuthID != a.AuthorizationID {
		return gateway.ReasonOtherSubscription, nil
	}
	gw, err := s.payments.Gateway(gateway.GWA)
	if err != nil {
		return "", err
	}
	ref := lifecycle.AuthorizationRef(sub)
	ref.ID = a.AuthorizationID
	auth, err := gw.ReadPixAuthorization(ctx, ref)
	if errors.Is(err, gateway.ErrMissing) || err == nil && auth.Status != gateway.AuthorizationActive {
		s.log.WarnContext(ctx, "authorization that the gateway does not confirm gives nothing", slog.String("subscription_id", sub.ID.String()),
			slog.String("authorization_id", a.AuthorizationID), slog.String("event_id", a.EventID))
		return gateway.ReasonNotAsIsTold, nil
	}
	if err != nil {
		return "", fmt.Errorf("read authorization %s: %w", a.AuthorizationID, err)
	}
	_, err = s.settler.Settle(ctx, sub, state.ByLiveRead, settle.Succeeded{Answer: settle.Authorization{PixAuthorization: auth}})
	return "", err
}

// followRefusal ends a subscription whose authorization is over at the gateway, too.
// One that stands there goes on here.
func (s *Reconciler) followRefusal(ctx context.Context, sub lifecycle.Row, told webhooks.RefusedArgs) (ignored gateway.Reason, err error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, nil
	}
	if sub.GwaPixAuthID == nil {
		return gateway.ReasonNotAsIsTold, nil
	}
	gw, err := s.payments.Gateway(gateway.GWA)
	if err != nil {
		return "", err
	}
	a, err := gw.ReadPixAuthorization(ctx, lifecycle.AuthorizationRef(sub))
	if err != nil {
		return "", fmt.Errorf("read authorization of %s: %w", sub.ID, err)
	}
	action, ended := endedAuthorizations[a.Status]
	if !ended {
		s.log.InfoContext(ctx, "authorization stands although an event says that it is over", slog.String("subscription_id", sub.ID.String()), slog.String("event_id", told.EventID))
		return gateway.ReasonNotAsIsTold, nil
	}
	return "", postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || lifecycle.Text(locked.GwaPixAuthID) != a.ID || locked.Status.Ended() {
			return err
		}
		return s.applier.UnauthorizeTx(ctx, tx, &locked, action, told.EventID)
	})
}
