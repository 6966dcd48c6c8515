package own

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// cancelAtPeriodEnd stops the renewals of the customer's subscription and leaves
// access until the paid time ends. Gateway B is told to cancel at the period's end.
// Gateway A can only delete: the row says first that it ends then, so that what the
// gateway tells of the deleting changes nothing, and a job in the same commit deletes.
// 409 when nothing is paid; with anyPeriod not while gateway B has a period, paid or
// not, that can end.
func (s *Own) cancelAtPeriodEnd(ctx context.Context, customerID objectid.ID, only gateway.Name, anyPeriod bool) (lifecycle.Row, error) {
	sub, err := s.currentAt(ctx, customerID, only)
	if err != nil {
		return lifecycle.Row{}, err
	}
	if sub.IntentOpen {
		return lifecycle.Row{}, s.checkout.ConflictWith(ctx, s.pool, lifecycle.StandIn(sub, state.Pending))
	}
	end, err := s.reads.PaidUntil(ctx, s.pool, sub)
	if err != nil {
		return lifecycle.Row{}, err
	}
	if end == nil && !(anyPeriod && sub.Status == state.Active && sub.GwbSubscriptionID != nil) {
		return lifecycle.Row{}, errNothingPaid()
	}
	if err := s.giveUpResume(ctx, sub); err != nil {
		return lifecycle.Row{}, err
	}
	var told *time.Time
	before := sub
	if sub.GwbSubscriptionID != nil && !lifecycle.EndsThere(sub) { // also where the row says so already: a resumption may be under way
		told, err = s.calls.SetPeriodEnd(ctx, sub, true)
		if errors.Is(err, gateway.ErrMissing) { // what is not there charges nobody
			err = s.calls.ProvedMissing(ctx, sub, err)
		}
		if err != nil {
			return lifecycle.Row{}, s.payments.Refused(ctx, "cancel at period end", err)
		}
	}
	err = postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		sub, err = s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || sub.Status.Ended() && told != nil { // the gateway's event was faster
			return err
		}
		if sub.CancelAtPeriodEnd && sub.ExpiresAt != nil {
			return s.reconciler.NoteToldTx(ctx, tx, &sub, before, told != nil)
		}
		end, err := s.reads.PaidUntil(ctx, tx, sub)
		if err != nil {
			return err
		}
		if end = lifecycle.Latest(end, told); end == nil {
			return errNothingPaid()
		}
		extended, err := s.reads.ExtendedTo(ctx, tx, sub)
		if err != nil {
			return err
		}
		end = new(lifecycle.LatestOf(*end, extended))
		if err := s.endWithPeriodTx(ctx, tx, &sub, *end); err != nil {
			return err
		}
		return s.reconciler.NoteToldTx(ctx, tx, &sub, before, told != nil)
	})
	switch {
	case err != nil:
		return sub, err
	case lifecycle.Stops(sub):
		return s.calls.StopNow(ctx, sub)
	}
	if sub, err = s.reconciler.AgreedNow(ctx, sub); err == nil && !sub.CancelAtPeriodEnd && !sub.Status.Ended() {
		err = fault.Conflict("Your subscription was resumed at the same time, and goes on.")
	}
	return sub, err
}

func errNothingPaid() error {
	return fault.Conflict("Your subscription has no paid time left. Cancel it without at=period_end.")
}

// endWithPeriodTx has the locked row end with its paid time.
func (s *Own) endWithPeriodTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, end time.Time) error {
	err := s.store.EditTx(ctx, tx, sub, state.EndsWithPeriod, func(r *lifecycle.Row) {
		r.CancelAtPeriodEnd, r.ExpiresAt = true, &end
		if !lifecycle.TraitsOf(*r).EndsWithPeriod {
			r.NextBillingDate = nil
		}
	})
	if err == nil {
		err = s.store.EndWaitingTx(ctx, tx, *sub, lifecycle.Change{Action: state.CustomerCancels, Source: state.ByCustomer, Actor: &sub.CustomerID})
	}
	if err != nil {
		return err
	}
	return s.store.StopTx(ctx, tx, *sub, s.clock.Now().Add(lifecycle.EndRetry))
}
