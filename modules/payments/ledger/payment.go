package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Record is a settled payment and what it is for.
type Record struct {
	gateway.Owner

	Payment   gateway.Payment // settled; without SettledAt the present instant counts
	Confirmed bool            // the gateway was asked for it and shows it: no event alone tells it
	// Unbooked: the ledger was seen to lack it by whoever holds what it is for, and has the events replayed that wait
	// for it. It is sent with the next statement, whose error it is where the ledger has it all the same.
	Unbooked bool
	Counts   bool // of what is unbooked: CountPaymentTx as well
}

// check returns an error for a payment without an id, or one that is not settled: it is no money yet.
func (r Record) check() error {
	if r.Payment.ID == "" || r.Payment.Status != gateway.PaymentStatusSettled {
		return fmt.Errorf("payments: only a settled payment with an id enters the ledger, not %q (%s)", r.Payment.ID,
			r.Payment.Status)
	}
	return nil
}

// RecordPaymentTx writes a settled payment into the ledger. First reports that
// the gateway payment was not there before: whoever gets it does the work that
// follows from the money, everybody later only adds what was not known (CONFIRMED
// becomes RECEIVED, never the other way round). It may be called any number of
// times, also at once. One that has no id or has not settled is an error, since it is no money yet. Others are the
// database's.
func (s *Ledger) RecordPaymentTx(ctx context.Context, tx pgx.Tx, r Record) (first bool, err error) {
	if err := r.check(); err != nil {
		return false, err
	}
	if r.Unbooked {
		return true, s.recordNewTx(ctx, tx, r)
	}
	p := r.Payment
	now := s.deps.Clock.Now()
	settledAt, confirmedAt := r.instants(now)
	ids := r.EventSubjects()
	row, err := s.db.PaymentInsert(ctx, tx, paymentsdb.PaymentInsertParams{
		ID: objectid.At(now), Gateway: r.Gateway, GatewayPaymentID: p.ID,
		InvoiceID: nullable.Ptr(p.InvoiceID), PaymentIntentID: nullable.Ptr(p.PaymentIntentID),
		Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID,
		AmountCents: int64(p.Amount), Method: p.Method, NativeStatus: p.NativeStatus,
		SettledAt: settledAt, DueAt: p.MadeFor, ShownAt: confirmedAt, At: now, Subjects: ids,
	})
	if err != nil {
		return false, err
	}
	if !row.IsFirst {
		err := s.db.PaymentRepeat(ctx, tx, paymentsdb.PaymentRepeatParams{
			Gateway: r.Gateway, GatewayPaymentID: p.ID, NativeStatus: p.NativeStatus,
			InvoiceID: nullable.Ptr(p.InvoiceID), PaymentIntentID: nullable.Ptr(p.PaymentIntentID), DueAt: p.MadeFor,
			ShownAt: confirmedAt, At: now,
		})
		if err != nil {
			return false, err
		}
		return false, s.cases.confirmAgainTx(ctx, tx, r.Gateway, p.ID)
	}
	if row.IsAwaited {
		return true, InsertReplayTx(ctx, tx, s, r.Gateway, ids)
	}
	return true, nil
}

// instants are when it settled, and when the gateway showed it.
func (r Record) instants(now time.Time) (settledAt time.Time, confirmedAt *time.Time) {
	settledAt = now
	if r.Payment.SettledAt != nil {
		settledAt = *r.Payment.SettledAt
	}
	if r.Confirmed {
		confirmedAt = &now
	}
	return settledAt, confirmedAt
}

