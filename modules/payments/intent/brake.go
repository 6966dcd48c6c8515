package intent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
)

// The brake: more than so many, and more than a hundredth of those looked at within
// an hour, are not missing but the gateway's address or key is wrong.
const (
	brakeMisses  = 5
	brakePercent = 1
)

// Saw counts a look at something that was found before: at login, by a sweep, by a
// status read. When too much is missing the gateway becomes suspect, and nothing ends
// by missing until that is lifted. Count a thing that is missing once: while its
// intent is open it is not asked about elsewhere.
func (s *Service) Saw(ctx context.Context, gateway string, missing bool) error {
	now := s.deps.Clock.Now()
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		state, err := s.db.GatewayStateCount(ctx, tx, paymentsdb.GatewayStateCountParams{HourAgo: now.Add(-time.Hour), Now: now, Missing: missing, Gateway: gateway})
		if err != nil {
			return fmt.Errorf("count look: %w", err)
		}
		many := state.Missed > brakeMisses && state.Missed*100 > state.Looked*brakePercent
		switch {
		case many && state.SuspectSince == nil:
			return s.suspectTx(ctx, tx, state, now)
		case !many && state.SuspectSince != nil && state.CountedFrom != nil && !state.SuspectSince.Before(*state.CountedFrom) && state.Missed > 0:
			return s.trustTx(ctx, tx, gateway, "most of what was looked at within the hour is there")
		}
		return nil
	})
}

func (s *Service) suspectTx(ctx context.Context, tx pgx.Tx, state paymentsdb.PaymentsGatewayState, now time.Time) error {
	n, err := s.db.GatewayStateSuspect(ctx, tx, paymentsdb.GatewayStateSuspectParams{Now: now, Gateway: state.Gateway})
	if err != nil || n == 0 {
		return err
	}
	s.deps.Log.ErrorContext(ctx, "gateway is suspect: too much is missing there, and nothing is ended by it", slog.String("gateway", state.Gateway),
		slog.Int("looked", int(state.Looked)), slog.Int("missing", int(state.Missed)))
	return s.deps.Operators.TellTx(ctx, tx, "Gateway "+state.Gateway+" is suspect", fmt.Sprintf(
		"%d of %d subscriptions that were looked at within an hour are missing at gateway %s. Most likely its address or key is wrong.\n\n"+
			"No subscription ends by this until the mark is lifted. See docs/operations.md, \"A suspect gateway\".\n", state.Missed, state.Looked, state.Gateway))
}

// Trust lifts the mark of a suspect gateway. What is missing there is looked at twice
// more, an hour apart, before it ends.
func (s *Service) Trust(ctx context.Context, gateway, why string) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.trustTx(ctx, tx, gateway, why) })
}

func (s *Service) trustTx(ctx context.Context, tx pgx.Tx, gateway, why string) error {
	n, err := s.db.GatewayStateTrust(ctx, tx, gateway)
	if err != nil || n == 0 {
		return err
	}
	s.deps.Log.InfoContext(ctx, "gateway is trusted again", slog.String("gateway", gateway), slog.String("why", why))
	var kinds []string
	for k, u := range s.hooks.Users {
		if u.WasFound {
			kinds = append(kinds, string(k))
		}
	}
	return s.db.IntentResetFound(ctx, tx, paymentsdb.IntentResetFoundParams{Now: s.deps.Clock.Now(), Gateway: gateway, Kinds: kinds})
}

// Suspect lists the gateways that are.
func (s *Service) Suspect(ctx context.Context, db postgres.DB) ([]string, error) {
	states, err := s.db.GatewayStateList(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("read states of gateways: %w", err)
	}
	var found []string
	for _, state := range states {
		if state.SuspectSince != nil {
			found = append(found, state.Gateway)
		}
	}
	return found, nil
}

// toldAfter is how long something may be not known before people hear of it, and
// toldLines what a mail lists one by one.
const (
	toldAfter = 24 * time.Hour
	toldLines = 20
)

// tell writes to the operators, once an intent, what has been not known for a day, and
// has it put on the list of money to be looked at.
func (s *Service) tell(ctx context.Context, gateway string) error {
	now := s.deps.Clock.Now()
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		found, err := s.db.IntentTell(ctx, tx, paymentsdb.IntentTellParams{Now: now, Gateway: gateway, Since: now.Add(-toldAfter)})
		if err != nil {
			return fmt.Errorf("find what is not known: %w", err)
		}
		if len(found) == 0 {
			return nil
		}
		var lines strings.Builder
		for n, r := range found {
			i := intentOf(r)
			s.deps.Log.ErrorContext(ctx, "not known for a day", slog.String("intent_id", i.ID.String()), slog.String("kind", r.Kind),
				slog.String("subject_id", i.Subject.String()), slog.String("gateway", gateway), slog.String("cause", i.Cause))
			if s.hooks.Unknown != nil {
				if err := s.hooks.Unknown(ctx, tx, i); err != nil {
					return err
				}
			}
			if n < toldLines {
				fmt.Fprintf(&lines, "%s %s, since %s: %s\n", r.Kind, i.Subject, i.Since().Format(time.RFC3339), i.Cause)
			}
		}
		return s.deps.Operators.TellTx(ctx, tx, fmt.Sprintf("Gateway %s: %d orders not known for a day", gateway, len(found)), fmt.Sprintf(
			"Gateway %s has told nothing that can be used about %d orders for a day. They are asked about hourly, after a week daily.\n\n%s\n"+
				"See docs/operations.md, \"Orders whose outcome is not known\".\n", gateway, len(found), lines.String()))
	})
}
