package intent

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
)

const (
	// probeEvery: while the gateway fails, however long, it is asked so often although no look is
	// due: 1,440 calls in 12 hours, of the 5,000 that all looks together may make at gateway A.
	probeEvery = 30 * time.Second
	// probeTime bounds a probe.
	probeTime = 30 * time.Second
	// probeFailures is how often an intent may fail and still stand for the gateway:
	// what fails longer may be odd by itself.
	probeFailures = 40
	// forwardEvery bounds how often looks are brought forward.
	forwardEvery = time.Minute
	// noteTime bounds the note of an answer.
	noteTime = 5 * time.Second
)

// health is what this process knows of the gateways, so that a right answer of one
// that is well costs nothing. Unknown counts as failing.
type health struct {
	mu   sync.Mutex
	well map[string]bool
}

func (h *health) is(gateway string) (well bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.well[gateway]
}

func (h *health) set(gateway string, well bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.well == nil {
		h.well = map[string]bool{}
	}
	h.well[gateway] = well
}

// Heard notes what an answer says of the gateway, whoever asked: a login, a sweep, a
// request, a look. The first right one after a failed one brings the looks forward;
// one that closes the whole account counts as failed.
func (s *Service) Heard(ctx context.Context, gateway string, right bool) {
	if right && s.health.is(gateway) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	note := s.answered
	if !right {
		note = s.fails
	}
	if err := note(ctx, gateway); err != nil {
		s.deps.Log.WarnContext(ctx, "what an answer says of the gateway was not noted", slog.String("gateway", gateway), slog.Any("error", err))
	}
}

// fails notes that the gateway told nothing that can be used.
func (s *Service) fails(ctx context.Context, gateway string) error {
	err := s.db.GatewayStateFail(ctx, s.deps.Pool, paymentsdb.GatewayStateFailParams{Gateway: gateway, Now: s.deps.Clock.Now()})
	s.health.set(gateway, false)
	if err != nil {
		return fmt.Errorf("note that the gateway fails: %w", err)
	}
	return nil
}

// answered ends what was noted of a failing gateway, and brings its looks forward. A
// single object that is always answered oddly does not have all others asked about
// again and again: within a minute of the last time the mark stays.
func (s *Service) answered(ctx context.Context, gateway string) error {
	s.health.set(gateway, true) // before the read: what fails meanwhile says so after it
	state, err := s.db.GatewayStateRead(ctx, s.deps.Pool, gateway)
	if err != nil {
		s.health.set(gateway, false)
		return fmt.Errorf("read state of gateway: %w", err)
	}
	if state.FailingSince == nil {
		return nil
	}
	s.health.set(gateway, false)
	now := s.deps.Clock.Now()
	if state.ForwardedAt != nil && within(now.Sub(*state.ForwardedAt), forwardEvery) {
		return nil
	}
	var n int64
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		n, err = s.db.GatewayStateRecover(ctx, tx, paymentsdb.GatewayStateRecoverParams{Now: now, Gateway: gateway, Since: now.Add(-forwardEvery)})
		if err != nil || n == 0 {
			return err
		}
		_, err = s.db.IntentForward(ctx, tx, paymentsdb.IntentForwardParams{Now: now, Gateway: gateway})
		return err
	})
	if err == nil && n > 0 {
		s.deps.Log.InfoContext(ctx, "the gateway answers again", slog.String("gateway", gateway), slog.Time("failing_since", *state.FailingSince))
	}
	return err
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

// probeTx leases the intent that is to probe a failing gateway; none where none can.
func (s *Service) probeTx(ctx context.Context, tx pgx.Tx, gateway string, now time.Time) ([]paymentsdb.PaymentsIntent, error) {
	found, err := s.db.IntentProbe(ctx, tx, paymentsdb.IntentProbeParams{Until: now.Add(lookLease), Now: now, Gateway: gateway, MostFailures: probeFailures})
	if err != nil {
		return nil, fmt.Errorf("claim intent: %w", err)
	}
	return found, nil
}

// probe asks the gateway without any intent, and reports whether it answers.
func (s *Service) probe(ctx context.Context, gateway string) (right bool, err error) {
	if s.hooks.Probe == nil {
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if err := s.hooks.Probe(limited, gateway); err != nil {
		s.deps.Log.WarnContext(ctx, "the gateway still fails", slog.String("gateway", gateway), slog.Any("error", err))
		return false, nil
	}
	return true, s.answered(context.WithoutCancel(ctx), gateway)
}
