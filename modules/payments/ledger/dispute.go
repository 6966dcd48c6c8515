package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// DisputeRecord is a report of a dispute and what the payment was for.
type DisputeRecord struct {
	gateway.Owner

	Report gateway.DisputeReport
}

// DisputeChange is what a report changed.
type DisputeChange struct {
	State gateway.DisputeState
	At    time.Time // of the report, by the gateway's clock
	// Opened: money is held, or lost, since this report. Closed: the dispute is
	// decided since this report. Both are false of a repetition or an older report,
	// and true where the first report is that it was lost.
	Opened, Closed bool
	// Unused: the money that it is about gave nobody anything.
	Unused bool
}

// Dispute is a row of the ledger of disputes.
type Dispute struct {
	ID               objectid.ID
	Gateway          gateway.Name
	GatewayDisputeID string
	PaymentID        string // as Refund.PaymentID
	Purpose          gateway.Purpose
	LocalID          objectid.ID
	CustomerID       objectid.ID
	Amount           money.Cents
	Reason           string
	Kind             gateway.DisputeKind
	State            gateway.DisputeState
	NativeStatus     string
	EventID          string
	OpenedAt         time.Time
	ClosedAt         *time.Time
	EvidenceDueAt    *time.Time // as gateway.DisputeReport.EvidenceDueAt
	EvidenceSent     bool
	Unused           bool // as DisputeChange.Unused
}

// ReportedByAdmin is the native status of a dispute that an admin entered by hand.
const ReportedByAdmin = "reported_by_admin"

// RecordDisputeTx takes a gateway's report of a dispute into the ledger. It may
// be called any number of times, in any order, also at once: an older report
// never reopens what a newer one closed, and what was lost stays lost, unless it was by
// refunds that failed since. What the list of unapplied payments holds of a lost payment is
// decided with it. A report without an id or a state is an error: it could not be told apart from
// another, nor ordered. Others are the database's.
func (s *Ledger) RecordDisputeTx(ctx context.Context, tx pgx.Tx, r DisputeRecord) (DisputeChange, error) {
	if r.Report.ID == "" || r.Report.State == "" {
		return DisputeChange{}, errors.New("payments: a dispute needs an id and a state")
	}
	if err := s.LockMoneyTx(ctx, tx, r.Gateway, r.Report.PaymentID); err != nil {
		return DisputeChange{}, err // a refund that is being committed sees it, or is in the ledger before it
	}
	change, err := s.moveDisputeTx(ctx, tx, r)
	if err != nil {
		return DisputeChange{}, err
	}
	change.At = r.Report.At
	if change.Unused, err = s.reader.IsUnused(ctx, tx, r.Gateway, r.Report.PaymentID); err != nil {
		return DisputeChange{}, err
	}
	switch {
	case change.State == gateway.DisputeLost && (change.Opened || change.Closed):
		err = s.cases.DecideLostTx(ctx, tx, r.Gateway, r.Report.PaymentID)
	case change.State == gateway.DisputeWon && change.Closed && r.Report.OfRefunds:
		err = s.cases.reopenReturnedTx(ctx, tx, r)
	}
	return change, err
}

