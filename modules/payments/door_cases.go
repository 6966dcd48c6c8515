package payments

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/platform/objectid"
)

// Cases is the door to the list of money that gave nobody anything.
type Cases struct {
	*reader
	s *Service
}

// RecordUnappliedTx puts money that gave nobody anything on the list of GET
// /admin/finance/unapplied-payments, in the transaction that books it. There is one
// row a gateway payment (or subject): repeating it, also at once, changes nothing
// but what was not known before, and nothing that has been decided. First reports
// that it was not there before.
func (d Cases) RecordUnappliedTx(ctx context.Context, tx pgx.Tx, u ledger.Unapplied) (first bool, err error) {
	return d.s.cases.RecordUnappliedTx(ctx, tx, u)
}

// RecordTakenBackTx lists what a bank has taken back of a payment until now: the amount is
// the part, and grows with it. It is gone, so that it can only be kept. When somebody has
// kept a smaller part, it is open again.
func (d Cases) RecordTakenBackTx(ctx context.Context, tx pgx.Tx, u ledger.Unapplied) error {
	return d.s.cases.RecordTakenBackTx(ctx, tx, u)
}

// UncountUnshownTx takes a payment that its gateway does not show out of what counts, and
// lists it for people. The ledger keeps it.
func (d Cases) UncountUnshownTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentID string) error {
	return d.s.cases.UncountUnshownTx(ctx, tx, gateway, paymentID)
}

// TakeExtensionBackTx opens again the payments that have lengthened a subscription since
// an instant: its gateway refuses to charge it later. The operators are told.
func (d Cases) TakeExtensionBackTx(ctx context.Context, tx pgx.Tx, subscription objectid.ID, since time.Time,
	cause string,
) error {
	return d.s.unapplied.TakeExtensionBackTx(ctx, tx, subscription, since, cause)
}

// Sweep does what is due about the list by itself: refunds, decisions, and money of customers who were not known.
func (d Cases) Sweep(ctx context.Context) error { return d.s.unapplied.Sweep(ctx) }
