package admin

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/selfservice"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

// wrongGateway is the answer of a gateway's admin routes for a subscription of
// the other one (docs/contract/subscriptions.md, Admins).
func wrongGateway(want gateway.Name) error {
	return fault.InvalidAt("is a subscription of another gateway than "+string(want), "path", "id")
}

// findAt is find for the routes of one gateway; "" takes either.
func (s *Admin) findAt(ctx context.Context, id string, only gateway.Name) (lifecycle.Subscription, error) {
	sub, err := s.deps.Reads.Find(ctx, s.deps.Pool, id)
	if err == nil && only != "" && sub.Gateway != only {
		return lifecycle.Subscription{}, wrongGateway(only)
	}
	return sub, err
}

// adminMoveTx moves a locked subscription for an admin. What ends here is ended at
// its gateway by job; what is opened again after its end, or after its period, and a
// PIX that nobody has paid, run for one period from now, since no recurrence stands
// behind them.
func (s *Admin) adminMoveTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, action state.Action,
	edit func(*lifecycle.Subscription),
) (bool, error) {
	actor := httpapi.CallerOf(ctx).ID
	now, ended := s.deps.Clock.Now(), sub.Status.Ended()
	if action == state.AdminActivates {
		if err := s.isKnownTx(ctx, tx, *sub); err != nil {
			return false, err
		}
	}
	if ended && action == state.AdminActivates {
		gone, err := s.deps.Store.IsGoneTx(ctx, tx, sub.CustomerID)
		if err != nil {
			return false, err
		}
		if gone {
			return false, fault.Conflict("The customer has deleted the account.")
		}
	}
	moved, err := s.deps.Store.MoveTx(ctx, tx, sub,
		lifecycle.Change{Action: action, Source: state.ByAdmin, Actor: &actor, Edit: func(r *lifecycle.Subscription) {
			if action == state.AdminActivates {
				r.PaymentFailures, r.HasChargeback, r.CancelAtPeriodEnd = 0, false, r.CancelAtPeriodEnd && !ended
				passed := r.ExpiresAt != nil && !r.ExpiresAt.After(now)
				unpaid := r.ExpiresAt == nil && r.LastPaymentAt == nil && r.PaymentMethod == gateway.MethodPix &&
					!r.PixAutomatic
				if ended || passed || unpaid ||
					r.ExpiresAt == nil && (r.HasNoRecurrence() || r.HasNoAuthorization()) {
					r.AnchorDay = nil
					r.ExpiresAt, r.NextBillingDate = s.deps.Calendar.PeriodFrom(now, r), nil
				}
				if ended {
					s.deps.Store.Reopen(r, *sub)
				}
			}
			if edit != nil {
				edit(r)
			}
		}})
	if err != nil || !moved {
		return moved, err
	}
	if action == state.AdminActivates { // they lift the dispute's suspension: what gives access is charged
		return true, errors.Join(s.deps.Store.ResumeTx(ctx, tx, *sub, now), s.deps.Store.StopTx(ctx, tx, *sub, now))
	}
	if !sub.Status.Ended() {
		return true, nil
	}
	return true, s.deps.Store.EndAtGatewayTx(ctx, tx, *sub)
}

// isKnownTx is 409 of a card of which nobody knows yet whether its gateway made a
// recurrence: what would be opened might be charged by nothing, or by what comes of it.
func (s *Admin) isKnownTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) error {
	if !sub.IntentOpen || sub.Status != state.Pending || sub.PaymentMethod != gateway.MethodCard {
		return nil
	}
	i, open, err := s.deps.Intents.OpenOf(ctx, tx, sub.ID)
	if err != nil {
		return err
	}
	again := ""
	if open {
		again = " " + calls.NotKnownSentence(i)
	}
	return fault.Conflict("It is not known yet whether the gateway made the subscription.%s Activate it when that is known.", again)
}