// moveDisputeTx inserts the dispute or moves it by the table of package state. Nothing is changed where
// the report is older than what is known, says it again, or the table holds against it. An error is the database's,
// or of a first report that the table has no beginning for.
func (s *Ledger) moveDisputeTx(ctx context.Context, tx pgx.Tx, r DisputeRecord) (DisputeChange, error) {
	d, now := r.Report, s.deps.Clock.Now()
	reported := d.State == gateway.DisputeOpen || d.State == gateway.DisputeWon || d.State == gateway.DisputeLost
	if reported && d.PaymentID != "" && d.NativeStatus != ReportedByAdmin { // without a payment it could be anybody's
		err := s.db.DisputeAdopt(ctx, tx, paymentsdb.DisputeAdoptParams{
			Gateway: r.Gateway, GatewayDisputeID: d.ID, PaymentRef: d.PaymentID,
			Kind:         cmp.Or(d.Kind, gateway.Chargeback),
			NativeStatus: d.NativeStatus, EvidenceDueAt: d.EvidenceDueAt, EvidenceSent: d.EvidenceSent,
			ReportedAt: d.At, At: now,
		})
		if err != nil {
			return DisputeChange{}, fmt.Errorf("adopt dispute: %w", err)
		}
	}
	by := actionOf(d)
	why := nullable.Ptr(cmp.Or(state.Disputes.ReasonOf(by), d.NativeStatus))
	if begin, begins := state.Disputes.Next("", by); begins {
		n, err := s.db.DisputeInsert(ctx, tx, paymentsdb.DisputeInsertParams{
			ID: objectid.At(now), Gateway: r.Gateway, GatewayDisputeID: d.ID, PaymentRef: d.PaymentID,
			Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID, AmountCents: int64(d.Amount),
			Reason: nullable.Ptr(d.Reason), Kind: cmp.Or(d.Kind, gateway.Chargeback), State: begin,
			NativeStatus: d.NativeStatus, EventID: nullable.Ptr(d.EventID),
			OpenedAt: openedAt(d), ClosedAt: closedAt(d), EvidenceDueAt: d.EvidenceDueAt, EvidenceSent: d.EvidenceSent,
			ReportedAt: d.At, At: now, Action: string(by), Why: why,
		})
		if err != nil {
			return DisputeChange{}, fmt.Errorf("insert dispute: %w", err)
		}
		if n == 1 {
			return DisputeChange{State: begin, Opened: begin.TakesMoney(), Closed: begin.Closed()}, nil
		}
	}
	known, err := s.db.DisputeLock(ctx, tx, paymentsdb.DisputeLockParams{Gateway: r.Gateway, GatewayDisputeID: d.ID})
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = state.Disputes.Move("", by)
	}
	if err != nil {
		return DisputeChange{}, fmt.Errorf("read dispute: %w", err)
	}
	was := known.State
	older := d.At.Before(known.ReportedAt)
	tie := d.At.Equal(known.ReportedAt) && rank(d.State) <= rank(was)
	repeated := d.State == was && was.Closed()
	to, moves := state.Disputes.Next(was, by)
	if repeated || !moves || !d.OfRefunds && (older || tie) {
		return DisputeChange{State: was}, nil
	}
	n, err := s.db.DisputeMove(ctx, tx, paymentsdb.DisputeMoveParams{
		ID: known.ID, FromState: was, State: to, Action: string(by), Why: why, NativeStatus: d.NativeStatus,
		AmountCents: int64(d.Amount), Reason: nullable.Ptr(d.Reason),
		ClosedAt: closedAt(d), OpenedAt: openedAt(d), EvidenceDueAt: d.EvidenceDueAt, EvidenceSent: d.EvidenceSent,
		ReportedAt: d.At, At: now,
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("it is no longer %s", was)
	}
	if err != nil {
		return DisputeChange{}, fmt.Errorf("move dispute: %w", err)
	}
	return DisputeChange{
		State: to, Opened: to.TakesMoney() && !was.TakesMoney(), Closed: to.Closed() && (!was.Closed() || d.OfRefunds),
	}, nil
}

func actionOf(d gateway.DisputeReport) state.DisputeAction {
	switch {
	case !d.OfRefunds:
		return state.DisputeReported(d.State)
	case d.State == gateway.DisputeLost:
		return state.DisputeRefundsTook
	}
	return state.DisputeRefundFailed
}

// rank orders states that are told for the same second: later in the story wins.
func rank(s gateway.DisputeState) int {
	switch s {
	case gateway.DisputeInquiry:
		return 0
	case gateway.DisputeOpen:
		return 1
	}
	return 2
}

func openedAt(d gateway.DisputeReport) time.Time {
	if d.OpenedAt.IsZero() {
		return d.At
	}
	return d.OpenedAt
}

func closedAt(d gateway.DisputeReport) *time.Time {
	if !d.State.Closed() {
		return nil
	}
	return &d.At
}

// ErrDisputeOfGateway says that a dispute is the gateway's own, which nobody here can
// take back.
var ErrDisputeOfGateway = errors.New("payments: the dispute is the gateway's own")

// WithdrawDisputeTx takes back a dispute that was entered by hand, found by our id or
// its gateway's; it no longer counts. Withdrawn is false when it was withdrawn before.
// An unknown one is pgx.ErrNoRows, one that the gateway reported ErrDisputeOfGateway.
// The caller holds the subscription or order.
func (s *Ledger) WithdrawDisputeTx(ctx context.Context, tx pgx.Tx, purpose gateway.Purpose, localID objectid.ID,
	disputeID string,
) (withdrawn bool, err error) {
	d, err := s.db.DisputeGet(ctx, tx, paymentsdb.DisputeGetParams{
		Purpose: purpose, LocalID: localID, DisputeID: disputeID,
	})
	if err != nil {
		return false, fmt.Errorf("read dispute: %w", err)
	}
	if d.State == gateway.DisputeWithdrawn {
		return false, nil
	}
	to, ok := state.Disputes.Next(d.State, state.DisputeTakenBack)
	if !ok {
		return false, ErrDisputeOfGateway
	}
	n, err := s.db.DisputeWithdraw(ctx, tx, paymentsdb.DisputeWithdrawParams{
		ID: d.ID, FromState: d.State, State: to, At: s.deps.Clock.Now(),
		Action: string(state.DisputeTakenBack), Why: nullable.Ptr(state.Disputes.ReasonOf(state.DisputeTakenBack)),
	})
	if err != nil {
		return false, fmt.Errorf("withdraw dispute: %w", err)
	}
	if n == 0 {
		return false, ErrDisputeOfGateway
	}
	return true, nil
}

