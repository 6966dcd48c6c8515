package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/objectid"
)

// What a note says of the gateway's customer, whose id follows: nobody's here, or somebody's.
const (
	NoCustomer  = "neither is its customer"
	ItsCustomer = "but its customer is known"
)

// ListUnknownTx puts an order whose outcome is not known for a day on the list of money
// that people look at: nobody knows whether there is any. What was decided there about an
// earlier order of the same row is open again.
func (s *Cases) ListUnknownTx(ctx context.Context, tx pgx.Tx, i intent.Intent) error {
	u := Unapplied{
		Kind: state.UnappliedUnknown, Gateway: i.Gateway, Subject: i.Subject.String(), CustomerID: i.Customer,
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
	_, err = s.MoveTx(ctx, tx, known, Move{To: state.UnappliedOpen, Source: state.ByPlatform, Reason: u.Note, Note: u.Note, ForPeople: true})
	return err
}

// AnsweredTx decides what is listed of a row whose orders at a gateway were not known for
// a day, when the last of them has its answer: that says what became of any money.
func (s *Cases) AnsweredTx(ctx context.Context, tx pgx.Tx, gw gateway.Name, subject objectid.ID) error {
	u, err := s.db.UnappliedBySubject(ctx, tx, paymentsdb.UnappliedBySubjectParams{Gateway: gw, Subject: subject.String()})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read unapplied payment: %w", err)
	}
	told, err := s.db.IntentToldOf(ctx, tx, paymentsdb.IntentToldOfParams{SubjectID: subject, Gateway: gw})
	if err != nil {
		return fmt.Errorf("read intents: %w", err)
	}
	if u.State != state.UnappliedOpen || len(told) == 0 || told[0].State == "open" {
		return nil
	}
	note := answerNote(told[0])
	c := Move{To: state.UnappliedKept, Source: state.ByPlatform, Reason: note, Note: note, ForPeople: true}
	if intent.Kind(told[0].Kind) == intent.End {
		c.SubscriptionID = subject // earlier releases did not tell it
	}
	_, err = s.MoveTx(ctx, tx, u, c)
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
	what := map[string]string{ // the words of payments.intents
		"done":     "its outcome is known and stands where it belongs",
		"declined": "the payer was refused, and nothing was charged",
		"refused":  "the gateway refused it and made nothing",
		"missing":  "nothing of it is at the gateway",
		"void":     "nothing was left to be asked",
	}[i.State]
	return fmt.Sprintf("This %s was answered at %s: %s (%s). Money of it that gave nobody anything has a row of its own.",
		i.Kind, i.EndedAt.UTC().Format(time.RFC3339), what, by)
}
