package selfservice

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// Resume takes back that the subscription ends with its paid time; nothing is charged.
// It is a no-op at the gateway when repeated. Write gets the locked row in the
// transaction that follows the gateway's word. 409 when the gateway refuses; other
// errors of the gateway are as it gave them.
func (s *SelfService) Resume(ctx context.Context, sub lifecycle.Subscription,
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
	return s.deps.Store.Locked(context.WithoutCancel(ctx), sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status.Ended() {
			return fault.Conflict("The subscription is %s already.", locked.Status)
		}
		if err := s.deps.Reconciler.RecordPeriodEndCallTx(ctx, tx, &locked, sub,
			sub.GwbSubscriptionID != nil); err != nil {
			return err
		}
		return write(tx, &locked)
	})
}

// resume has a subscription go on that was to end with its paid time: the same
// row, and no charge. While it is not known whether the gateway took the end back the
// answer is pending, and the checks ask for it again; 409 to another try meanwhile.
func (s *SelfService) resume(ctx context.Context, sub lifecycle.Subscription) (checkout.CardOutcome, error) {
	ref := resumeIntent(sub.ID)
	if open, err := s.deps.Intents.IsOpen(ctx, s.deps.Pool, ref); err != nil || open {
		return checkout.CardOutcome{}, errors.Join(err, s.resumeConflict(ctx, sub))
	}
	err := s.Resume(ctx, sub, func(tx pgx.Tx, locked *lifecycle.Subscription) error {
		defer func() { sub = *locked }()
		return s.deps.Store.EditTx(ctx, tx, locked, state.GoesOn, (*lifecycle.Subscription).GoOn)
	})
	if err == nil {
		if sub, err = s.deps.Reconciler.AgreedNow(ctx, sub); err == nil && sub.CancelAtPeriodEnd {
			err = fault.Conflict("Your subscription was cancelled at the same time, and ends with its period.")
		}
	}
	switch {
	case err == nil:
		return checkout.CardOutcome{Sub: sub, Message: "The subscription goes on: nothing was charged."}, nil
	case !gateway.IsError(err) || fault.Is(err, fault.KindConflict):
		return checkout.CardOutcome{}, err
	}
	o := intent.Opening{Ref: ref, Customer: sub.CustomerID, Gateway: sub.Gateway, Reference: sub.ID.String()}
	if err := s.deps.Intents.HandOver(ctx, o, err); err != nil {
		return checkout.CardOutcome{}, err
	}
	sub.Status = state.Pending
	return checkout.CardOutcome{
		Sub: sub, PaymentStatus: string(gateway.OutcomeUnknown),
		Message: "The gateway has not confirmed yet that your subscription goes on, and is asked again. Nothing was charged, and access goes on.",
	}, nil
}

func resumeIntent(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Resume, Subject: id} }

// resumeConflict is the 409 of who resumes, while that is being found out.
func (s *SelfService) resumeConflict(ctx context.Context, sub lifecycle.Subscription) error {
	i, open, err := s.deps.Intents.OpenOf(ctx, s.deps.Pool, sub.ID)
	if err != nil || !open {
		return err
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
	wanted := true
	err = s.Resume(ctx, sub, func(tx pgx.Tx, locked *lifecycle.Subscription) (err error) {
		wanted, err = s.deps.Intents.IsOpen(ctx, tx, resumeIntent(sub.ID))
		if err != nil || !wanted {
			return err
		}
		if err := s.deps.Store.EditTx(ctx, tx, locked, state.GoesOn, (*lifecycle.Subscription).GoOn); err != nil {
			return err
		}
		return s.deps.Intents.EndTx(ctx, tx, resumeIntent(sub.ID), intent.Succeeded[any]{}, intent.ByCheck)
	})
	switch {
	case fault.Is(err, fault.KindConflict): // refused, or ended meanwhile: it ends as it was to
		return nil
	case err == nil && !wanted:
		if _, err = s.deps.Calls.SetPeriodEnd(ctx, sub, true); err == nil {
			err = s.deps.Reconciler.RecordPeriodEndCall(ctx, sub)
		}
	}
	return err
}

// giveUpResume has nobody ask any more that a subscription goes on whose customer wants it to end after all. While a
// check asks for it this is 409: its call may reach the gateway after that of the end.
func (s *SelfService) giveUpResume(ctx context.Context, sub lifecycle.Subscription) error {
	if open, err := s.deps.Intents.IsOpen(ctx, s.deps.Pool, resumeIntent(sub.ID)); err != nil || !open {
		return err
	}
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, _ lifecycle.Subscription) error {
		i, open, err := s.deps.Intents.OpenOf(ctx, tx, sub.ID)
		if err != nil || !open || i.Ref != resumeIntent(sub.ID) {
			return err
		}
		if i.LeasedUntil != nil && i.LeasedUntil.After(s.deps.Clock.Now()) {
			return s.resumeConflict(ctx, sub)
		}
		return s.deps.Intents.EndTx(ctx, tx, resumeIntent(sub.ID), intent.Void[any]{}, intent.ByResponse)
	})
}
