package recovery

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/faultpoint"
	"marquee/platform/postgres"
)

// Drop ends a subscription that nobody has paid yet: at its gateway first, so that nobody pays it after. Its intent is
// committed before that, which the checks carry out when the process dies on the way. Paid: it has just been, which is
// settled instead. With an error it is as it was, and nobody pursues it. Of one replaced whose gateway does not answer
// the end is left to the checks, but where its card waits for a renewal.
func (s *Recovery) Drop(ctx context.Context, sub lifecycle.Subscription, by state.Action,
	source state.Source,
) (paid bool, err error) {
	order := orderToDrop(sub, by)
	order.CallTime = s.deps.Intents.CallTime()
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.deps.Intents.OpenTx(ctx, tx, order) })
	if err != nil && !intent.AlreadyOpen(err) { // two at once both call, and the first to end it has
		return false, err
	}
	faultpoint.Hit("drop.committed")
	ctx = context.WithoutCancel(ctx) // what the gateway does has to be written
	paid, err = s.drop(ctx, sub, by, source)
	var outcome intent.Outcome[any] = intent.Succeeded[any]{}
	if err != nil {
		outcome = intent.Void[any]{}
	}
	return paid, errors.Join(err, postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		return s.deps.Intents.EndTx(ctx, tx, order.Ref, outcome, intent.ByResponse)
	}))
}

// orderToDrop is the intent of Drop: its item says as what a check ends the row.
func orderToDrop(sub lifecycle.Subscription, by state.Action) intent.Opening {
	return lifecycle.OpeningOfEnd(sub, dropItem+string(by))
}

const dropItem = "drop:"

// drop makes the calls of Drop, and writes what came of them.
func (s *Recovery) drop(ctx context.Context, sub lifecycle.Subscription, by state.Action,
	source state.Source,
) (paid bool, err error) {
	call, cancel := context.WithTimeout(ctx, s.deps.Intents.CallTime())
	defer cancel()
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return false, err
	}
	var made settle.Made
	switch {
	case sub.GwaPixAuthID != nil:
		made, err = s.dropAuthorization(call, gw, sub)
	case sub.PixPaymentID != nil:
		made, err = s.dropCode(call, gw, sub)
	case sub.RemoteID() != "":
		made, err = s.dropRecurrence(call, gw, sub)
	}
	faultpoint.Hit("drop.after_call")
	var unconfirmed *unconfirmedEnd
	switch {
	case made != nil:
		_, err = s.deps.Settler.Settle(ctx, sub, source, settle.Succeeded{Result: made})
		return true, err
	case errors.As(err, &unconfirmed) && by == state.Replaced && sub.RenewsID == nil:
		return false, s.endLater(ctx, sub, source, unconfirmed.cause)
	case err != nil:
		return false, err
	}
	return false, s.End(ctx, sub, by, source)
}

// unconfirmedEnd says that the gateway did not answer the call that ends what nobody has paid.
type unconfirmedEnd struct{ cause error }

func (e *unconfirmedEnd) Error() string { return e.cause.Error() }

func (e *unconfirmedEnd) Unwrap() error { return e.cause }

func unconfirmed(err error) error {
	if err == nil {
		return nil
	}
	return &unconfirmedEnd{err}
}

// dropCode makes a PIX unpayable, or answers it as it was paid.
func (*Recovery) dropCode(ctx context.Context, gw gateway.Gateway, sub lifecycle.Subscription) (settle.Made, error) {
	paid, err := gateway.WithdrawPix(ctx, gw, *sub.PixPaymentID, sub.ID)
	switch {
	case paid != nil:
		return settle.Code{PixCharge: *paid}, nil
	case errors.Is(err, gateway.ErrAlreadyPaid):
		return nil, err
	}
	return nil, unconfirmed(err)
}

// dropAuthorization ends an automatic PIX that nobody consented to, or answers one that has just become active.
func (*Recovery) dropAuthorization(ctx context.Context, gw gateway.Gateway,
	sub lifecycle.Subscription,
) (settle.Made, error) {
	auth, err := gw.ReadPixAuthorization(ctx, sub.AuthorizationRef())
	if err != nil && !errors.Is(err, gateway.ErrMissing) {
		return nil, err
	}
	if err == nil && auth.Status == gateway.AuthorizationStatusActive {
		return settle.Authorization{PixAuthorization: auth}, nil
	}
	return nil, unconfirmed(gw.CancelPixAuthorization(ctx, sub.AuthorizationRef()))
}

// dropRecurrence ends a recurrence whose payer has still to confirm it, or answers it as its card was taken. One read
// that misses it ends nothing: it is deleted, and looked for after that.
func (*Recovery) dropRecurrence(ctx context.Context, gw gateway.Gateway,
	sub lifecycle.Subscription,
) (settle.Made, error) {
	remote, err := gw.ReadSubscription(ctx, sub.RemoteID(), sub.ID)
	if err != nil && !errors.Is(err, gateway.ErrMissing) {
		return nil, err
	}
	paid := remote.LatestPayment != nil && remote.LatestPayment.Status == gateway.PaymentStatusSettled
	if err == nil && (paid || lifecycle.Running(remote.Status) && sub.Traits().StatusImpliesPayment) {
		return settle.Recurrence{RemoteSubscription: remote}, nil
	}
	return nil, unconfirmed(gw.CancelSubscription(ctx, sub.RemoteID(), sub.ID))
}

// endLater ends a replaced subscription here while its gateway has not confirmed the end:
// the checks repeat that call, and nobody is kept from subscribing again. What is paid for it
// anyway is given back, as late money.
func (s *Recovery) endLater(ctx context.Context, sub lifecycle.Subscription, source state.Source, cause error) error {
	s.deps.Log.WarnContext(ctx, "replaced, and not ended at the gateway yet",
		slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", string(sub.Gateway)), slog.Any("error", cause))
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status != sub.Status {
			return nil
		}
		if _, err := s.deps.Store.MoveTx(ctx, tx, &locked,
			lifecycle.Change{Action: state.Replaced, Source: source}); err != nil {
			return err
		}
		return s.deps.Store.EndAtGatewayTx(ctx, tx, locked)
	})
}

// End moves a subscription in its own transaction; one that has moved meanwhile
// is left alone.
func (s *Recovery) End(ctx context.Context, sub lifecycle.Subscription, by state.Action, source state.Source) error {
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status != sub.Status {
			return nil
		}
		_, err := s.deps.Store.MoveTx(ctx, tx, &locked, lifecycle.Change{Action: by, Source: source})
		return err
	})
}
