package ledger

import (
	"cmp"
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
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// RefundRecord is a report of refunds and what the payment was for.
type RefundRecord struct {
	gateway.Owner

	Report gateway.RefundReport
	// Payment is what is known of the payment, nil when nothing is: of a PIX, what
	// nobody here asked for was taken back by the payer's bank.
	Payment *gateway.Payment
}

// RefundChange is what a report changed.
type RefundChange struct {
	Total money.Cents // given back of this payment
	// Change is how much Total moved by this report: 0 of a repetition, below 0
	// when a refund failed after it had been counted.
	Change money.Cents
	// TakenBack is what the payer's bank took back of a PIX since this report, in
	// part: it is booked as a refund.
	TakenBack money.Cents
	// Restored are the refunds in this report that carry the mark of one of our requests but
	// have no row: they were lost with the restore of a database.
	Restored []Refund
	// Dispute is the payment's dispute as this report changes it: lost by the refund, which
	// then is none; or won, since the refund that lost it failed.
	Dispute *DisputeChange
}

// RecordRefundTx takes a gateway's report of a payment's refunds into the ledger
// and settles our requests that it reports. It may be called any number of
// times, in any order, also at once: cumulative totals are never added twice. A report that names no
// payment is an error, and so is one that the table of refunds holds against. Others are the database's.
func (s *Ledger) RecordRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord) (RefundChange, error) {
	if r.Report.PaymentID == "" {
		return RefundChange{}, errors.New("payments: a refund needs the payment's id")
	}
	rows, err := LockRefundsTx(ctx, tx, s, r.Gateway, r.Report.PaymentID)
	if err != nil {
		return RefundChange{}, err
	}
	lines, err := s.addReportTx(ctx, tx, r)
	if err != nil {
		return RefundChange{}, err
	}
	change := RefundChange{}
	before := DoneSum(rows)
	unasked := refundedTotal(lines) - requestedOrDone(rows) - lostMarked(rows, r.Report)
	disputed, dispute, err := s.disputeByRefundTx(ctx, tx, r, unasked, refundedTotal(lines))
	if err != nil {
		return RefundChange{}, err
	}
	for _, row := range settleRefunds(rows, r.Report, lines, disputed) {
		if row.isNew && row.ID == "" && r.isPix() {
			row.Kind = state.RefundTakenBack
			change.TakenBack += row.Amount
		}
		if row.isNew && row.ID != "" {
			change.Restored = append(change.Restored, *row)
		}
		if err := s.storeRefundTx(ctx, tx, r, row); err != nil {
			return RefundChange{}, err
		}
		if row.Status == gateway.RefundStatusDone {
			change.Total += row.Amount
		}
	}
	if err := s.cases.SyncRefundsTx(ctx, tx, r.Gateway, r.Report.PaymentID, false); err != nil {
		return RefundChange{}, err
	}
	change.Change, change.Dispute = change.Total-before, dispute
	return change, nil
}

func (r RefundRecord) isPix() bool { return r.Payment != nil && r.Payment.Method == gateway.MethodPix }

// requestedOrDone is what the rows of a payment account for.
func requestedOrDone(rows []*Refund) (sum money.Cents) {
	for _, row := range rows {
		if row.Status == gateway.RefundStatusDone || row.ByAdmin && row.Status != gateway.RefundStatusFailed {
			sum += row.Amount
		}
	}
	return sum
}

// addReportTx keeps what the report says and returns all that was ever said. An error is the database's.
func (s *Ledger) addReportTx(ctx context.Context, tx pgx.Tx, r RefundRecord) ([]reportLine, error) {
	for _, l := range linesOf(r.Report) {
		err := s.db.RefundReportInsert(ctx, tx, paymentsdb.RefundReportInsertParams{
			Gateway: r.Gateway, PaymentRef: r.Report.PaymentID, Kind: l.kind, RefundID: l.refundID, ReportedAt: l.at,
			AmountCents: int64(l.amount),
		})
		if err != nil {
			return nil, fmt.Errorf("keep refund report: %w", err)
		}
	}
	found, err := s.db.RefundReportList(ctx, tx,
		paymentsdb.RefundReportListParams{Gateway: r.Gateway, PaymentRef: r.Report.PaymentID})
	if err != nil {
		return nil, fmt.Errorf("read refund reports: %w", err)
	}
	lines := make([]reportLine, len(found))
	for i, l := range found {
		lines[i] = reportLine{kind: l.Kind, refundID: l.RefundID, at: l.ReportedAt, amount: money.Cents(l.AmountCents)}
	}
	return lines, nil
}