// recordNewTx writes a settled payment into the ledger, with the transaction's next statement: what RecordPaymentTx
// does, and CountPaymentTx of one that counts, but that the caller has seen that the ledger has none of it, holds what
// it is for, and has the events replayed that wait for it (EventSubjects). One that is there all the same is an error
// of what it is sent with.
func (s *Ledger) recordNewTx(ctx context.Context, tx pgx.Tx, r Record) error {
	p, now := r.Payment, s.deps.Clock.Now()
	settledAt, confirmedAt := r.instants(now)
	var counted *bool
	if r.Purpose == gateway.ForSubscription {
		counted = &r.Counts
	}
	return s.db.PaymentInsertNew(ctx, postgres.Later(tx), paymentsdb.PaymentInsertNewParams{
		ID: objectid.At(now), Gateway: r.Gateway, GatewayPaymentID: p.ID,
		InvoiceID: nullable.Ptr(p.InvoiceID), PaymentIntentID: nullable.Ptr(p.PaymentIntentID),
		Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID,
		AmountCents: int64(p.Amount), Method: p.Method, NativeStatus: p.NativeStatus,
		SettledAt: settledAt, DueAt: p.MadeFor, ShownAt: confirmedAt, Counted: counted, At: now,
	})
}

// ReplayArgs applies the events that wait for one of the subjects.
type ReplayArgs struct {
	Gateway  gateway.Name `json:"gateway"`
	Subjects []string     `json:"subjects"`
}

// Kind names the job.
func (ReplayArgs) Kind() string { return "payments_events_replay" }

// ReplayWaitingTx has the events applied that came before anybody knew their
// subject. Call it in the transaction that makes ids known: the gateway's
// subscription, authorization or payment id, the local id. It inserts a job, with the transaction's next statement;
// subjects that are empty are left out. An error is the database's: make nothing known then, since no later job would
// apply them.
func (s *Ledger) ReplayWaitingTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subjects ...string) error {
	known := []string{}
	for _, id := range subjects {
		if id != "" {
			known = append(known, id)
		}
	}
	return InsertReplayTx(ctx, tx, s, gateway, known)
}

// InsertReplayTx has the events applied that wait for one of the subjects. An error is the database's.
func InsertReplayTx(ctx context.Context, tx pgx.Tx, s *Ledger, gateway gateway.Name, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	return jobs.InsertLaterTx(ctx, s.deps.Jobs, tx, ReplayArgs{Gateway: gateway, Subjects: subjects}, nil)
}

// CountPaymentTx notes that a booked payment opened its subscription or paid one of its
// periods. What is not counted has to stand on the list of unapplied payments. An error is the database's.
func (s *Ledger) CountPaymentTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentID string) error {
	err := s.db.PaymentMarkCounted(ctx, postgres.Later(tx),
		paymentsdb.PaymentMarkCountedParams{Gateway: gateway, GatewayPaymentID: paymentID})
	if err != nil {
		return fmt.Errorf("count payment %s: %w", paymentID, err)
	}
	return nil
}

// BookUnappliedTx books money that gives its owner nothing, and lists it: the caller says of u why, and whether it is
// refunded automatically. Errors are those of RecordPaymentTx and RecordUnappliedTx.
func (s *Ledger) BookUnappliedTx(ctx context.Context, tx pgx.Tx, o gateway.Owner, p gateway.Payment,
	u Unapplied,
) error {
	if _, err := s.RecordPaymentTx(ctx, tx, Record{Owner: o, Payment: p}); err != nil {
		return fmt.Errorf("book payment %s: %w", p.ID, err)
	}
	_, err := s.cases.RecordUnappliedTx(ctx, tx, u.Of(o, p))
	return err
}

