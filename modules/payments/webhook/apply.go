package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// applyOfCustomerTx applies what becomes of money that was booked for a customer alone:
// ledgers and list have it, and nothing else follows.
func (s *Webhooks) applyOfCustomerTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	known, r := e.Known, gateway.Result{Status: gateway.ResultApplied}
	var err error
	switch p := e.Payload.(type) {
	case gateway.RefundChange:
		_, err = s.ledger.RecordRefundTx(ctx, tx, ledger.RefundRecord{
			Gateway: e.Gateway, Purpose: known.Purpose, LocalID: known.LocalID, CustomerID: known.CustomerID, Report: p.Report, Payment: &known.Payment,
		})
	case gateway.DisputeChange:
		_, err = s.ledger.RecordDisputeTx(ctx, tx, ledger.DisputeRecord{
			Gateway: e.Gateway, Purpose: known.Purpose, LocalID: known.LocalID, CustomerID: known.CustomerID, Report: p.Report,
		})
	default:
		r = gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNoConsequence}
	}
	return r, err
}

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
		return s.applyToldTx(ctx, tx, e)
	}
	return s.askAppliersTx(ctx, tx, e)
}

// askAppliersTx has the one apply an event whose subject it is.
func (s *Webhooks) askAppliersTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (result gateway.Result, err error) {
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

// finishTx gives an event that was applied again, and all its logs, the result.
func (s *Webhooks) finishTx(ctx context.Context, tx pgx.Tx, e gateway.Event, state string, r gateway.Result) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// The caller holds the event: nobody else touches its logs, so that they never
	// tell different stories.
	params := paymentsdb.ProcessedEventFinishParams{
		Gateway: e.Gateway, EventID: e.ID, LogID: e.LogID, State: state, Result: raw, At: s.deps.Clock.Now(), Processed: true,
	}
	params.ProcessedAt = &params.At
	if err := s.db.ProcessedEventFinish(ctx, tx, params); err != nil {
		return fmt.Errorf("finish event: %w", err)
	}
	return nil
}

// ApplyAgain applies a queued or waiting event from its stored body. An event
// that is neither any more is left alone. The error keeps the event as it is.
func (s *Webhooks) ApplyAgain(ctx context.Context, name gateway.Name, eventID string) error {
	gateway, err := s.deps.Gateways.Find(name)
	if err != nil {
		return err
	}
	if err := s.linkIntent(ctx, gateway, eventID); err != nil {
		return err
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		row, err := s.db.ProcessedEventLock(ctx, tx, paymentsdb.ProcessedEventLockParams{Gateway: name, EventID: eventID})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock event: %w", err)
		}
		event, err := readStored(gateway, row.Payload, row.LogID)
		if err != nil {
			return fmt.Errorf("read stored event %s: %w", eventID, err)
		}
		result, err := s.ApplyTx(ctx, tx, event)
		if err != nil {
			return fmt.Errorf("apply event %s: %w", eventID, err)
		}
		if !result.Unclaimed {
			return s.finishTx(ctx, tx, event, stateDone, result)
		}
		return s.finishTx(ctx, tx, event, stateWaiting, unclaimed(result))
	})
}

// readStored reads an event from its log, whose id holds the second in which it came.
func readStored(gateway gateway.Adapter, payload []byte, log objectid.ID) (gateway.Event, error) {
	e, err := gateway.ReadEvent(payload)
	e.Gateway, e.LogID = gateway.Name(), log
	e.ReceivedAt(log.Time().Add(time.Second))
	return e, err
}

// subjectsOf is never nil: the column holds an array.
func subjectsOf(e gateway.Event) []string { return append([]string{}, e.Subjects()...) }
