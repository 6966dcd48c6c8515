package refund

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/platform/fault"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// FoundError says that the gateway had given back, or is giving back, what was not
// known here until its list was compared just now, and what may be the very refund that
// is asked for: its row was lost with the restore of a database. It is booked, nothing
// was asked of the gateway, and the same request made again goes through.
type FoundError struct{ Refunds []ledger.Refund }

// Error implements error.
func (e *FoundError) Error() string {
	return fmt.Sprintf("payments: the gateway lists %d refunds of the payment that were not known", len(e.Refunds))
}

// Fault words it for the admin who asked.
func (e *FoundError) Fault() error {
	ids := make([]string, len(e.Refunds))
	for i, r := range e.Refunds {
		at := r.RequestedAt
		if r.RefundedAt != nil {
			at = *r.RefundedAt
		}
		ids[i] = fmt.Sprintf("R$ %s at %s", r.Amount, at.UTC().Format(time.RFC3339))
	}
	return fault.Conflict("The gateway has already given back %s of this payment, which was not known here when you asked. It is recorded now, and nothing more was given back: repeat the request if you want another refund.",
		strings.Join(ids, " and ")).WithCause(e)
}

// foundRefunds is what counts since the list was compared and may be what is asked for:
// it bears the mark of a request of ours, or is of the amount. Rows that do not count for
// long are none: each is told once.
func foundRefunds(before, after []*ledger.Refund, all []gateway.RemoteRefund, amount money.Cents) []ledger.Refund {
	known := map[objectid.ID]bool{}
	for _, row := range before {
		known[row.ID] = row.Status != gateway.RefundStatusFailed
	}
	ours := slices.ContainsFunc(all, func(r gateway.RemoteRefund) bool {
		return r.RefundID != "" && r.Status != gateway.RefundStatusFailed && !known[r.RefundID]
	})
	var found []ledger.Refund
	for _, row := range after {
		if row.Status != gateway.RefundStatusFailed && !known[row.ID] && (ours || row.Amount == amount) {
			found = append(found, *row)
		}
	}
	return found
}

// compareRefunds takes the gateway's own list of a payment's refunds into the
// ledger: what no row of ours explains, such as a refund at its console, is
// recorded, and lowers what is left. While a request is open nothing is asked.
// Errors: *FoundError when what was recorded may be what an admin asks for.
func (s *Refunds) compareRefunds(ctx context.Context, gw gateway.Gateway, key string, q Request) error {
	p := q.Payment
	before, err := s.reader.RefundsOfPayment(ctx, s.deps.Pool, p.Gateway, key)
	if err != nil {
		return err
	}
	if open := unanswered(before); open != nil {
		return s.RefundOpen(ctx, s.deps.Pool, *open)
	}
	all, err := gw.ListRefunds(ctx, gateway.PaymentRef{PaymentID: p.Payment.ID, PaymentIntentID: key})
	if err != nil {
		return err
	}
	if err := s.recordList(ctx, key, p, all); err != nil || len(all) == 0 || q.AdminID == nil && q.Admin == "" {
		return err // the platform asks for what is left, which is less now
	}
	after, err := s.reader.RefundsOfPayment(ctx, s.deps.Pool, p.Gateway, key)
	if err != nil {
		return err
	}
	if found := foundRefunds(before, after, all, q.Amount); len(found) > 0 {
		idempotency.AttemptOf(ctx).KeepOpen() // the request made again goes through, by the same key, too
		return &FoundError{Refunds: found}
	}
	return nil
}

// recordList records what the gateway lists, and has it do what its events would have
// done: of a PIX, what nobody here asked for was taken back by the payer's bank.
func (s *Refunds) recordList(ctx context.Context, key string, p gateway.LedgerPayment,
	all []gateway.RemoteRefund,
) error {
	if len(all) == 0 {
		return nil
	}
	return s.recordReport(ctx, key, p, listReport(all))
}

func (s *Refunds) recordReport(ctx context.Context, key string, p gateway.LedgerPayment,
	report gateway.RefundReport,
) error {
	now := s.deps.Clock.Now()
	report.PaymentID, report.Type = key, refundSeenType
	report.EventID = fmt.Sprintf("REFUND-%s-%d", p.LocalID, now.UnixMilli())
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		result, err := s.webhooks.ApplyTx(ctx, tx, gateway.Event{
			Gateway: p.Gateway, Type: gateway.Reconciled, CreatedAt: now, LogID: objectid.At(now),
			Payload: gateway.RefundChange{Status: gateway.RefundStatusDone, Report: report},
		})
		if err != nil || !result.Unclaimed {
			return err
		}
		_, err = s.ledger.RecordRefundTx(ctx, tx, // nobody applies it: the ledger has the payment
			ledger.RefundRecord{Owner: p.Owner, Report: report, Payment: &p.Payment})
		return err
	})
}

// recordUnasked records first what an answer lists beside the refund that it is of: it
// came since the gateway's list was compared, and is no refund of ours.
func (s *Refunds) recordUnasked(ctx context.Context, r ledger.Refund, report gateway.RefundReport) error {
	beside := func(one gateway.SingleRefund) bool {
		return one.RefundID != r.ID && one.Status != gateway.RefundStatusFailed
	}
	if !report.Listed || !slices.ContainsFunc(report.Singles, beside) {
		return nil
	}
	p, err := s.reader.FindPayment(ctx, s.deps.Pool, r.Gateway, r.PaymentID)
	if err == nil && p != nil {
		err = s.recordReport(ctx, r.PaymentID, *p, report)
	}
	if err != nil {
		return fmt.Errorf("record what was given back beside refund %s: %w", r.ID, err)
	}
	return nil
}

// listReport is what a list of a payment's refunds, newest first, says of all.
func listReport(all []gateway.RemoteRefund) gateway.RefundReport {
	report := all[0].Report
	if report.Listed {
		return report
	}
	report.Singles = nil
	for _, r := range slices.Backward(all) {
		report.Singles = append(report.Singles, r.Report.Singles...)
	}
	return report
}

// refundSeenType is the event_type of a refund that nobody here asked for and that
// was found in its gateway's list.
const refundSeenType = "GATEWAY.REFUND.LISTED"
