package payments

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/reconcile"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/webhook"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// What the rooms do for the modules above, one line each.

// RecordUnappliedTx puts money that gave nobody anything on the list of GET
// /admin/finance/unapplied-payments, in the transaction that books it. There is one
// row a gateway payment (or subject): repeating it, also at once, changes nothing
// but what was not known before, and nothing that has been decided. First reports
// that it was not there before.
func (s *Service) RecordUnappliedTx(ctx context.Context, tx pgx.Tx, u ledger.Unapplied) (first bool, err error) {
	return s.cases.RecordUnappliedTx(ctx, tx, u)
}

// RecordTakenBackTx lists what a bank has taken back of a payment until now: the amount is
// the part, and grows with it. It is gone, so that it can only be kept. When somebody has
// kept a smaller part, it is open again.
func (s *Service) RecordTakenBackTx(ctx context.Context, tx pgx.Tx, u ledger.Unapplied) error {
	return s.cases.RecordTakenBackTx(ctx, tx, u)
}

// UnappliedStateOf is where the decision about a payment stands; "" when it is not on
// the list.
func (s *Service) UnappliedStateOf(ctx context.Context, db postgres.DB, gateway gateway.Name, paymentID string) (ledger.UnappliedState, error) {
	return s.reader.UnappliedStateOf(ctx, db, gateway, paymentID)
}

// IsKept reports whether an admin has decided that an unapplied payment stays.
func (s *Service) IsKept(ctx context.Context, db postgres.DB, gateway gateway.Name, paymentID string) (bool, error) {
	return s.reader.IsKept(ctx, db, gateway, paymentID)
}

// IsRefundedByList reports whether the list of unapplied payments gives a payment back by
// itself, or is at it.
func (s *Service) IsRefundedByList(ctx context.Context, db postgres.DB, gateway gateway.Name, paymentID string) (bool, error) {
	return s.reader.IsRefundedByList(ctx, db, gateway, paymentID)
}

// BoughtNothing reports whether a payment, by any of its names, gave nobody anything: it
// stands, or stood, on the list, and has lengthened nothing. What becomes of it touches no
// subscription.
func (s *Service) BoughtNothing(ctx context.Context, db postgres.DB, gateway gateway.Name, paymentID string) (bool, error) {
	return s.reader.BoughtNothing(ctx, db, gateway, paymentID)
}

// UncountUnshownTx takes a payment that its gateway does not show out of what counts, and
// lists it for people. The ledger keeps it.
func (s *Service) UncountUnshownTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentID string) error {
	return s.cases.UncountUnshownTx(ctx, tx, gateway, paymentID)
}

// PersonalDataName names this module's part of what a customer is told about
// himself.
func (s *Service) PersonalDataName() string {
	return s.reader.PersonalDataName()
}

// PersonalData returns the customer's settled payments, refunds and disputes. Of
// orders, which may be a guest's, nothing unless his address is verified.
func (s *Service) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, verified bool) (any, error) {
	return s.reader.PersonalData(ctx, db, customerID, verified)
}

// RecordDisputeTx takes a gateway's report of a dispute into the ledger. It may
// be called any number of times, in any order, also at once: an older report
// never reopens what a newer one closed, and what was lost stays lost, unless it was by
// refunds that failed since. What of a lost payment stands on the list of unapplied ones is
// decided with it.
func (s *Service) RecordDisputeTx(ctx context.Context, tx pgx.Tx, r ledger.DisputeRecord) (ledger.DisputeChange, error) {
	return s.ledger.RecordDisputeTx(ctx, tx, r)
}

// WithdrawDisputeTx takes back a dispute that was entered by hand, by our id or the one
// that it goes by at its gateway; it counts as if it had never been. Withdrawn is false
// of one that was withdrawn before. An unknown one is pgx.ErrNoRows, one that the
// gateway reported ErrDisputeOfGateway. The caller holds the subscription or order.
func (s *Service) WithdrawDisputeTx(ctx context.Context, tx pgx.Tx, purpose gateway.Purpose, localID objectid.ID, disputeID string) (withdrawn bool, err error) {
	return s.ledger.WithdrawDisputeTx(ctx, tx, purpose, localID, disputeID)
}

