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
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// What a note says of the gateway's customer, whose id follows: nobody's here, or somebody's.
const (
	NoCustomer  = "neither is its customer"
	ItsCustomer = "but its customer is known"
)

// ListUnknownTx puts an order whose outcome is not known for a day on the list of money
// that people look at: nobody knows whether there is any. What was decided there about an
// earlier order of the same row is open again. An error is the database's.
func (s *Cases) ListUnknownTx(ctx context.Context, tx pgx.Tx, i intent.Intent) error {
	u := Unapplied{
		Kind: state.UnappliedUnknown, Gateway: i.Gateway, Subject: i.Subject.String(), CustomerID: i.Customer,
		Note: "The gateway has given no usable answer about this " + string(i.Kind) + " since " +
			i.Since().UTC().Format(time.RFC3339) + ".",
	}
	switch i.Kind {
	case intent.Order:
		u.OrderID = i.Subject
	case intent.Subscription, intent.SubscriptionGone, intent.OpenInvoice, intent.Debit, intent.DebitRetry,
		intent.Resume, intent.End:
		u.SubscriptionID = i.Subject
	case intent.Pause, intent.ChargeMove, intent.PlanMove: // rows of their own
		u.SubscriptionID = objectid.ID(i.Reference)
	}
	first, err := s.RecordUnappliedTx(ctx, tx, u)
	if err != nil || first {
		return err
	}
	known, err := s.db.UnappliedLockBySubject(ctx, tx,
		paymentsdb.UnappliedLockBySubjectParams{Gateway: i.Gateway, Subject: i.Subject.String()})
	if err != nil {
		return fmt.Errorf("read unapplied payment: %w", err)
	}
	_, err = s.MoveTx(ctx, tx, known, Move{
		By: state.UnappliedIntentUnknown, Source: state.ByPlatform, Reason: u.Note, Note: u.Note, ForPeople: true,
	})
	return err
}

// IntentEndedTx decides what is listed of a row whose orders at a gateway were not known for
// a day, when the last of them has its answer: that says what became of any money. Nothing listed is no error; an
// error is the database's.
func (s *Cases) IntentEndedTx(ctx context.Context, tx pgx.Tx, gw gateway.Name, subject objectid.ID) error {
	u, err := s.db.UnappliedLockBySubject(ctx, tx,
		paymentsdb.UnappliedLockBySubjectParams{Gateway: gw, Subject: subject.String()})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read unapplied payment: %w", err)
	}
	mailed, err := s.db.IntentListMailedOf(ctx, tx,
		paymentsdb.IntentListMailedOfParams{SubjectID: subject, Gateway: gw})
	if err != nil {
		return fmt.Errorf("read intents: %w", err)
	}
	if u.State != state.UnappliedOpen || len(mailed) == 0 || mailed[0].State == state.IntentOpen {
		return nil
	}
	note := outcomeText(mailed[0])
	c := Move{By: state.UnappliedIntentEnded, Source: state.ByPlatform, Reason: note, Note: note, ForPeople: true}
	if mailed[0].Kind == intent.End {
		c.SubscriptionID = subject // earlier releases did not tell it
	}
	_, err = s.MoveTx(ctx, tx, u, c)
	return err
}

// outcomeText says how an order that was not known for long came to its end.
func outcomeText(i paymentsdb.IntentListMailedOfRow) string {
	by := "it was settled here, by " + i.By
	switch i.By {
	case "look", "recovery", "live_read", "reconciliation":
		by = "the gateway said so when it was asked"
	case "webhook":
		by = "the gateway's event said so"
	case "answer", "subscribe":
		by = "the gateway's answer said so"
	}
	what := map[state.Intent]string{
		state.IntentDone:     "its outcome is known and stands where it belongs",
		state.IntentDeclined: "the payer was refused, and nothing was charged",
		state.IntentRefused:  "the gateway refused it and made nothing",
		state.IntentMissing:  "nothing of it is at the gateway",
		state.IntentVoid:     "nothing was left to be asked",
	}[i.State]
	return fmt.Sprintf("This %s was answered at %s: %s (%s). Money of it that gave nobody anything has a row of its own.",
		i.Kind, i.EndedAt.UTC().Format(time.RFC3339), what, by)
}

// unconfirmedText is what people read of money that is booked and that its gateway does
// not show.
const unconfirmedText = "Only an event reported it as paid: the gateway does not show it as paid."

// UncountUnshownTx takes a payment that its gateway does not show out of what counts, and
// lists it for people. The ledger keeps it. One that does not count is left alone, since a repetition finds it so; an
// error is the database's.
func (s *Cases) UncountUnshownTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentID string) error {
	row, err := s.db.PaymentClearCounted(ctx, tx, paymentsdb.PaymentClearCountedParams{
		Gateway: gateway, GatewayPaymentID: paymentID, At: s.deps.Clock.Now(),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take payment %s out of what counts: %w", paymentID, err)
	}
	return s.ListUnshownTx(ctx, tx, row)
}

// ListUnshownTx lists a booked payment that its gateway does not show, for people to decide. An error is the
// database's.
func (s *Cases) ListUnshownTx(ctx context.Context, tx pgx.Tx, row paymentsdb.PaymentsPayment) error {
	u := Unapplied{
		Kind: state.UnappliedUnknown, Gateway: row.Gateway, PaymentID: row.GatewayPaymentID,
		Amount:     new(money.Cents(row.AmountCents)),
		CustomerID: row.CustomerID, PaidAt: &row.SettledAt, Note: unconfirmedText,
	}
	if row.Purpose == gateway.ForOrder {
		u.OrderID = row.LocalID
	} else {
		u.SubscriptionID = row.LocalID
	}
	_, err := s.RecordUnappliedTx(ctx, tx, u)
	return err
}

// confirmAgainTx has the gateway asked for a payment that waits on the list since an event
// alone had told it: it was told once more. One that does not wait is no error; an error is the database's.
func (s *Cases) confirmAgainTx(ctx context.Context, tx pgx.Tx, gw gateway.Name, paymentID string) error {
	if gw.Traits().SignsEvents {
		return nil
	}
	id, err := s.db.UnappliedConfirmAgain(ctx, tx,
		paymentsdb.UnappliedConfirmAgainParams{Gateway: gw, Subject: paymentID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("have unapplied payment %s asked for: %w", paymentID, err)
	}
	return s.insertJobTx(ctx, tx, id)
}
