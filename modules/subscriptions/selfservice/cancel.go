package selfservice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// cancel ends the customer's subscription at once and frees them for another:
// DELETE /customers/me/subscription, also for a PIX that they do not want to pay.
// 404 when there is none; 409 while the gateway is being asked whether it charged the
// card, or when the PIX has just been paid. A PIX that is being clarified ends at once:
// nobody has its code, and what may have been made is ended once it is known. The text says what paid time is thrown
// away, "" for none.
func (s *SelfService) cancel(ctx context.Context, customerID objectid.ID,
	only gateway.Name,
) (lifecycle.Subscription, string, error) {
	sub, err := s.currentAt(ctx, customerID, only)
	if err != nil {
		return lifecycle.Subscription{}, "", err
	}
	pix := sub.PaymentMethod == gateway.MethodPix
	if sub.IntentOpen && sub.Status == state.Pending && !pix {
		return lifecycle.Subscription{}, "", s.deps.Checkout.ConflictWith(ctx, s.deps.Pool, sub)
	}
	c := lifecycle.Change{Action: state.CustomerCancels, Source: state.ByCustomer, Actor: &customerID}
	var after lifecycle.Subscription
	var givenUp string
	if sub.Status == state.Pending && pix && !sub.IntentOpen {
		after, err = s.cancelPix(ctx, sub, c)
	} else {
		after, givenUp, err = s.cancelNow(ctx, sub, c)
	}
	if !fault.Is(err, fault.KindConflict) {
		return after, givenUp, err
	}
	// Its renewal may have taken its place meanwhile: that is what they want to end.
	next, nextErr := s.currentAt(ctx, customerID, only)
	if nextErr != nil || next.ID == sub.ID || next.IntentOpen {
		return lifecycle.Subscription{}, "", err
	}
	return s.cancelNow(ctx, next, c)
}

// currentAt is the customer's live subscription: 404 without one, 400 when it is
// with the other gateway; "" stands for either.
func (s *SelfService) currentAt(ctx context.Context, customerID objectid.ID,
	only gateway.Name,
) (lifecycle.Subscription, error) {
	sub, err := s.deps.Reads.Current(ctx, customerID)
	if err == nil && only != "" && sub.Gateway != only {
		return lifecycle.Subscription{}, fault.BadRequest("Your subscription is not with this gateway.")
	}
	return sub, err
}

// cancelPix drops an unpaid PIX: its code first, so that nobody pays it after. 409 when
// it has been paid meanwhile, or a renewal or another subscription has taken its place,
// which goes on. While the gateway does not answer it ends here all the same: the code is
// made unpayable by job, and money that was quicker is late money.
func (s *SelfService) cancelPix(ctx context.Context, sub lifecycle.Subscription,
	c lifecycle.Change,
) (lifecycle.Subscription, error) {
	if _, err := s.deps.Recovery.Drop(ctx, sub, state.CustomerCancels, state.ByCustomer); err != nil {
		s.deps.Log.WarnContext(ctx, "PIX not dropped at the gateway yet",
			slog.String("subscription_id", sub.ID.String()),
			slog.String("gateway", string(sub.Gateway)), slog.Any("error", err))
		after, _, err := s.cancelHere(context.WithoutCancel(ctx), sub, c)
		return after, err
	}
	after, err := s.db.SubscriptionGet(ctx, s.deps.Pool, sub.ID)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	last, err := s.db.TransitionGetLastReason(ctx, s.deps.Pool, sub.ID)
	switch {
	case err != nil:
		return lifecycle.Subscription{}, fmt.Errorf("read why the subscription ended: %w", err)
	case after.Status == state.Active && last == state.ReasonAdminActivated:
		return lifecycle.Subscription{}, errActivated()
	case after.Status == state.Active:
		return lifecycle.Subscription{}, fault.Conflict("Your PIX has just been paid: the subscription is active.")
	case last == state.ReasonReplaced:
		return lifecycle.Subscription{},
			fault.Conflict("Your PIX has just been replaced by what you ordered instead. Cancel that if you do not want it.")
	}
	return after, nil
}

// errActivated is told when somebody opened again what a customer had just ended.
func errActivated() error {
	return fault.Conflict("Your subscription was activated at the same time, and goes on.")
}

// cancelNow ends a subscription here, and then at its gateway: the job for that
// is in the same commit, so that no crash leaves a recurrence running. The
// gateway is asked at once too; when it does not answer, the job goes on. The text
// says what paid time is thrown away: 409 where it was opened again meanwhile, and
// none is.
func (s *SelfService) cancelNow(ctx context.Context, sub lifecycle.Subscription,
	c lifecycle.Change,
) (lifecycle.Subscription, string, error) {
	sub, givenUp, err := s.cancelHere(ctx, sub, c)
	if err != nil {
		return lifecycle.Subscription{}, "", err
	}
	sub, err = s.deps.Calls.EndNow(ctx, sub)
	if err == nil && !sub.Status.Ended() {
		err = errActivated()
	}
	return sub, givenUp, err
}

// cancelHere ends a subscription here, and by job at its gateway.
func (s *SelfService) cancelHere(ctx context.Context, sub lifecycle.Subscription,
	c lifecycle.Change,
) (lifecycle.Subscription, string, error) {
	var paid *time.Time
	wasPaid := false
	err := s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) (err error) {
		if sub.Status == state.Pending && locked.Status == state.Active {
			return fault.Conflict("Your payment has just been confirmed: the subscription is active.")
		}
		if paid, err = s.deps.Reads.PaidUntil(ctx, tx, locked); err != nil {
			return err
		}
		if _, last, err := s.deps.Disputes.LatestOfChainTx(ctx, tx, locked); err != nil {
			return err
		} else if last != nil {
			wasPaid = true
		}
		moved, err := s.deps.Store.MoveTx(ctx, tx, &locked, c)
		if err != nil {
			return err
		}
		if !moved {
			return fault.Conflict("The subscription is %s already.", locked.Status)
		}
		sub = locked
		return s.deps.Store.EndAfterTx(ctx, tx, sub, lifecycle.EndRetry)
	})
	if err != nil {
		return lifecycle.Subscription{}, "", err
	}
	return sub, s.deps.Reads.GivenUp(sub, paid, wasPaid), nil
}

