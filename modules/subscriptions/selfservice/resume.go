package selfservice

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/postgres"
)

// ByStaff is the reference of a resumption that the checks do not repeat: they read what stands at the gateway.
const ByStaff = "staff"

// Resume takes back that the subscription ends with its paid time; nothing is charged. Its intent is committed first,
// which the checks carry out when nobody hears the answer, unless the reference is ByStaff. Repeated it is a no-op at
// the gateway. Write gets the locked row in the transaction that follows the gateway's word. 409 when the gateway
// refuses, when it has ended, while another resumption is under way, or when the end was ordered meanwhile. Other
// errors of the gateway are as it gave them, and leave the intent open.
func (s *SelfService) Resume(ctx context.Context, sub lifecycle.Subscription, reference string,
	write func(tx pgx.Tx, locked *lifecycle.Subscription) error,
) error {
	ctx = context.WithoutCancel(ctx) // what the gateway does has to be written
	if sub.GwbSubscriptionID == nil {
		return s.takeEndBack(ctx, sub, intent.ByResponse, write)
	}
	err := s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status.Ended() {
			return fault.Conflict("The subscription is %s already.", locked.Status)
		}
		if err := s.endNotAgainTx(ctx, tx, locked); err != nil {
			return err
		}
		return s.deps.Intents.OpenTx(ctx, tx, intent.Opening{
			Ref: lifecycle.Resumption(sub.ID), Customer: sub.CustomerID, Gateway: sub.Gateway, Reference: reference,
			CallTime: s.deps.Intents.CallTime(),
		})
	})
	if other, open := errors.AsType[*intent.ErrOpen](err); open {
		return errResuming(other.Intent)
	}
	if err != nil {
		return err
	}
	faultpoint.Hit("resume.committed")
	call, cancel := context.WithTimeout(ctx, s.deps.Intents.CallTime())
	defer cancel()
	err = s.takeEndBack(call, sub, intent.ByResponse, write)
	if !fault.Is(err, fault.KindConflict) {
		return err
	}
	ended := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		return s.deps.Intents.EndTx(ctx, tx, lifecycle.Resumption(sub.ID), intent.Refused[any]{}, intent.ByResponse)
	})
	return cmp.Or(ended, err)
}

// takeEndBack calls the gateway and writes what it says, with the end of the intent. Where that has ended meanwhile, by
// the end being ordered again or by another call, nothing is written, and an end that stands in the row is put back.
// Errors are those of Resume.
func (s *SelfService) takeEndBack(ctx context.Context, sub lifecycle.Subscription, by intent.By,
	write func(tx pgx.Tx, locked *lifecycle.Subscription) error,
) error {
	if sub.GwbSubscriptionID != nil {
		_, err := s.deps.Calls.SetPeriodEnd(ctx, sub, false)
		if errors.Is(err, gateway.ErrMissing) || gateway.IsRejected(err) {
			return fault.Conflict("The gateway no longer has this subscription: it ends on %s. Renew it with a card.",
				s.deps.Calendar.Day(*sub.ExpiresAt)).WithCause(err)
		}
		if err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx)
	overtaken := false
	err := s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status.Ended() {
			return fault.Conflict("The subscription is %s already.", locked.Status)
		}
		if err := s.deps.Reconciler.RecordPeriodEndCallTx(ctx, tx, &locked, sub,
			sub.GwbSubscriptionID != nil); err != nil {
			return err
		}
		if sub.GwbSubscriptionID != nil {
			_, open, err := s.deps.Intents.Open(ctx, tx, lifecycle.Resumption(sub.ID))
			if err != nil {
				return err
			}
			if overtaken = !open; overtaken {
				return nil
			}
			// The end may have been ordered since this intent was opened. One that is being called for wins.
			if err := s.endNotAgainTx(ctx, tx, locked); fault.Is(err, fault.KindConflict) {
				overtaken = true
				return nil
			} else if err != nil {
				return err
			}
		}
		if err := write(tx, &locked); err != nil {
			return err
		}
		return s.deps.Intents.EndTx(ctx, tx, lifecycle.Resumption(sub.ID), intent.Succeeded[any]{}, by)
	})
	if err != nil || !overtaken {
		return err
	}
	return s.putEndBack(ctx, sub)
}

// putEndBack orders the end of the paid time again where the row says it: a call that took it back came late. What
// fails is repeated by the checks. 409 where the row ends; errors are the database's.
func (s *SelfService) putEndBack(ctx context.Context, sub lifecycle.Subscription) error {
	row, err := s.db.SubscriptionGet(ctx, s.deps.Pool, sub.ID)
	if err != nil || !row.CancelAtPeriodEnd || row.Status.Ended() {
		return err
	}
	order := lifecycle.OpeningOfEnd(row, lifecycle.EndWithPeriod)
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.deps.Intents.RequestTx(ctx, tx, order) })
	if err == nil {
		err = s.deps.Intents.CheckOne(ctx, intent.End, sub.ID)
	}
	if err != nil {
		s.deps.Log.WarnContext(ctx, "the end of the paid time is not ordered again yet",
			slog.String("subscription_id", sub.ID.String()), slog.Any("error", err))
	}
	return errEndedMeanwhile()
}

func errEndedMeanwhile() error {
	return fault.Conflict("Your subscription was cancelled at the same time, and ends with its period.")
}

