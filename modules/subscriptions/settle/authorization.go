package settle

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// settleAuthorizationTx writes the state in which an authorization was found.
func (s *Settler) settleAuthorizationTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, source state.Source, auth *gateway.PixAuthorization) error {
	c := lifecycle.Change{Source: source}
	switch auth.Status {
	case gateway.AuthorizationActive:
		c.Action = state.AuthorizationActivated
		if sub.Status.Ended() {
			return s.store.EndAtGatewayTx(ctx, tx, *sub)
		}
		return s.AuthorizeTx(ctx, tx, sub, c, auth)
	case gateway.AuthorizationCancelled, gateway.AuthorizationRefused:
		c.Action = state.AuthorizationCancelled
	case gateway.AuthorizationExpired:
		c.Action = state.AuthorizationExpired
	default:
		return nil
	}
	if s.calendar.EndsWithPeriod(*sub) {
		c.Action, c.Edit = state.GatewayDeletedPaid, s.calendar.EndedThere
	}
	_, err := s.store.MoveTx(ctx, tx, sub, c)
	return err
}

// AuthorizeTx activates an automatic PIX that the payer has authorized.
func (s *Settler) AuthorizeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, c lifecycle.Change, a *gateway.PixAuthorization) error {
	now, note := s.clock.Now(), c.Edit
	c.Edit = func(r *lifecycle.Row) {
		if note != nil {
			note(r)
		}
		lifecycle.CloseIntent(r)
		lifecycle.LearnAuthorization(r, a)
		if r.NextBillingDate == nil {
			r.NextBillingDate = s.calendar.PeriodFrom(now, r)
		}
	}
	if sub.HasChargeback && sub.Status == state.Suspended {
		return s.store.EditTx(ctx, tx, sub, state.Authorized, c.Edit)
	}
	_, err := s.store.MoveTx(ctx, tx, sub, c)
	return err
}