// DisputesOf returns the disputes of a subscription or order, newest first.
func (s *Service) DisputesOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localID objectid.ID) ([]ledger.Dispute, error) {
	return s.reader.DisputesOf(ctx, db, purpose, localID)
}

// FindPayment finds the ledger's row of a gateway payment by any of its ids:
// payment, invoice or payment intent. Nil when the ledger has none.
func (s *Service) FindPayment(ctx context.Context, db postgres.DB, gateway gateway.Name, ids ...string) (*gateway.LedgerPayment, error) {
	return s.reader.FindPayment(ctx, db, gateway, ids...)
}

// RecordPaymentTx writes a settled payment into the ledger. First reports that
// the gateway payment was not there before: whoever gets it does the work that
// follows from the money, everybody later only adds what was not known (CONFIRMED
// becomes RECEIVED, never the other way round). It may be called any number of
// times, also at once.
func (s *Service) RecordPaymentTx(ctx context.Context, tx pgx.Tx, r ledger.Record) (first bool, err error) {
	return s.ledger.RecordPaymentTx(ctx, tx, r)
}

// CountPaymentTx notes that a booked payment opened its subscription or paid one of its
// periods. What is not counted has to stand on the list of unapplied payments.
func (s *Service) CountPaymentTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentID string) error {
	return s.ledger.CountPaymentTx(ctx, tx, gateway, paymentID)
}

// RecordFailureTx writes a failed attempt. First reports that this attempt was
// not counted before.
func (s *Service) RecordFailureTx(ctx context.Context, tx pgx.Tx, f ledger.Failure) (first bool, err error) {
	return s.ledger.RecordFailureTx(ctx, tx, f)
}

// LastFailure is the newest failed attempt of a subscription or order by the
// gateway's clock; nil when none is known.
func (s *Service) LastFailure(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localID objectid.ID) (*ledger.Failure, error) {
	return s.reader.LastFailure(ctx, db, purpose, localID)
}

// PaymentsOf returns the settled payments of a subscription or order, newest
// first. Db is the pool or the caller's transaction.
func (s *Service) PaymentsOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localID objectid.ID) ([]gateway.LedgerPayment, error) {
	return s.reader.PaymentsOf(ctx, db, purpose, localID)
}

// FirstPaymentOf is when the first payment of a subscription or order settled that was
// made for it, not brought in by an extension; nil when there is none.
func (s *Service) FirstPaymentOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localID objectid.ID) (*time.Time, error) {
	return s.reader.FirstPaymentOf(ctx, db, purpose, localID)
}

// ListOfCustomerTx books money of a customer that is of no subscription and no order, and
// lists it as foreign: for people to decide, or to be given back by itself. The payment was
// read live.
func (s *Service) ListOfCustomerTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, customer objectid.ID, p gateway.Payment, note string, automatic bool) error {
	return s.ledger.ListOfCustomerTx(ctx, tx, gateway, customer, p, note, automatic)
}

// RecordRefundTx takes a gateway's report of a payment's refunds into the ledger
// and settles the requests of ours that it tells of. It may be called any number
// of times, in any order, also at once: cumulative totals are never added twice.
func (s *Service) RecordRefundTx(ctx context.Context, tx pgx.Tx, r ledger.RefundRecord) (ledger.RefundChange, error) {
	return s.ledger.RecordRefundTx(ctx, tx, r)
}

// RefundedTotal is what has been given back of a subscription's or order's
// payments.
func (s *Service) RefundedTotal(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localID objectid.ID) (money.Cents, error) {
	return s.reader.RefundedTotal(ctx, db, purpose, localID)
}

// RefundedPayments is what has been given back of the payments of many subscriptions or
// orders; those of which nothing was are left out.
func (s *Service) RefundedPayments(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localIDs []objectid.ID) ([]ledger.RefundedPayment, error) {
	return s.reader.RefundedPayments(ctx, db, purpose, localIDs)
}

// RefundedSince is what has been given back of orders or subscriptions by refunds that
// were asked for since an instant.
func (s *Service) RefundedSince(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localIDs []objectid.ID, since time.Time) (money.Cents, error) {
	return s.reader.RefundedSince(ctx, db, purpose, localIDs, since)
}

