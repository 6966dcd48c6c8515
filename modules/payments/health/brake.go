package health

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
)

// The brake: more than so many, and more than a hundredth of those checked within
// an hour, are not missing but the gateway's address or key is wrong.
const (
	brakeMisses  = 5
	brakePercent = 1
)

// Saw counts a check of something that was found before: at login, by a sweep, by a
// status read. When too much is missing the gateway becomes suspect, and nothing ends
// by missing until that is lifted. Count a thing that is missing once: while its
// intent is open it is not asked about elsewhere.
func (h *Health) Saw(ctx context.Context, gateway gateway.Name, missing bool) error {
	now := h.deps.Clock.Now()
	return postgres.InTx(context.WithoutCancel(ctx), h.deps.Pool, func(tx pgx.Tx) error {
		state, err := h.db.GatewayStateCount(ctx, tx, paymentsdb.GatewayStateCountParams{
			HourAgo: now.Add(-time.Hour), Now: now, Missing: missing, Gateway: gateway,
		})
		if err != nil {
			return fmt.Errorf("count check: %w", err)
		}
		many := state.Missed > brakeMisses && state.Missed*100 > state.Looked*brakePercent
		switch {
		case many && state.SuspectSince == nil:
			return h.suspectTx(ctx, tx, state, now)
		case !many && state.SuspectSince != nil && state.CountedFrom != nil &&
			!state.SuspectSince.Before(*state.CountedFrom) && state.Missed > 0:
			return h.trustTx(ctx, tx, gateway, "most of what was looked at within the hour is there")
		}
		return nil
	})
}

func (h *Health) suspectTx(ctx context.Context, tx pgx.Tx, state paymentsdb.PaymentsGatewayState, now time.Time) error {
	n, err := h.db.GatewayStateSuspect(ctx, tx, paymentsdb.GatewayStateSuspectParams{Now: now, Gateway: state.Gateway})
	if err != nil || n == 0 {
		return err
	}
	h.deps.Log.ErrorContext(ctx, "gateway is suspect: too much is missing there, and nothing is ended by it",
		slog.String("gateway", string(state.Gateway)),
		slog.Int("looked", int(state.Looked)), slog.Int("missing", int(state.Missed)))
	return h.deps.Operators.NotifyTx(ctx, tx, "Gateway "+string(state.Gateway)+" is suspect", fmt.Sprintf(
		"%d of %d subscriptions that were looked at within an hour are missing at gateway %s. Most likely its address or key is wrong.\n\n"+
			"No subscription ends by this until the mark is lifted. See docs/operations.md, \"A suspect gateway\".\n",
		state.Missed, state.Looked, state.Gateway))
}

// Trust lifts the mark of a suspect gateway. What is missing there is checked twice
// more, an hour apart, before it ends.
func (h *Health) Trust(ctx context.Context, gateway gateway.Name, why string) error {
	return postgres.InTx(ctx, h.deps.Pool, func(tx pgx.Tx) error { return h.trustTx(ctx, tx, gateway, why) })
}

func (h *Health) trustTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, why string) error {
	n, err := h.db.GatewayStateTrust(ctx, tx, gateway)
	if err != nil || n == 0 {
		return err
	}
	h.deps.Log.InfoContext(ctx, "gateway is trusted again", slog.String("gateway", string(gateway)),
		slog.String("why", why))
	return h.deps.TrustedTx(ctx, tx, gateway)
}

// Suspect lists the gateways that are.
func (h *Health) Suspect(ctx context.Context, db postgres.DB) ([]string, error) {
	states, err := h.States(ctx, db)
	var found []string
	for _, state := range states {
		if state.SuspectSince != nil {
			found = append(found, string(state.Gateway))
		}
	}
	return found, err
}

// States lists what is known of each gateway.
func (h *Health) States(ctx context.Context, db postgres.DB) ([]State, error) {
	rows, err := h.db.GatewayStateList(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("read states of gateways: %w", err)
	}
	states := make([]State, len(rows))
	for i, row := range rows {
		states[i] = State{Gateway: row.Gateway, FailingSince: row.FailingSince, SuspectSince: row.SuspectSince}
	}
	return states, nil
}

// IsSuspect reports whether the gateway is.
func (h *Health) IsSuspect(ctx context.Context, gateway gateway.Name) (bool, error) {
	state, err := h.db.GatewayStateRead(ctx, h.deps.Pool, gateway)
	if err != nil {
		return false, fmt.Errorf("read state of gateway: %w", err)
	}
	return state.SuspectSince != nil, nil
}
