package webhook

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
)

// ApplyTx asks the appliers. After an error, also a panic, the transaction has to
// be rolled back.
func (s *Webhooks) ApplyTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (result gateway.Result, err error) {
	if e.Payload == nil {
		return gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNoConsequence}, nil
	}
	if reason := e.Impossible(); reason != "" { // stored before this was looked at
		return gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonImpossible.With(reason)}, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while applying: %v\n%s", p, debug.Stack())
		}
	}()
	if _, nameless := e.Payload.(gateway.NamelessPayment); nameless {
		return s.takeNamelessTx(ctx, tx, e)
	}
	if e.Known, err = s.reader.KnownPayment(ctx, tx, e); err != nil {
		return gateway.Result{}, err
	}
	if !e.IsProof() {
		return s.applyUnsignedTx(ctx, tx, e)
	}
	return s.dispatchTx(ctx, tx, e)
}

// applyUnsignedTx applies an event that proves nothing by itself. Where it is about something
// of ours and would change it, nothing of that stays: a job asks the gateway first.
func (s *Webhooks) applyUnsignedTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	settled, isSettled := e.Payload.(gateway.SettledPayment)
	if _, failed := e.Payload.(gateway.FailedPayment); !e.NeedsConfirmation() && !isSettled && !failed {
		return s.dispatchTx(ctx, tx, e)
	}
	if isSettled {
		known, err := s.reader.FindPayment(ctx, tx, e.Gateway, settled.Payment.ID)
		if err != nil || known != nil {
			if err != nil {
				return gateway.Result{}, err
			}
			return s.dispatchTx(ctx, tx, e)
		}
	}
	trial, err := tx.Begin(ctx)
	if err != nil {
		return gateway.Result{}, err
	}
	result, err := s.dispatchTx(ctx, trial, e)
	if err != nil {
		return gateway.Result{}, err
	}
	if result.Unclaimed || result.Taken ||
		!e.NeedsConfirmation() &&
			(!result.Unproven ||
				isSettled && e.ConciliationID == "" && !settled.Payment.IsFarAhead(s.deps.Clock.Now())) {
		return result, trial.Commit(ctx)
	}
	if err := trial.Rollback(ctx); err != nil {
		return gateway.Result{}, err
	}
	return gateway.AwaitingConfirmation(result.SubscriptionID, gateway.ReasonAskedFirst),
		s.queueConfirmationTx(ctx, tx, ConfirmEventArgs{Gateway: e.Gateway, EventID: e.ID}, time.Time{})
}

// dispatchTx has the one apply an event whose subject it is.
func (s *Webhooks) dispatchTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (result gateway.Result, err error) {
	if e.Known != nil && e.Known.Purpose == gateway.ForCustomer {
		return s.applyOfCustomerTx(ctx, tx, e)
	}
	waits := gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}
	for _, a := range s.appliers {
		result, err = a.ApplyEventTx(ctx, tx, e)
		if err != nil || !result.Unclaimed {
			return result, err
		}
		if result.Reason != "" {
			waits = result // its subject is known, but not yet what the event is about
		}
	}
	if waits.Reason != "" {
		return waits, nil
	}
	if e.IsStrayMoney() {
		result, err = s.takeStrayTx(ctx, tx, e)
		if err != nil || result.Taken {
			return result, err
		}
	}
	if e.NamesOurs() {
		waits.Reason = gateway.ReasonNamesLost
	}
	return waits, nil
}

// applyOfCustomerTx applies what becomes of money that was booked for a customer alone:
// ledgers and list have it, and nothing else follows.
func (s *Webhooks) applyOfCustomerTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	known, r := e.Known, gateway.Result{Status: gateway.ResultApplied}
	var err error
	switch p := e.Payload.(type) {
	case gateway.RefundChange:
		_, err = s.ledger.RecordRefundTx(ctx, tx, ledger.RefundRecord{
			Gateway: e.Gateway, Purpose: known.Purpose, LocalID: known.LocalID, CustomerID: known.CustomerID,
			Report: p.Report, Payment: &known.Payment,
		})
	case gateway.DisputeChange:
		_, err = s.ledger.RecordDisputeTx(ctx, tx, ledger.DisputeRecord{
			Gateway: e.Gateway, Purpose: known.Purpose, LocalID: known.LocalID, CustomerID: known.CustomerID,
			Report: p.Report,
		})
	default:
		r = gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNoConsequence}
	}
	return r, err
}

// takeStrayTx asks who takes in money that nothing here knows. Result.Taken is false when
// nobody does.
func (s *Webhooks) takeStrayTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	for _, t := range s.takers {
		if result, err := t.TakeStrayMoneyTx(ctx, tx, e); err != nil || result.Taken {
			return result, err
		}
	}
	return gateway.Result{}, nil
}

// takeNamelessTx has the gateway asked whether an invoice is behind money of a customer of
// ours that names nothing. No row that comes later will know it: it waits for none.
func (s *Webhooks) takeNamelessTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	taken, err := s.takeStrayTx(ctx, tx, e)
	r := gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNoConsequence}
	if taken.Taken {
		r.Reason = gateway.ReasonAskedInvoice
	}
	return r, err
}

// unclaimed words the result of an event whose subject nobody knows.
func unclaimed(r gateway.Result) gateway.Result {
	r.Status = gateway.ResultIgnored
	if r.Reason == "" {
		r.Reason = gateway.ReasonUnknownSubject
	}
	return r
}

// subjectsOf is never nil: the column holds an array.
func subjectsOf(e gateway.Event) []string { return append([]string{}, e.Subjects()...) }