// cancelAtPeriodEnd stops the renewals of the customer's subscription and leaves
// access until the paid time ends. Gateway B is told to cancel at the period's end.
// Gateway A can only delete: the row says first that it ends then, so that what the
// gateway tells of the deleting changes nothing, and a job in the same commit deletes.
// 409 when nothing is paid; with anyPeriod not while gateway B has a period, paid or
// not, that can end.
func (s *SelfService) cancelAtPeriodEnd(ctx context.Context, customerID objectid.ID, only gateway.Name,
	anyPeriod bool,
) (lifecycle.Subscription, error) {
	sub, err := s.currentAt(ctx, customerID, only)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	if sub.IntentOpen {
		return lifecycle.Subscription{}, s.deps.Checkout.ConflictWith(ctx, s.deps.Pool, sub.StandIn(state.Pending))
	}
	end, err := s.deps.Reads.PaidUntil(ctx, s.deps.Pool, sub)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	if end == nil && !(anyPeriod && sub.Status == state.Active && sub.GwbSubscriptionID != nil) {
		return lifecycle.Subscription{}, errNoPaidPeriod()
	}
	resuming, err := s.giveUpResume(ctx, sub)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	var endsAt *time.Time
	before := sub
	if sub.GwbSubscriptionID != nil &&
		!sub.EndsThere() { // also where the row says so already: a resumption may be under way
		if endsAt, err = s.orderEnd(ctx, sub, resuming); err != nil {
			return lifecycle.Subscription{}, err
		}
	}
	err = postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		sub, err = s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || sub.Status.Ended() && endsAt != nil { // the gateway's event was faster
			return err
		}
		if endsAt != nil {
			if err := s.endAgainTx(ctx, tx, sub, resuming); err != nil {
				return err
			}
		}
		if sub.CancelAtPeriodEnd && sub.ExpiresAt != nil {
			return s.deps.Reconciler.RecordPeriodEndCallTx(ctx, tx, &sub, before, endsAt != nil)
		}
		end, err := s.deps.Reads.PaidUntil(ctx, tx, sub)
		if err != nil {
			return err
		}
		if end = lifecycle.Latest(end, endsAt); end == nil {
			return errNoPaidPeriod()
		}
		extended, err := s.deps.Reads.ExtendedTo(ctx, tx, sub)
		if err != nil {
			return err
		}
		end = new(lifecycle.LatestOf(*end, extended))
		if err := s.endWithPeriodTx(ctx, tx, &sub, *end); err != nil {
			return err
		}
		return s.deps.Reconciler.RecordPeriodEndCallTx(ctx, tx, &sub, before, endsAt != nil)
	})
	switch {
	case err != nil:
		return sub, err
	case sub.Stops():
		return s.deps.Calls.EndNow(ctx, sub)
	}
	if sub, err = s.deps.Reconciler.AgreedNow(ctx, sub); err == nil && !sub.CancelAtPeriodEnd && !sub.Status.Ended() {
		err = fault.Conflict("Your subscription was resumed at the same time, and goes on.")
	}
	return sub, err
}

// orderEnd has gateway B end the subscription with its period, and answers when that is; nil where it is missing there.
// Errors are 409 where the gateway refuses, and those of Payments.Refused.
func (s *SelfService) orderEnd(ctx context.Context, sub lifecycle.Subscription, gaveUp bool) (*time.Time, error) {
	endsAt, err := s.deps.Calls.SetPeriodEnd(ctx, sub, true)
	if errors.Is(err, gateway.ErrMissing) { // what is not there charges nobody
		err = s.deps.Calls.ProvedMissing(ctx, sub, err)
	}
	if err == nil {
		return endsAt, nil
	}
	if gaveUp { // the resumption, which nobody pursues any more: what stands at the gateway is read
		err = errors.Join(err, s.deps.Reconciler.RecordPeriodEndCall(ctx, sub))
	}
	refused := s.deps.Payments.Refused(ctx, "cancel at period end", err)
	if gateway.IsRejected(err) { // it may have ended there, which its event tells
		return nil, fault.Conflict("The gateway does not end your subscription with its period. Look at it again in a moment.").
			WithCause(err)
	}
	return nil, refused
}

func errNoPaidPeriod() error {
	return fault.Conflict("Your subscription has no paid time left. Cancel it without at=period_end.")
}

// endWithPeriodTx has the locked row end with its paid time.
func (s *SelfService) endWithPeriodTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	end time.Time,
) error {
	err := s.deps.Store.EditTx(ctx, tx, sub, state.EndsWithPeriod, func(r *lifecycle.Subscription) {
		r.CancelAtPeriodEnd, r.ExpiresAt = true, &end
		if !r.Traits().EndsWithPeriod {
			r.NextBillingDate = nil
		}
	})
	if err == nil {
		err = s.deps.Store.EndWaitingTx(ctx, tx, *sub,
			lifecycle.Change{Action: state.CustomerCancels, Source: state.ByCustomer, Actor: &sub.CustomerID})
	}
	if err != nil {
		return err
	}
	return s.deps.Store.StopTx(ctx, tx, *sub, s.deps.Clock.Now().Add(lifecycle.EndRetry))
}
