package subscriptions

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// refusedArgs asks gateway A whether the authorization of a subscription that runs was
// refused, or has expired, as an event says.
type refusedArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	EventID        string      `json:"event_id"`
}

// Kind names the job.
func (refusedArgs) Kind() string { return "subscriptions_authorization_refused" }

func (s *Service) askAuthorizationTx(ctx context.Context, tx pgx.Tx, sub row, event string) error {
	_, err := s.jobs.InsertTx(ctx, tx, refusedArgs{SubscriptionID: sub.ID, EventID: event}, &river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return fmt.Errorf("have the authorization looked at: %w", err)
	}
	return nil
}

// endedAuthorizations say what the gateway's word makes of a row that runs.
var endedAuthorizations = map[payments.AuthorizationStatus]Action{
	payments.AuthorizationRefused:   AuthorizationCancelled,
	payments.AuthorizationCancelled: AuthorizationCancelled,
	payments.AuthorizationExpired:   AuthorizationExpired,
}

// FollowRefusal ends a subscription whose authorization is over at the gateway, too.
// One that stands there goes on here.
func (s *Service) FollowRefusal(ctx context.Context, id objectid.ID, event string) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil || Status(sub.Status).Ended() || sub.GwaPixAuthID == nil {
		return err
	}
	gateway, err := s.payments.Gateway(payments.GWA)
	if err != nil {
		return err
	}
	a, err := gateway.ReadPixAuthorization(ctx, authorizationRef(sub))
	if err != nil {
		return fmt.Errorf("read authorization of %s: %w", id, err)
	}
	action, ended := endedAuthorizations[a.Status]
	if !ended {
		s.log.InfoContext(ctx, "authorization stands although an event says that it is over", slog.String("subscription_id", id.String()), slog.String("event_id", event))
		return nil
	}
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.lockTx(ctx, tx, sub.CustomerID, id)
		if err != nil || text(locked.GwaPixAuthID) != a.ID || Status(locked.Status).Ended() {
			return err
		}
		return s.unauthorizeTx(ctx, tx, &locked, action, event, nil)
	})
}
