package recovery

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
)

// DropPixAs ends an unpaid PIX: its code first, so that nobody pays an old one.
// When it has just been paid, the payment is settled instead.
func (s *Recovery) DropPixAs(ctx context.Context, sub lifecycle.Subscription, by state.Action,
	source state.Source,
) error {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	if sub.GwaPixAuthID != nil {
		return s.dropAuthorization(ctx, gw, sub, by, source)
	}
	if sub.PixPaymentID == nil {
		return s.End(ctx, sub, by, source)
	}
	paid, err := gateway.WithdrawPix(ctx, gw, *sub.PixPaymentID, sub.ID)
	switch {
	case paid != nil:
		_, err = s.deps.Settler.Settle(ctx, sub, source, settle.Succeeded{Result: settle.Code{PixCharge: *paid}})
		return err
	case err != nil && by == state.Replaced && !errors.Is(err, gateway.ErrAlreadyPaid):
		return s.EndLater(ctx, sub, source, err)
	case err != nil:
		return err
	}
	return s.End(ctx, sub, by, source)
}

// dropAuthorization ends an automatic PIX that nobody consented to; one that has
// just become active is settled instead.
func (s *Recovery) dropAuthorization(ctx context.Context, gw gateway.Gateway, sub lifecycle.Subscription,
	by state.Action, source state.Source,
) error {
	auth, err := gw.ReadPixAuthorization(ctx, sub.AuthorizationRef())
	if err != nil && !errors.Is(err, gateway.ErrMissing) {
		return err
	}
	if err == nil && auth.Status == gateway.AuthorizationStatusActive {
		_, err = s.deps.Settler.Settle(ctx, sub, source,
			settle.Succeeded{Result: settle.Authorization{PixAuthorization: auth}})
		return err
	}
	err = gw.CancelPixAuthorization(ctx, sub.AuthorizationRef())
	if err != nil && by == state.Replaced {
		return s.EndLater(ctx, sub, source, err)
	}
	if err != nil {
		return err
	}
	return s.End(ctx, sub, by, source)
}

// EndLater ends a replaced subscription here while its gateway has not confirmed the end:
// a job repeats that call, and nobody is kept from subscribing again. What is paid for it
// anyway is given back, as late money.
func (s *Recovery) EndLater(ctx context.Context, sub lifecycle.Subscription, source state.Source, cause error) error {
	s.deps.Log.WarnContext(ctx, "replaced, and not ended at the gateway yet",
		slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", string(sub.Gateway)), slog.Any("error", cause))
	return s.deps.Store.Locked(context.WithoutCancel(ctx), sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
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
