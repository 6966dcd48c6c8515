package health

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/clock"
	"marquee/platform/operators"
	"marquee/platform/postgres"
)

const (
	// probeEvery: while the gateway fails, however long, it is asked so often although no check is
	// due: 1,440 calls in 12 hours, of the 5,000 that all checks together may make at gateway A.
	probeEvery = 30 * time.Second
	// forwardEvery bounds how often checks are brought forward.
	forwardEvery = time.Minute
	// recordTime bounds the note of an answer, probeTime a probe.
	recordTime, probeTime = 5 * time.Second, 30 * time.Second
)

// Deps is what New needs.
type Deps struct {
	Pool      postgres.Pool
	Clock     clock.Clock
	Log       *slog.Logger
	Operators *operators.Mailer // nil: nobody is written to
	// Quotas by gateway, of which checks have a fifth; without one they are not bounded.
	// Default gateway.Traits.
	Quotas map[gateway.Name]gateway.Quota
	// Probe asks a gateway something that costs nothing.
	Probe func(ctx context.Context, gateway gateway.Name) error
	// ForwardTx brings forward the checks of what is open at a gateway that has failed.
	ForwardTx func(ctx context.Context, tx pgx.Tx, gateway gateway.Name) error
	// TrustedTx lets what is missing at a gateway that was suspect be looked for
	// again.
	TrustedTx func(ctx context.Context, tx pgx.Tx, gateway gateway.Name) error
}

// Health is what is known of the gateways.
type Health struct {
	deps Deps
	db   *paymentsdb.Queries
	// well is what this process knows, so that a right answer of one that is well costs
	// nothing. Unknown counts as failing.
	mu   sync.Mutex
	well map[gateway.Name]bool
}

// State is what is known of one gateway.
type State struct {
	Gateway      gateway.Name
	FailingSince *time.Time // since when no answer of it can be used; nil while it is well
	SuspectSince *time.Time // since when too much is missing there; nil while it is trusted
}

// New makes it.
func New(d Deps) *Health {
	return &Health{deps: d, db: paymentsdb.New(), well: map[gateway.Name]bool{}}
}

func (h *Health) isWell(gateway gateway.Name) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.well[gateway]
}

func (h *Health) set(gateway gateway.Name, well bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.well[gateway] = well
}

// Heard notes what an answer says of the gateway, whoever asked: a login, a sweep, a
// request, a check. The first right one after a failed one brings the checks forward;
// one that closes the whole account counts as failed.
func (h *Health) Heard(ctx context.Context, gateway gateway.Name, right bool) {
	if right && h.isWell(gateway) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	record := h.Recovered
	if !right {
		record = h.Fails
	}
	if err := record(ctx, gateway); err != nil {
		h.deps.Log.WarnContext(ctx, "what an answer says of the gateway was not noted",
			slog.String("gateway", string(gateway)), slog.Any("error", err))
	}
}

// Fails notes that the gateway told nothing that can be used.
func (h *Health) Fails(ctx context.Context, gateway gateway.Name) error {
	err := h.db.GatewayStateFail(ctx, h.deps.Pool,
		paymentsdb.GatewayStateFailParams{Gateway: gateway, Now: h.deps.Clock.Now()})
	h.set(gateway, false)
	if err != nil {
		return fmt.Errorf("note that the gateway fails: %w", err)
	}
	return nil
}

// Recovered ends what was noted of a failing gateway, and brings its checks forward. A
// single object that is always answered oddly does not have all others asked about
// again and again: within a minute of the last time the mark stays.
func (h *Health) Recovered(ctx context.Context, gateway gateway.Name) error {
	h.set(gateway, true) // before the read: what fails meanwhile says so after it
	state, err := h.db.GatewayStateRead(ctx, h.deps.Pool, gateway)
	if err != nil {
		h.set(gateway, false)
		return fmt.Errorf("read state of gateway: %w", err)
	}
	if state.FailingSince == nil {
		return nil
	}
	h.set(gateway, false)
	now := h.deps.Clock.Now()
	if state.ForwardedAt != nil && within(now.Sub(*state.ForwardedAt), forwardEvery) {
		return nil
	}
	var n int64
	err = postgres.InTx(ctx, h.deps.Pool, func(tx pgx.Tx) error {
		n, err = h.db.GatewayStateRecover(ctx, tx,
			paymentsdb.GatewayStateRecoverParams{Now: now, Gateway: gateway, Since: now.Add(-forwardEvery)})
		if err != nil || n == 0 {
			return err
		}
		return h.deps.ForwardTx(ctx, tx, gateway)
	})
	if err == nil && n > 0 {
		h.deps.Log.InfoContext(ctx, "the gateway answers again", slog.String("gateway", string(gateway)),
			slog.Time("failing_since", *state.FailingSince))
	}
	return err
}

// Probe asks a gateway that fails, while no order stands for it, whether it answers again.
func (h *Health) Probe(ctx context.Context, gateway gateway.Name) (right bool, err error) {
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if err := h.deps.Probe(limited, gateway); err != nil {
		h.deps.Log.WarnContext(ctx, "the gateway still fails", slog.String("gateway", string(gateway)),
			slog.Any("error", err))
		return false, nil
	}
	return true, h.Recovered(context.WithoutCancel(ctx), gateway)
}

// within reports whether a time has passed that is shorter than the limit. On a clock
// that was set back it is not.
func within(passed, limit time.Duration) bool { return passed >= 0 && passed < limit }

func probeDue(state paymentsdb.PaymentsGatewayState, now time.Time) bool {
	if state.FailingSince == nil {
		return false
	}
	return state.FailedAt == nil || !within(now.Sub(*state.FailedAt), probeEvery)
}