// resume has a subscription go on that was to end with its paid time: the same
// row, and no charge. While it is not known whether the gateway took the end back the
// answer is pending, and the checks ask for it again; 409 to another try meanwhile.
func (s *SelfService) resume(ctx context.Context, sub lifecycle.Subscription) (checkout.CardOutcome, error) {
	err := s.Resume(ctx, sub, "", func(tx pgx.Tx, locked *lifecycle.Subscription) error {
		return s.deps.Store.EditTx(ctx, tx, locked, state.GoesOn, (*lifecycle.Subscription).GoOn)
	})
	if err == nil { // by this call, or a check that was faster
		sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, sub.ID)
	}
	if err == nil {
		if sub, err = s.deps.Reconciler.AgreedNow(ctx, sub); err == nil && sub.CancelAtPeriodEnd {
			err = errEndedMeanwhile()
		}
	}
	switch {
	case err == nil:
		return checkout.CardOutcome{Sub: sub, Message: "The subscription goes on: nothing was charged."}, nil
	case !gateway.IsError(err) || fault.Is(err, fault.KindConflict):
		return checkout.CardOutcome{}, err
	}
	if err := s.deps.Intents.NotKnown(ctx, lifecycle.Resumption(sub.ID), err); err != nil {
		return checkout.CardOutcome{}, err
	}
	sub.Status = state.Pending
	return checkout.CardOutcome{
		Sub: sub, PaymentStatus: string(gateway.OutcomeUnknown),
		Message: "The gateway has not confirmed yet that your subscription goes on, and is asked again. Nothing was charged, and access goes on.",
	}, nil
}

// AbandonResume has nobody repeat a resumption whose answer is not known: the gateway is read, and the row says what
// stands there. An error is the database's.
func (s *SelfService) AbandonResume(ctx context.Context, sub lifecycle.Subscription) error {
	ctx = context.WithoutCancel(ctx)
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		err := s.deps.Intents.EndTx(ctx, tx, lifecycle.Resumption(sub.ID), intent.Void[any]{}, intent.ByResponse)
		if err != nil {
			return err
		}
		before := lifecycle.Subscription{PeriodEndTells: -1} // whatever was answered: it is read at once
		return s.deps.Reconciler.RecordPeriodEndCallTx(ctx, tx, &locked, before, true)
	})
}

// errResuming is the 409 of who resumes or cancels, while a resumption is being found out, or has just been.
func errResuming(i intent.Intent) error {
	if i.CreatedAt.IsZero() {
		return fault.Conflict("Resuming your subscription has just been answered to somebody else. Look at it again.")
	}
	return fault.Conflict("Resuming your subscription is still being confirmed. %s", calls.NotKnownSentence(i))
}

// ResumeAgain takes the end back once more, as a check does, unless the subscription has ended, goes on
// already, or its customer wants the end again meanwhile.
func (s *SelfService) ResumeAgain(ctx context.Context, r intent.Ref) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, r.Subject)
	if err != nil || !sub.Resumable() {
		return err
	}
	switch i, open, err := s.deps.Intents.Open(ctx, s.deps.Pool, r); {
	case err != nil || !open:
		return err
	case i.Reference == ByStaff:
		return s.AbandonResume(ctx, sub)
	}
	err = s.takeEndBack(ctx, sub, intent.ByCheck, func(tx pgx.Tx, locked *lifecycle.Subscription) error {
		return s.deps.Store.EditTx(ctx, tx, locked, state.GoesOn, (*lifecycle.Subscription).GoOn)
	})
	if fault.Is(err, fault.KindConflict) { // refused, ended, or to end again meanwhile: it ends as it was to
		return nil
	}
	return err
}

// endAgainTx has the end of the paid time ordered once more, in the transaction that writes it, where a call of a
// resumption may come after that of the end: who makes it puts the end back, or is gone before.
func (s *SelfService) endAgainTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, gaveUp bool) error {
	late, err := gaveUp, error(nil)
	if !late {
		since := s.deps.Clock.Now().Add(-lifecycle.LateResumption)
		late, err = s.deps.Intents.CheckedSince(ctx, tx, lifecycle.Resumption(sub.ID), since)
	}
	if err != nil || !late {
		return err
	}
	o := lifecycle.OpeningOfEnd(sub, lifecycle.EndWithPeriod)
	o.After = s.deps.Intents.CallTime()
	return s.deps.Intents.RequestTx(ctx, tx, o)
}

// endNotAgainTx has the end not be ordered once more of a subscription that is to go on after all. 409 where that has
// been called for already: that call may come after the one that takes the end back.
func (s *SelfService) endNotAgainTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) error {
	again := lifecycle.OpeningOfEnd(sub, lifecycle.EndWithPeriod).Ref
	i, open, err := s.deps.Intents.Open(ctx, tx, again)
	switch {
	case err != nil || !open:
		return err
	case i.NotKnownSince != nil || i.LeasedUntil != nil:
		return errEndedMeanwhile()
	}
	return s.deps.Intents.EndTx(ctx, tx, again, intent.Void[any]{}, intent.ByResponse)
}

// giveUpResume has nobody ask any more that a subscription goes on whose customer wants it to end after all, and
// reports whether anybody would have: one that has just been answered is over. While it is asked for this is 409: that
// call may come after that of the end.
func (s *SelfService) giveUpResume(ctx context.Context, sub lifecycle.Subscription) (gaveUp bool, err error) {
	if _, open, err := s.deps.Intents.Open(ctx, s.deps.Pool, lifecycle.Resumption(sub.ID)); err != nil || !open {
		return false, err
	}
	err = s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, _ lifecycle.Subscription) error {
		var i intent.Intent
		if i, gaveUp, err = s.deps.Intents.Open(ctx, tx, lifecycle.Resumption(sub.ID)); err != nil || !gaveUp {
			return err
		}
		if i.LeasedUntil != nil && i.LeasedUntil.After(s.deps.Clock.Now()) {
			return errResuming(i)
		}
		return s.deps.Intents.EndTx(ctx, tx, lifecycle.Resumption(sub.ID), intent.Void[any]{}, intent.ByResponse)
	})
	return gaveUp, err
}