// administer locks a subscription, changes it, and writes the audit trail.
func (s *Admin) administer(ctx context.Context, found lifecycle.Subscription, reason string,
	act func(tx pgx.Tx, sub *lifecycle.Subscription) error,
) (lifecycle.Subscription, error) {
	var sub lifecycle.Subscription
	err := s.deps.Store.Locked(ctx, found, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		defer func() { sub = locked }()
		before := locked.Doc()
		if err := act(tx, &locked); err != nil {
			return err
		}
		return s.auditTx(ctx, tx, before, locked, reason)
	})
	if postgres.Constraint(err) == checkout.ConstraintOneLive {
		return lifecycle.Subscription{}, errOtherLive()
	}
	return sub, err
}

// adminCancel ends a subscription at once, here and at its gateway: 409 when it
// has ended already.
func (s *Admin) adminCancel(ctx context.Context, found lifecycle.Subscription,
	reason string,
) (lifecycle.Subscription, error) {
	sub, err := s.administer(ctx, found, reason, func(tx pgx.Tx, sub *lifecycle.Subscription) error {
		moved, err := s.adminMoveTx(ctx, tx, sub, state.AdminCancels, nil)
		if err == nil && !moved {
			return fault.Conflict("The subscription is %s already.", sub.Status)
		}
		return err
	})
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	return s.deps.Calls.EndNow(ctx, sub)
}

// activate opens a subscription, whatever it is, and makes it the customer's
// current one: 409 when they have another that is live. One that was to end with its
// paid time goes on, as by a renewal without card data; 409 where that needs a card.
func (s *Admin) activate(ctx context.Context, found lifecycle.Subscription,
	reason string,
) (lifecycle.Subscription, error) {
	if found.Status == state.Active && found.CancelAtPeriodEnd {
		return s.adminResume(ctx, found, reason)
	}
	return s.administer(ctx, found, reason, func(tx pgx.Tx, sub *lifecycle.Subscription) error {
		_, err := s.adminMoveTx(ctx, tx, sub, state.AdminActivates, nil)
		return err
	})
}

func (s *Admin) adminResume(ctx context.Context, sub lifecycle.Subscription,
	reason string,
) (lifecycle.Subscription, error) {
	if !sub.Resumable() {
		return lifecycle.Subscription{},
			fault.Conflict("The recurrence was stopped at the gateway, which cannot undo it. The customer renews with a card.")
	}
	write := func(tx pgx.Tx, locked *lifecycle.Subscription) error {
		defer func() { sub = *locked }()
		before := locked.Doc()
		if err := s.deps.Store.EditTx(ctx, tx, locked, state.GoesOn, (*lifecycle.Subscription).GoOn); err != nil {
			return err
		}
		return s.auditTx(ctx, tx, before, *locked, reason)
	}
	err := s.deps.SelfService.Resume(ctx, sub, selfservice.ByStaff, write)
	if gateway.IsError(err) && !fault.Is(err, fault.KindConflict) {
		if abandoned := s.deps.SelfService.AbandonResume(ctx, sub); abandoned != nil {
			return lifecycle.Subscription{}, abandoned
		}
	}
	if err != nil {
		return lifecycle.Subscription{}, s.deps.Payments.Refused(ctx, "take back the end of the period", err)
	}
	return s.deps.Reconciler.AgreedNow(ctx, sub)
}

// lastYear is the last that an instant of the API can be written with.
const lastYear = 9999

// extend moves the end of access forward, never back, by days or to an instant
// after the present end, which is that of the paid period while a recurrence runs:
// 409 for a subscription that has ended, and as ExtendLockedTx says; 422 for an earlier
// instant.
func (s *Admin) extend(ctx context.Context, found lifecycle.Subscription, days int,
	until *time.Time,
) (lifecycle.Subscription, error) {
	return s.administer(ctx, found, "", func(tx pgx.Tx, sub *lifecycle.Subscription) error {
		return s.deps.Extensions.ExtendLockedTx(ctx, tx, sub, func(end time.Time) (time.Time, error) {
			switch {
			case until == nil:
				to := end.In(s.deps.Config.Zone).AddDate(0, 0, days).UTC()
				if to.Year() > lastYear {
					return end, fault.InvalidAt("leads beyond the year 9999", "body", "days")
				}
				return to, nil
			case !until.After(end):
				return end, fault.InvalidAt("has to be after the current end", "body", "expires_at")
			}
			return *until, nil
		})
	})
}