// EventSubjects are the ids by which events name the payment: a refund or a dispute,
// which may come before it, names nothing else.
func (r Record) EventSubjects() []string {
	ids := []string{}
	for _, id := range []string{r.Payment.ID, r.Payment.InvoiceID, r.Payment.PaymentIntentID} {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Failure is one failed attempt to take a payment.
type Failure struct {
	Gateway   gateway.Name
	Purpose   gateway.Purpose
	LocalID   objectid.ID
	PaymentID string // as Payment.ID: the invoice at gateway B
	// Attempt counts from 1, as the gateway does. 0: the gateway did not tell the
	// number, as in gateway B's customer.subscription.updated (past_due); such a
	// report counts only when no attempt at the payment is known to have failed,
	// and the next numbered report is taken for the same attempt.
	Attempt  int
	Amount   money.Cents
	FailedAt time.Time
}

// RecordFailureTx writes a failed attempt. First reports that this attempt was
// not counted before: events repeat themselves, and failures in a row suspend. One without a payment's id, or with a
// number below 0, is an error, since it could not be told from another. Others are the database's.
func (s *Ledger) RecordFailureTx(ctx context.Context, tx pgx.Tx, f Failure) (first bool, err error) {
	if f.PaymentID == "" || f.Attempt < 0 {
		return false, fmt.Errorf("payments: a failed attempt needs a payment id and a number, not %q (%d)", f.PaymentID,
			f.Attempt)
	}
	err = s.db.FailedAttemptLock(ctx, tx, paymentsdb.FailedAttemptLockParams{
		Gateway: string(f.Gateway), GatewayPaymentID: f.PaymentID,
	})
	if err != nil {
		return false, err
	}
	now := s.deps.Clock.Now()
	row := paymentsdb.FailedAttemptInsertParams{
		ID: objectid.At(now), Gateway: f.Gateway, GatewayPaymentID: f.PaymentID, Attempt: int32(f.Attempt), //nolint:gosec // gateways try a few times
		Purpose: f.Purpose, LocalID: f.LocalID, AmountCents: int64(f.Amount), FailedAt: f.FailedAt, At: now,
	}
	var n int64
	if f.Attempt == 0 {
		n, err = s.db.FailedAttemptInsertUnnumbered(ctx, tx, paymentsdb.FailedAttemptInsertUnnumberedParams{
			ID: row.ID, Gateway: row.Gateway, GatewayPaymentID: row.GatewayPaymentID, Purpose: row.Purpose,
			LocalID: row.LocalID, AmountCents: row.AmountCents, FailedAt: row.FailedAt, At: row.At,
		})
		return n == 1, err
	}
	n, err = s.db.FailedAttemptSetNumber(ctx, tx, paymentsdb.FailedAttemptSetNumberParams{
		Gateway: row.Gateway, GatewayPaymentID: row.GatewayPaymentID, Attempt: row.Attempt,
	})
	if err != nil || n == 1 {
		return false, err
	}
	n, err = s.db.FailedAttemptInsert(ctx, tx, row)
	return n == 1, err
}

// FindPayment finds the ledger's row of a gateway payment by any of its ids:
// payment, invoice or payment intent. Nil when the ledger has none. An error is the database's.
func (s *Reader) FindPayment(ctx context.Context, db postgres.DB, gateway gateway.Name,
	ids ...string,
) (*gateway.LedgerPayment, error) {
	known := []string{}
	for _, id := range ids {
		if id != "" {
			known = append(known, id)
		}
	}
	if len(known) == 0 {
		return nil, nil //nolint:nilnil // nil is the answer: no row
	}
	row, err := s.db.PaymentGetByGatewayID(ctx, db,
		paymentsdb.PaymentGetByGatewayIDParams{Gateway: gateway, Ids: known})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, err
	}
	return new(ledgerPayment(row)), nil
}

// KnownPayment is the ledger's row of the payment that the event is about. Of
// settled payments there is none yet, or the applier finds it by recording. An error is the database's.
func (s *Reader) KnownPayment(ctx context.Context, db postgres.DB, e gateway.Event) (*gateway.LedgerPayment, error) {
	if _, settled := e.Payload.(gateway.SettledPayment); settled {
		return nil, nil //nolint:nilnil // not asked for
	}
	return s.FindPayment(ctx, db, e.Gateway, e.PaymentIDs()...)
}

// LastFailure is the newest failed attempt of a subscription or order by the
// gateway's clock; nil when none is known. An error is the database's.
func (s *Reader) LastFailure(ctx context.Context, db postgres.DB, purpose gateway.Purpose,
	localID objectid.ID,
) (*Failure, error) {
	row, err := s.db.FailedAttemptGetLast(ctx, db,
		paymentsdb.FailedAttemptGetLastParams{Purpose: purpose, LocalID: localID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nil is the answer: none
	}
	if err != nil {
		return nil, err
	}
	return &Failure{
		Gateway: row.Gateway, Purpose: purpose, LocalID: localID, PaymentID: row.GatewayPaymentID,
		Attempt: int(row.Attempt), Amount: money.Cents(row.AmountCents), FailedAt: row.FailedAt,
	}, nil
}

// PaymentsOf returns the settled payments of a subscription or order, newest
// first. Db is the pool or the caller's transaction. An error is the database's.
func (s *Reader) PaymentsOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose,
	localID objectid.ID,
) ([]gateway.LedgerPayment, error) {
	rows, err := s.db.PaymentListOf(ctx, db, paymentsdb.PaymentListOfParams{Purpose: purpose, LocalID: localID})
	if err != nil {
		return nil, err
	}
	all := make([]gateway.LedgerPayment, len(rows))
	for i, row := range rows {
		all[i] = ledgerPayment(row)
	}
	return all, nil
}

// FirstPaymentOf is when the first payment of a subscription or order settled that was
// made for it, not brought in by an extension; nil when there is none. An error is the database's.
func (s *Reader) FirstPaymentOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose,
	localID objectid.ID,
) (*time.Time, error) {
	at, err := s.db.PaymentGetFirstOfSubject(ctx, db,
		paymentsdb.PaymentGetFirstOfSubjectParams{Purpose: purpose, LocalID: localID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nil is the answer: none
	}
	return &at, err
}

// PaidFor is a payment that paid for a day.
type PaidFor struct {
	PaymentID string
	Confirmed bool // the gateway showed it, once it was asked
}

// PaidFor lists the other payments of a subscription that count, that gateway A charged for
// the same day (Payment.MadeFor), and of which something is left. An error is the database's.
func (s *Reader) PaidFor(ctx context.Context, db postgres.DB, gateway gateway.Name, subscription objectid.ID,
	p gateway.Payment,
) ([]PaidFor, error) {
	if p.MadeFor == nil {
		return nil, nil
	}
	rows, err := s.db.PaymentListPaidFor(ctx, db, paymentsdb.PaymentListPaidForParams{
		LocalID: subscription, Gateway: gateway, DueAt: *p.MadeFor, GatewayPaymentID: p.ID,
	})
	if err != nil {
		return nil, fmt.Errorf("read what was paid for %s: %w", p.MadeFor.Format(time.DateOnly), err)
	}
	all := make([]PaidFor, len(rows))
	for i, row := range rows {
		all[i] = PaidFor{PaymentID: row.GatewayPaymentID, Confirmed: row.IsShown}
	}
	return all, nil
}

func ledgerPayment(row paymentsdb.PaymentsPayment) gateway.LedgerPayment {
	settledAt := row.SettledAt.UTC()
	return gateway.LedgerPayment{
		Owner: gateway.Owner{
			Gateway: row.Gateway, Purpose: row.Purpose, LocalID: row.LocalID, CustomerID: row.CustomerID,
		},
		ID: row.ID,
		Payment: gateway.Payment{
			ID: row.GatewayPaymentID, InvoiceID: nullable.Value(row.InvoiceID),
			PaymentIntentID: nullable.Value(row.PaymentIntentID),
			Status:          gateway.PaymentStatusSettled, NativeStatus: row.NativeStatus, Method: row.Method,
			Amount: money.Cents(row.AmountCents), SettledAt: &settledAt, MadeFor: row.DueAt,
		},
	}
}
