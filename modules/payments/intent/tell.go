package intent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/fault"
	"marquee/platform/postgres"
)

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
		return s.deps.Operators.TellTx(ctx, tx, fmt.Sprintf("Gateway %s: %s not known for a day", gateway, fault.Count(len(found), "order")), fmt.Sprintf(
			"Gateway %s has told nothing that can be used about %s for a day. Each is asked about hourly, after a week daily.\n\n%s\n"+
				"See docs/operations.md, \"Orders whose outcome is not known\".\n", gateway, fault.Count(len(found), "order"), lines.String()))
	})
}