// storeRefundTx writes a row that a report has made or changed, and ends the intent of a request that it
// settles. A change against the table of refunds is an error. Others are the database's, or of Hooks.Known
// (intent.Service.EndTx).
func (s *Ledger) storeRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord, row *Refund) error {
	now := s.deps.Clock.Now()
	switch {
	case row.unlisted != nil:
		return fmt.Errorf("settle refund %s: %w", row.ID, row.unlisted)
	case row.isNew:
		id, err := s.newRefundID(ctx, tx, row.ID)
		if err != nil {
			return err
		}
		return s.db.RefundInsert(ctx, tx, paymentsdb.RefundInsertParams{
			ID: id, Gateway: &r.Gateway, PaymentRef: r.Report.PaymentID,
			GatewayRefundID: nullable.Ptr(row.GatewayRefundID),
			Purpose:         r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID, AmountCents: int64(row.Amount),
			Kind: cmp.Or(row.Kind, state.RefundByUs), Status: row.Status,
			Source: state.ByGateway, EventID: row.EventID, EventType: row.EventType, Reason: nullable.Ptr(row.Reason),
			RequestedAt: row.RequestedAt, RefundedAt: row.RefundedAt, At: now, Action: string(row.by),
		})
	case row.changed:
		if row.ByAdmin && row.Status != gateway.RefundStatusRequested {
			if err := s.deps.Intents.EndTx(ctx, tx, IntentOf(row.ID), intent.Succeeded[any]{},
				intent.ByWebhook); err != nil {
				return err
			}
		}
		n, err := s.db.RefundUpdate(ctx, tx, paymentsdb.RefundUpdateParams{
			ID: row.ID, FromStatus: row.stored, Status: row.Status, Action: string(row.by),
			GatewayRefundID: nullable.Ptr(row.GatewayRefundID), AmountCents: int64(row.Amount),
			Reason: nullable.Ptr(row.Reason), Failure: nullable.Ptr(row.Failure), RefundedAt: row.RefundedAt, At: now,
		})
		if err == nil && n == 0 {
			err = fmt.Errorf("settle refund %s: it is no longer %s", row.ID, row.stored)
		}
		return err
	}
	return nil
}

// newRefundID is the id of a row that a report makes: the one which the refund bears at
// its gateway, where no other row has it. An error is the database's.
func (s *Ledger) newRefundID(ctx context.Context, tx pgx.Tx, marked objectid.ID) (objectid.ID, error) {
	if marked == "" {
		return objectid.At(s.deps.Clock.Now()), nil
	}
	_, err := s.db.RefundFind(ctx, tx, marked)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return marked, nil
	case err != nil:
		return "", fmt.Errorf("read refund: %w", err)
	}
	return objectid.At(s.deps.Clock.Now()), nil
}

// IntentOf names the intent of a refund that was asked for here.
func IntentOf(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Refund, Subject: id} }

// LeftOf is what has neither been given back nor is on its way.
func LeftOf(paid money.Cents, rows []*Refund) money.Cents {
	for _, row := range rows {
		if row.Status != gateway.RefundStatusFailed {
			paid -= row.Amount
		}
	}
	return paid
}

// RefundsOfPayment are the refunds of a payment, by the key that it has among refunds. An error is the database's.
func (s *Reader) RefundsOfPayment(ctx context.Context, db postgres.DB, gateway gateway.Name,
	key string,
) ([]*Refund, error) {
	found, err := s.db.RefundListOfPayment(ctx, db,
		paymentsdb.RefundListOfPaymentParams{Gateway: &gateway, PaymentRef: key})
	if err != nil {
		return nil, fmt.Errorf("read refunds: %w", err)
	}
	rows := make([]*Refund, len(found))
	for i, row := range found {
		rows[i] = new(RefundOf(row))
	}
	return rows, nil
}

// InsertRefundTx writes the row of a refund that is asked for, before the gateway hears of it: whoever
// dies then is found by its intent. An error is the database's: do not ask the gateway then.
func InsertRefundTx(ctx context.Context, tx pgx.Tx, s *Ledger, r Refund) error {
	source := state.ByAdmin
	if r.AdminID == nil && r.Admin == "" {
		source = state.ByPlatform
	}
	begin, err := state.Refunds.Move("", state.RefundRequested)
	if err != nil {
		return err
	}
	return s.db.RefundInsert(ctx, tx, paymentsdb.RefundInsertParams{
		ID: r.ID, Gateway: &r.Gateway, PaymentRef: r.PaymentID, Purpose: r.Purpose, LocalID: r.LocalID,
		CustomerID:  r.CustomerID,
		AmountCents: int64(r.Amount), Kind: state.RefundByUs, Status: begin, Source: source, EventID: r.EventID,
		EventType: r.EventType,
		Reason:    nullable.Ptr(r.Reason), Admin: nullable.Ptr(r.Admin), AdminID: r.AdminID, RequestedAt: r.RequestedAt,
		At: r.RequestedAt, Action: string(state.RefundRequested),
	})
}

