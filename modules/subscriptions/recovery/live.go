package recovery

import (
	"context"
	"errors"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
)

// incompleteLife is how long gateway B keeps a first payment open (docs/gateway-facts.md, B6).
const incompleteLife = 23 * time.Hour

// Resolve reads a pending card subscription (NeedsStatusCheck) and settles what it
// finds. What is dead is ended at the gateway first, so that no money can move
// for it afterwards.
func (s *Recovery) Resolve(ctx context.Context, sub lifecycle.Subscription) (lifecycle.Subscription, string, error) {
	if sub.RemoteID() == "" {
		var err error
		if sub, err = s.CheckNow(ctx, sub); err != nil || sub.RemoteID() == "" || sub.Status != state.Pending {
			return sub, "", err // what the gateway doesn't show yet, the checks judge
		}
	}
	remote, err := s.readLive(ctx, sub)
	if errors.Is(err, calls.ErrMissingOnce) {
		return sub, "", nil
	}
	if err != nil {
		return sub, "", err
	}
	outcome := settle.JudgeRecurrence(remote)
	_, pending := outcome.(settle.Pending)
	open := pending || remote.Outcome == gateway.RequiresAction
	if !lifecycle.Running(remote.Status) && (!open || s.deps.Calendar.Age(sub) >= incompleteLife) {
		if err := s.endMissing(ctx, sub, remote); err != nil {
			return sub, "", err
		}
		resolved, err := s.deps.Settler.Settle(ctx, sub, state.ByLiveRead,
			settle.Void{Result: settle.Recurrence{RemoteSubscription: remote}})
		return resolved, "", err
	}
	resolved, err := s.deps.Settler.Settle(ctx, sub, state.ByLiveRead, outcome)
	return resolved, remote.ClientSecret.Reveal(), err
}

// CheckNow checks the open intent without waiting for its time, and answers the row
// as it is after.
func (s *Recovery) CheckNow(ctx context.Context, sub lifecycle.Subscription) (lifecycle.Subscription, error) {
	if sub.IntentOpen {
		if err := s.deps.Intents.CheckNow(ctx, sub.ID); err != nil {
			return sub, err
		}
	}
	return s.db.SubscriptionGet(ctx, s.deps.Pool, sub.ID)
}

func (s *Recovery) readLive(ctx context.Context, sub lifecycle.Subscription) (gateway.RemoteSubscription, error) {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	return s.deps.Calls.ReadRunning(ctx, gw, sub)
}

func (s *Recovery) endMissing(ctx context.Context, sub lifecycle.Subscription,
	remote gateway.RemoteSubscription,
) error {
	if remote.Status == gateway.RemoteCanceled || remote.Status == gateway.RemoteIncompleteExpired {
		return nil
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	return gw.CancelSubscription(ctx, remote.GatewayID, sub.ID)
}
