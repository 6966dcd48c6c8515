package payments

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// listUnknownTx puts an order whose outcome is not known for a day on the list of money
// that people look at: nobody knows whether there is any. What was decided there about an
// earlier order of the same row is open again.
func (s *Service) listUnknownTx(ctx context.Context, tx pgx.Tx, i intent.Intent) error {
	u := Unapplied{
		Kind: UnappliedUnknown, Gateway: gateway.Name(i.Gateway), Subject: i.Subject.String(), CustomerID: i.Customer,
		Note: "The gateway has told nothing that can be used about this " + string(i.Kind) + " since " + i.Since().UTC().Format(time.RFC3339) + ".",
	}
	switch i.Kind {
	case intent.Order:
		u.OrderID = i.Subject
	case intent.Subscription, intent.SubscriptionGone, intent.OpenInvoice, intent.Debit, intent.DebitRetry, intent.Resume, intent.End:
		u.SubscriptionID = i.Subject
	case intent.Pause, intent.ChargeMove, intent.PlanMove: // rows of their own
		u.SubscriptionID = objectid.ID(i.Reference)
	}
	first, err := s.RecordUnappliedTx(ctx, tx, u)
	if err != nil || first {
		return err
	}
	known, err := s.db.UnappliedBySubject(ctx, tx, paymentsdb.UnappliedBySubjectParams{Gateway: i.Gateway, Subject: i.Subject.String()})
	if err != nil {
		return fmt.Errorf("read unapplied payment: %w", err)
	}
	_, err = s.moveUnappliedTx(ctx, tx, known, unappliedChange{to: UnappliedOpen, source: byPlatform, reason: u.Note, note: u.Note, forPeople: true})
	return err
}

// answeredTx decides what is listed of a row whose orders at a gateway were not known for
// a day, when the last of them has its answer: that says what became of any money.
func (s *Service) answeredTx(ctx context.Context, tx pgx.Tx, gateway string, subject objectid.ID) error {
	u, err := s.db.UnappliedBySubject(ctx, tx, paymentsdb.UnappliedBySubjectParams{Gateway: gateway, Subject: subject.String()})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read unapplied payment: %w", err)
	}
	told, err := s.db.IntentToldOf(ctx, tx, paymentsdb.IntentToldOfParams{SubjectID: subject, Gateway: gateway})
	if err != nil {
		return fmt.Errorf("read intents: %w", err)
	}
	if UnappliedState(u.State) != UnappliedOpen || len(told) == 0 || intent.State(told[0].State) == intent.Open {
		return nil
	}
	note := answerNote(told[0])
	c := unappliedChange{to: UnappliedKept, source: byPlatform, reason: note, note: note, forPeople: true}
	if intent.Kind(told[0].Kind) == intent.End {
		c.subscriptionID = subject // earlier releases did not tell it
	}
	_, err = s.moveUnappliedTx(ctx, tx, u, c)
	return err
}

// answerNote says how an order that was not known for long came to its end.
func answerNote(i paymentsdb.IntentToldOfRow) string {
	by := "it was settled here, by " + i.By
	switch i.By {
	case "look", "recovery", "live_read", "reconciliation":
		by = "the gateway said so when it was asked"
	case "webhook":
		by = "the gateway's event said so"
	case "answer", "subscribe":
		by = "the gateway's answer said so"
	}
	what := map[intent.State]string{
		intent.Done:     "its outcome is known and stands where it belongs",
		intent.Declined: "the payer was refused, and nothing was charged",
		intent.Refused:  "the gateway refused it and made nothing",
		intent.Missing:  "nothing of it is at the gateway",
		intent.Void:     "nothing was left to be asked",
	}[intent.State(i.State)]
	return fmt.Sprintf("This %s was answered at %s: %s (%s). Money of it that gave nobody anything has a row of its own.",
		i.Kind, i.EndedAt.UTC().Format(time.RFC3339), what, by)
}

// decideAnswered decides what was left open although the answer has come, as by an earlier
// release.
func (s *Service) decideAnswered(ctx context.Context) error {
	found, err := s.db.UnappliedAnswered(ctx, s.deps.Pool, unappliedBatch)
	if err != nil {
		return fmt.Errorf("list answered orders: %w", err)
	}
	var failed error
	for _, row := range found {
		failed = errors.Join(failed, postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			return s.answeredTx(ctx, tx, row.Gateway, objectid.ID(row.Subject))
		}))
	}
	return failed
}

const (
	// toldAgain is after how long the operators are told once more of money that waits.
	toldAgain = 24 * time.Hour
	// toldLines bounds what one mail lists.
	toldLines = 50
)

// TendUnknownMoney gives listed money of a gateway's customer who was not known here, as
// after a restore, its customer once somebody has that id again, and tells the operators
// once a day what is still nobody's.
func (s *Service) TendUnknownMoney(ctx context.Context) error {
	return errors.Join(s.findCustomers(ctx), s.tellUnknownMoney(ctx))
}

func (s *Service) findCustomers(ctx context.Context) error {
	if s.deps.Accounts == nil {
		return nil
	}
	rows, err := s.db.UnappliedOfNobody(ctx, s.deps.Pool, unappliedBatch)
	if err != nil {
		return fmt.Errorf("list money of nobody: %w", err)
	}
	for _, row := range rows {
		owner, err := s.deps.Accounts.CustomerOfGateway(ctx, s.deps.Pool, row.Gateway, row.GatewayCustomerID)
		if err != nil {
			return fmt.Errorf("find customer %s: %w", row.GatewayCustomerID, err)
		}
		if owner == "" {
			continue
		}
		err = s.db.UnappliedFindCustomer(ctx, s.deps.Pool, paymentsdb.UnappliedFindCustomerParams{CustomerID: owner.String(), At: s.deps.Clock.Now(), ID: row.ID})
		if err != nil {
			return fmt.Errorf("note whose money it is: %w", err)
		}
	}
	return nil
}

func (s *Service) tellUnknownMoney(ctx context.Context) error {
	now := s.deps.Clock.Now()
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		rows, err := s.db.UnappliedTell(ctx, tx, paymentsdb.UnappliedTellParams{At: now, Before: now.Add(-toldAgain)})
		if err != nil || len(rows) == 0 {
			return err
		}
		var lines strings.Builder
		for _, row := range rows[:min(len(rows), toldLines)] {
			fmt.Fprintf(&lines, "%s %s, R$ %s: %s\n", row.Gateway, row.GatewayPaymentID, money.Cents(row.AmountCents), row.Note)
		}
		if len(rows) > toldLines {
			fmt.Fprintf(&lines, "and %d more\n", len(rows)-toldLines)
		}
		return s.deps.Operators.TellTx(ctx, tx, fmt.Sprintf("%d payments are of nobody who is known here", len(rows)), fmt.Sprintf(
			"%d payments wait on the list of unapplied payments, and nobody here is known to have made them.\n\n%s\n"+
				"Refund or keep each: GET /admin/finance/unapplied-payments. See docs/operations.md, \"Recurrences that nobody owns\".\n", len(rows), lines.String()))
	})
}