// DisputesOf returns the disputes of a subscription or order, newest first. An error is the database's.
func (s *Reader) DisputesOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose,
	localID objectid.ID,
) ([]Dispute, error) {
	rows, err := s.db.DisputeListOf(ctx, db, paymentsdb.DisputeListOfParams{Purpose: purpose, LocalID: localID})
	if err != nil {
		return nil, err
	}
	all := make([]Dispute, len(rows))
	for i, found := range rows {
		row := found.PaymentsDispute
		all[i] = Dispute{
			ID: row.ID, Gateway: row.Gateway, GatewayDisputeID: row.GatewayDisputeID, PaymentID: row.PaymentRef,
			Purpose: row.Purpose, LocalID: row.LocalID, CustomerID: row.CustomerID,
			Amount: money.Cents(row.AmountCents),
			Reason: nullable.Value(row.Reason), Kind: row.Kind, State: row.State, NativeStatus: row.NativeStatus,
			EventID:  nullable.Value(row.EventID),
			OpenedAt: row.OpenedAt.UTC(), ClosedAt: row.ClosedAt, EvidenceDueAt: row.EvidenceDueAt,
			EvidenceSent: row.EvidenceSent, Unused: found.OfNothing,
		}
	}
	return all, nil
}

// RefundDisputedError says that a dispute of the payment is open, or was lost: its
// money is the bank's to give back. It is an ErrDisputed and a *Rejected: as if the
// gateway had refused, which is not asked.
type RefundDisputedError struct{ Dispute Dispute }

// Error implements error.
func (e *RefundDisputedError) Error() string {
	return "payments: dispute " + e.Dispute.GatewayDisputeID + " of the payment is " + string(e.Dispute.State)
}

// Unwrap has it be treated as the gateway's own refusal.
func (e *RefundDisputedError) Unwrap() []error {
	return []error{gateway.ErrDisputed, &gateway.Rejected{Code: "disputed", Message: e.Error()}}
}

// Fault is the error for people who want a refund, with the name of the dispute: fault.CodeRefundNotAllowed (422).
func (e *RefundDisputedError) Fault() error {
	return (&fault.Error{Kind: fault.KindInvalid, Code: fault.CodeRefundNotAllowed, Message: e.Sentence()}).WithCause(e)
}

// Conflict is the error for people who want to do anything else with the money: fault.CodeConflict (409).
func (e *RefundDisputedError) Conflict() error {
	return fault.Conflict("%s", e.Sentence()).WithCause(e)
}

// Sentence words it as a sentence for a note.
func (e *RefundDisputedError) Sentence() string {
	if e.Dispute.State == gateway.DisputeLost {
		return fmt.Sprintf("The bank has given the payment's money back by dispute %s: nothing is left to refund.",
			e.Dispute.GatewayDisputeID)
	}
	return fmt.Sprintf("The payment is under dispute %s: the bank decides about its money.", e.Dispute.GatewayDisputeID)
}

// NotDisputed is a *RefundDisputedError when a dispute holds the payment that has one of the
// names, or when disputes that were lost took so much of it; 0 is any of it. Other errors are the database's.
func (s *Reader) NotDisputed(ctx context.Context, db postgres.DB, on gateway.Name, amount money.Cents,
	names ...string,
) error {
	lost, err := s.LostOf(ctx, db, on, names...)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		found, err := s.db.DisputeListOfPayment(ctx, db,
			paymentsdb.DisputeListOfPaymentParams{Gateway: on, PaymentRef: name})
		if err != nil {
			return fmt.Errorf("read disputes: %w", err)
		}
		for _, d := range found {
			state := d.State
			if state == gateway.DisputeOpen || state == gateway.DisputeLost && lost >= amount {
				return &RefundDisputedError{
					Dispute: Dispute{
						ID: d.ID, Gateway: on, GatewayDisputeID: d.GatewayDisputeID, PaymentID: name, State: state,
					},
				}
			}
		}
	}
	return nil
}

// LostOf is what disputes that were lost took of the payment that has one of the names. An error is the database's.
func (s *Reader) LostOf(ctx context.Context, db postgres.DB, gateway gateway.Name,
	names ...string,
) (money.Cents, error) {
	lost, err := s.db.DisputeSumLost(ctx, db, paymentsdb.DisputeSumLostParams{Gateway: gateway, Refs: names})
	if err != nil {
		return 0, fmt.Errorf("read what disputes took: %w", err)
	}
	return money.Cents(lost), nil
}