// RefundsOf returns the refunds of a subscription or order, newest first, also
// those that are under way or failed.
func (s *Service) RefundsOf(ctx context.Context, db postgres.DB, purpose gateway.Purpose, localID objectid.ID) ([]ledger.Refund, error) {
	return s.reader.RefundsOf(ctx, db, purpose, localID)
}

// ReplayWaitingTx has the events applied that came before anybody knew their
// subject. Call it in the transaction that makes ids known: the gateway's
// subscription, authorization or payment id, the local id. It inserts a job;
// subjects that are empty are left out.
func (s *Service) ReplayWaitingTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subjects ...string) error {
	return s.ledger.ReplayWaitingTx(ctx, tx, gateway, subjects...)
}

// RefundsHeld reports whether, after a restore, nothing may be refunded or ended at a
// gateway without a person's decision.
func (s *Service) RefundsHeld(ctx context.Context, db postgres.DB) (bool, error) {
	return s.reader.RefundsHeld(ctx, db)
}

// MayLack reports whether a restore may have lost what was paid then: before this
// database was accepted. When that is not known, it may.
func (s *Service) MayLack(ctx context.Context, db postgres.DB, paidAt *time.Time) (bool, error) {
	return s.reader.MayLack(ctx, db, paidAt)
}

// AcceptDatabase says that this database is complete again: what both gateways know
// has been reconciled (`marquee reconcile --apply`). Automatic refunds go on.
func (s *Service) AcceptDatabase(ctx context.Context) error {
	return s.ledger.AcceptDatabase(ctx)
}

// PaidFor lists the other payments of a subscription that count, that gateway A charged for
// the same day (Payment.MadeFor), and of which something is left.
func (s *Service) PaidFor(ctx context.Context, db postgres.DB, gateway gateway.Name, subscription objectid.ID, p gateway.Payment) ([]ledger.PaidFor, error) {
	return s.reader.PaidFor(ctx, db, gateway, subscription, p)
}

// ErasePersonalDataTx takes the person out of what the gateways reported of his
// payments. The ledger stays: it names nobody but the deleted customer's id.
func (s *Service) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	return s.log.ErasePersonalDataTx(ctx, tx, customerID)
}

// ForgetPersonTx has names, addresses and the like taken out of the logged
// webhooks that speak of one of the subjects: ids of subscriptions, orders,
// payments and customers, ours or a gateway's. What moved money, and can be
// applied again, stays. Two jobs do it: one now, one for what gateways still
// report of the end.
func (s *Service) ForgetPersonTx(ctx context.Context, tx pgx.Tx, subjects []string) error {
	return s.log.ForgetPersonTx(ctx, tx, subjects)
}

// KeepRefused writes what the calls themselves could not write, until ctx ends, and what
// waits then, tried again for as long as grace. A process that serves calls runs it, and
// ends it once none is under way.
func (s *Service) KeepRefused(ctx context.Context, grace time.Duration) {
	s.refusals.KeepRefused(ctx, grace)
}

// ConfirmTold asks the gateway for what an event is about, and applies the event with its
// answer. What four looks do not show changes nothing, and the webhook's log says so; an
// answer that is not known is asked for again.
func (s *Service) ConfirmTold(ctx context.Context, a webhook.ToldArgs) error {
	return s.webhooks.ConfirmTold(ctx, a)
}

// FinishAskedTx gives an event the result of asking its gateway, by a job of its applier
// (Asked). An event that was not asked about, or has its result, keeps it.
func (s *Service) FinishAskedTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, eventID string, r gateway.Result) error {
	return s.webhooks.FinishAskedTx(ctx, tx, gateway, eventID, r)
}

// RefundByID is a refund with what its gateway answered, null while it has not, or
// once the log of it has been forgotten.
func (s *Service) RefundByID(ctx context.Context, id objectid.ID) (refund.Outcome, error) {
	return s.refunds.RefundByID(ctx, id)
}

