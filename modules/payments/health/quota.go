package health

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
)

const (
	// callsACheck is what a check costs of the quota: a list, and often a read.
	callsACheck = 2
	// share of the quota that checks have.
	share = 5
)

// Share is what checks at a gateway may still cost. Its row is locked.
type Share struct {
	Gateway gateway.Name
	Checks  int32
	Probe   bool // the gateway fails, and is to be asked whether it answers again
	state   paymentsdb.PaymentsGatewayState
}

// ShareTx locks what is left of the gateway's quota for checks, and begins another
// window when the last is over.
func (h *Health) ShareTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name) (Share, error) {
	now := h.deps.Clock.Now()
	state, err := h.db.GatewayStateLock(ctx, tx, gateway)
	if err != nil {
		return Share{}, fmt.Errorf("lock state of gateway: %w", err)
	}
	quota := h.quotaOf(gateway)
	switch {
	case quota.Calls == 0:
		state.LooksLeft, state.WindowEnds = 1<<30, nil
	case state.WindowEnds == nil || !now.Before(*state.WindowEnds) || state.WindowEnds.Sub(now) > quota.Window:
		ends := now.Add(quota.Window)
		state.LooksLeft, state.WindowEnds = int32(quota.Calls/share/callsACheck), &ends //nolint:gosec // small
	}
	if state.FailingSince != nil {
		h.set(gateway, false)
	}
	return Share{Gateway: gateway, Checks: state.LooksLeft, Probe: probeDue(state, now), state: state}, nil
}

func (h *Health) quotaOf(name gateway.Name) gateway.Quota {
	if h.deps.Quotas == nil {
		return name.Traits().Quota
	}
	return h.deps.Quotas[name]
}

// SpendTx takes checks off the share; probed: one of them asks whether the gateway
// answers again.
func (h *Health) SpendTx(ctx context.Context, tx pgx.Tx, s Share, checks int, probed bool) error {
	if probed {
		now := h.deps.Clock.Now()
		checks, s.state.FailedAt = 1, &now
	}
	if checks == 0 {
		return nil
	}
	return h.db.GatewayStateSpend(ctx, tx, paymentsdb.GatewayStateSpendParams{
		LooksLeft: s.Checks - int32(checks), WindowEnds: s.state.WindowEnds, FailedAt: s.state.FailedAt, Gateway: s.state.Gateway, //nolint:gosec // at most 8
	})
}