// FailRefundTx marks a request that came to nothing, and why. Failed is false when a report
// took it for done meanwhile: money that went back is never called failed by a late answer. An error is the
// database's.
func FailRefundTx(ctx context.Context, tx pgx.Tx, s *Ledger, id objectid.ID,
	failure string,
) (failed bool, err error) {
	to, err := state.Refunds.Move(gateway.RefundStatusRequested, state.RefundRefused)
	if err != nil {
		return false, err
	}
	n, err := s.db.RefundFail(ctx, tx, paymentsdb.RefundFailParams{
		ID: id, FromStatus: gateway.RefundStatusRequested, Status: to, Failure: failure, At: s.deps.Clock.Now(),
		Action: string(state.RefundRefused),
	})
	return n == 1, err
}

// RefundedTotal is what has been given back of a subscription's or order's
// payments. An error is the database's.
func (s *Reader) RefundedTotal(ctx context.Context, db postgres.DB, purpose gateway.Purpose,
	localID objectid.ID,
) (money.Cents, error) {
	total, err := s.db.RefundSum(ctx, db, paymentsdb.RefundSumParams{Purpose: purpose, LocalID: localID})
	return money.Cents(total), err
}

// RefundedPayment is what has been given back of a payment.
type RefundedPayment struct {
	LocalID   objectid.ID
	PaymentID string // as Refund.PaymentID
	Amount    money.Cents
}

// RefundedPayments is what has been given back of the payments of many subscriptions or
// orders; those of which nothing was are left out. An error is the database's.
func (s *Reader) RefundedPayments(ctx context.Context, db postgres.DB, purpose gateway.Purpose,
	localIDs []objectid.ID,
) ([]RefundedPayment, error) {
	rows, err := s.db.RefundListSums(ctx, db,
		paymentsdb.RefundListSumsParams{Purpose: purpose, LocalIds: objectid.Strings(localIDs)})
	if err != nil {
		return nil, fmt.Errorf("read refunds: %w", err)
	}
	all := make([]RefundedPayment, len(rows))
	for i, row := range rows {
		all[i] = RefundedPayment{LocalID: row.LocalID, PaymentID: row.PaymentRef, Amount: money.Cents(row.Cents)}
	}
	return all, nil
}

// RefundedSince is what has been given back of orders or subscriptions by refunds that
// were asked for since an instant. An error is the database's.
func (s *Reader) RefundedSince(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localIDs []objectid.ID,
	since time.Time,
) (money.Cents, error) {
	total, err := s.db.RefundSumSince(ctx, db,
		paymentsdb.RefundSumSinceParams{Purpose: purpose, LocalIds: objectid.Strings(localIDs), Since: since})
	if err != nil {
		return 0, fmt.Errorf("read refunds: %w", err)
	}
	return money.Cents(total), nil
}

// RefundsOf returns the refunds of a subscription or order, newest first, also
// those that are under way or failed. An error is the database's.
func (s *Reader) RefundsOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose,
	localID objectid.ID,
) ([]Refund, error) {
	rows, err := s.db.RefundListOf(ctx, db, paymentsdb.RefundListOfParams{Purpose: purpose, LocalID: localID})
	if err != nil {
		return nil, err
	}
	all := make([]Refund, len(rows))
	for i, row := range rows {
		all[i] = RefundOf(row)
	}
	return all, nil
}

// RefundOf is the row as a refund.
func RefundOf(row paymentsdb.PaymentsRefund) Refund {
	return Refund{
		ID: row.ID, Gateway: nullable.Value(row.Gateway), PaymentID: row.PaymentRef,
		GatewayRefundID: nullable.Value(row.GatewayRefundID),
		Purpose:         row.Purpose, LocalID: row.LocalID, CustomerID: row.CustomerID,
		Amount: money.Cents(row.AmountCents),
		Kind:   row.Kind, Status: row.Status, stored: row.Status, ByAdmin: row.Source != state.ByGateway,
		EventID: row.EventID, EventType: row.EventType,
		Reason: nullable.Value(row.Reason), Admin: nullable.Value(row.Admin), AdminID: row.AdminID,
		Failure:     nullable.Value(row.Failure),
		RequestedAt: row.RequestedAt.UTC(), RefundedAt: row.RefundedAt, UpdatedAt: row.UpdatedAt.UTC(),
	}
}