// RefusedByGateway reports whether an error is a gateway's own well-formed refusal: it was
// asked, has answered, and made nothing of this call.
func RefusedByGateway(err error) bool {
	var disputed *RefundDisputedError // nobody was asked
	return (gateway.IsRejected(err) || gateway.IsDeclined(err)) &&
		!errors.As(err, &disputed) && !errors.Is(err, gateway.ErrUnavailable) &&
		!errors.Is(err, gateway.ErrOutcomeUnknown)
}

// TakenBackID is the id of the dispute that a PIX is which was whole taken back: no gateway
// tells one.
func TakenBackID(paymentID string) string { return "MED-" + paymentID }

// Native statuses of a dispute of which a gateway tells by the refunds of its payment alone.
const (
	nativeRefunded     = "REFUNDED"
	nativeRefundFailed = "REFUND_FAILED" // one of them: the money is with us again
)

// disputeByRefundTx tells a dispute that was lost from a refund, by what a gateway
// counts among a payment's refunds and nobody here asked for. Disputed is true when
// that money is a dispute's, now or since before: it is no refund then. Gateway A tells
// of a lost dispute as PAYMENT_REFUNDED; and a PIX of a subscription, or of nothing, that is
// whole taken back is the payer's bank's doing, while an order's is a refund. When one of
// the refunds by which it was taken fails, that dispute is won: what is still taken back is
// a part, which is a refund. The refunds of the payment are locked. Errors are those of RecordDisputeTx.
func (s *Ledger) disputeByRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord,
	unasked, total money.Cents,
) (disputed bool, change *DisputeChange, err error) {
	found, err := s.db.DisputeListOfPayment(ctx, tx,
		paymentsdb.DisputeListOfPaymentParams{Gateway: r.Gateway, PaymentRef: r.Report.PaymentID})
	if err != nil {
		return false, nil, fmt.Errorf("read disputes: %w", err)
	}
	whole := r.Payment != nil && total >= r.Payment.Amount
	for _, d := range found {
		if r.Payment != nil && !whole && d.State == gateway.DisputeLost &&
			d.GatewayDisputeID == TakenBackID(d.PaymentRef) {
			change, err = s.decideTakenBackTx(ctx, tx, r, gateway.DisputeReport{
				State: gateway.DisputeWon, NativeStatus: nativeRefundFailed, Amount: money.Cents(d.AmountCents),
				OpenedAt: d.OpenedAt,
			})
			return false, change, err
		}
	}
	if unasked <= 0 {
		return false, nil, nil
	}
	open := false
	for _, d := range found {
		tookByRefund := r.Gateway.Traits().DisputeLostByRefund || d.Kind == gateway.TakenBack
		switch {
		case d.State == gateway.DisputeLost && tookByRefund:
			return true, nil, nil
		case d.State == gateway.DisputeOpen && r.Gateway.Traits().DisputeLostByRefund && whole &&
			!r.Report.At.Before(d.ReportedAt):
			open = true
			change, err = s.recordByRefundTx(ctx, tx, r, gateway.DisputeReport{
				ID: d.GatewayDisputeID, PaymentID: d.PaymentRef, Kind: d.Kind, State: gateway.DisputeLost,
				NativeStatus: nativeRefunded,
				Amount:       unasked, OpenedAt: d.OpenedAt,
			})
			if err != nil {
				return false, nil, err
			}
		}
	}
	if open || !whole || !r.isPix() || r.Purpose == gateway.ForOrder {
		return open, change, nil
	}
	change, err = s.decideTakenBackTx(ctx, tx, r, gateway.DisputeReport{
		State: gateway.DisputeLost, NativeStatus: nativeRefunded, Amount: unasked, OpenedAt: r.Report.At,
	})
	return err == nil, change, err
}

// decideTakenBackTx records what the refunds of a PIX make of the dispute that it is. Errors are those of
// RecordDisputeTx.
func (s *Ledger) decideTakenBackTx(ctx context.Context, tx pgx.Tx, r RefundRecord,
	d gateway.DisputeReport,
) (*DisputeChange, error) {
	d.ID, d.PaymentID, d.Kind, d.OfRefunds = TakenBackID(r.Report.PaymentID), r.Report.PaymentID, gateway.TakenBack,
		true
	return s.recordByRefundTx(ctx, tx, r, d)
}

// recordByRefundTx records a dispute that a report of refunds tells of, at that report's instant. Errors are those of
// RecordDisputeTx.
func (s *Ledger) recordByRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord,
	d gateway.DisputeReport,
) (*DisputeChange, error) {
	d.At, d.EventID = r.Report.At, r.Report.EventID
	change, err := s.RecordDisputeTx(ctx, tx, DisputeRecord{Owner: r.Owner, Report: d})
	if err != nil {
		return nil, err
	}
	return &change, nil
}