// RefundFault words why a refund that an admin or customer asked for was not made, or
// may not have been (RefundPayment): 409 while another one of the payment is not
// answered, and once when the gateway turns out to have made it before; 422 REFUND_NOT_ALLOWED under a dispute, and when nothing is left; 500
// REFUND_FAILED when the gateway refuses; 503 while it does not answer.
func (s *Service) RefundFault(ctx context.Context, err error) error {
	return s.refunds.RefundFault(ctx, err)
}

// Refused logs why a gateway did not do what was asked, and words it for people
// as FaultOf does. The gateway's text names internals, so it stays in the log.
func (s *Service) Refused(ctx context.Context, what string, err error) error {
	return s.refunds.Refused(ctx, what, err)
}

// RefundOpen says that the refund, which is not answered, keeps another one waiting:
// *RefundOpenError with the time of the next look.
func (s *Service) RefundOpen(ctx context.Context, db postgres.DB, r ledger.Refund) error {
	return s.refunds.RefundOpen(ctx, db, r)
}

// RefundPayment gives money back: what the gateway knows of the payment's refunds
// is taken into the ledger, the request is committed (with the Idempotency-Key of
// the context), the gateway asked, and the answer settled in the ledger, which the
// webhook's report of the same refund then leaves as it is. Applied, when not nil,
// runs in the transaction that settles the answer. Errors: *RefundOpenError while
// another refund of the payment is not answered; *RefundDisputedError, before anybody
// is asked; ErrRefundTooMuch; *Rejected or
// *Declined when the gateway refused (nothing was made); ErrUnavailable (nothing
// was made); ErrOutcomeUnknown, also of every error that nobody foresaw, when the
// gateway may have acted: it is asked about by job until it is known.
func (s *Service) RefundPayment(ctx context.Context, q refund.Request, applied func(ctx context.Context, tx pgx.Tx, r ledger.Refund) error) (refund.Outcome, error) {
	return s.refunds.RefundPayment(ctx, q, applied)
}

// RefundDueUnapplied refunds by itself what may be, the oldest first, and goes on
// with refunds that were decided by somebody who died since. It stops at the limits. What
// a lost dispute took is kept, and so is what waited for an answer that has come.
func (s *Service) RefundDueUnapplied(ctx context.Context) error {
	return s.unapplied.RefundDueUnapplied(ctx)
}

// TakeExtensionBackTx opens again the payments that have lengthened a subscription since
// an instant: its gateway refuses to charge it later. The operators are told.
func (s *Service) TakeExtensionBackTx(ctx context.Context, tx pgx.Tx, subscription objectid.ID, since time.Time, cause string) error {
	return s.unapplied.TakeExtensionBackTx(ctx, tx, subscription, since, cause)
}

// UnappliedMetrics tells how many unapplied payments are open, by kind.
func (s *Service) UnappliedMetrics() prometheus.Collector {
	return s.unapplied.UnappliedMetrics()
}

// TendUnknownMoney gives listed money of a gateway's customer who was not known here, as
// after a restore, its customer once somebody has that id again, and tells the operators
// once a day what is still nobody's.
func (s *Service) TendUnknownMoney(ctx context.Context) error {
	return s.unapplied.TendUnknownMoney(ctx)
}

// Reconcile asks the gateways what has happened since an instant and applies what
// never came as its webhook would have, by the same functions: events that the
// gateway has and we have not, then payments, refunds and disputes, then what is booked
// here as given back, disputed or paid and gateway A does not show. What fails is told in the
// error, and does not keep the rest from being done.
func (s *Service) Reconcile(ctx context.Context, o reconcile.Options, report *reconcile.Report) error {
	err := s.reconciler.Reconcile(ctx, o, report)
	if !o.DryRun && o.Of(gateway.GWA) {
		err = errors.Join(err, s.unapplied.DecideShown(ctx))
	}
	return err
}

// Pace waits as long as lies between two calls of a long series, so that a
// gateway's quota is left to customers.
func (s *Service) Pace(ctx context.Context, name gateway.Name) error {
	return s.reconciler.Pace(ctx, name)
}

// IsShown asks the gateway for a payment that is booked. One that was paid there, whatever
// has become of it since, is read no more.
func (s *Service) IsShown(ctx context.Context, name gateway.Name, paymentID string) (bool, error) {
	return s.unapplied.IsShown(ctx, name, paymentID)
}
