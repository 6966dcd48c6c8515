package webhook

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
)

// applyOfCustomerTx applies what happens to money that was booked for a customer alone:
// it is written to the ledgers and the list, and nothing else follows.
func (s *Webhooks) applyOfCustomerTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	known, r := e.Known, gateway.Result{Status: gateway.ResultApplied}
	var err error
	switch p := e.Payload.(type) {
	case gateway.RefundChange:
		_, err = s.ledger.RecordRefundTx(ctx, tx,
			ledger.RefundRecord{Owner: known.At(e.Gateway), Report: p.Report, Payment: &known.Payment})
	case gateway.DisputeChange:
		_, err = s.ledger.RecordDisputeTx(ctx, tx,
			ledger.DisputeRecord{Owner: known.At(e.Gateway), Report: p.Report})
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

// takeNamelessTx has a job ask the gateway whether an invoice is behind money of a known customer
// that names nothing. No later row will match it, so the event does not wait for one.
func (s *Webhooks) takeNamelessTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	taken, err := s.takeStrayTx(ctx, tx, e)
	r := gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNoConsequence}
	if taken.Taken {
		r.Reason = gateway.ReasonToConfirmInvoice
	}
	return r, err
}

// unclaimed completes the result of an event whose subject is not known here.
func unclaimed(r gateway.Result) gateway.Result {
	r.Status = gateway.ResultIgnored
	if r.Reason == "" {
		r.Reason = gateway.ReasonUnknownSubject
	}
	return r
}
