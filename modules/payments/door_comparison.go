package payments

import (
	"context"
	"errors"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/reconcile"
)

// Comparison is the door to what is compared with the gateways, and to what a restore of the
// database may have lost.
type Comparison struct {
	*reader
	s *Service
}

// Reconcile asks the gateways what has happened since an instant and applies what
// never came as its webhook would have, by the same functions: events that the
// gateway has and we have not, then payments, refunds and disputes, then what is booked
// here as given back, disputed or paid and gateways that do not sign their events do not
// show. What fails stands in the error, and does not keep the rest from being done.
func (d Comparison) Reconcile(ctx context.Context, o reconcile.Options, report *reconcile.Report) error {
	err := d.s.reconciler.Reconcile(ctx, o, report)
	for _, name := range gateway.Unsigned() {
		if !o.DryRun && o.Of(name) {
			err = errors.Join(err, report.Fail(ctx, reconcile.Finding{}, d.s.unapplied.DecideConfirmed(ctx, name)))
		}
	}
	return err
}

// Begin writes down that a reconciliation begins, and what the report takes in. The run's End has to be called. An
// error is the database's.
func (d Comparison) Begin(ctx context.Context, o reconcile.Options, report *reconcile.Report) (*reconcile.Run, error) {
	return d.s.reconciler.Begin(ctx, o, report)
}

// Pace waits as long as lies between two calls of a long series, so that a
// gateway's quota is left to customers.
func (d Comparison) Pace(ctx context.Context, name gateway.Name) error {
	return d.s.reconciler.Pace(ctx, name)
}

// IsConfirmed asks the gateway for a payment that is booked. One that was paid there, whatever
// has become of it since, is read no more.
func (d Comparison) IsConfirmed(ctx context.Context, name gateway.Name, paymentID string) (bool, error) {
	return d.s.unapplied.IsConfirmed(ctx, name, paymentID)
}

// AcceptDatabase says that this database is complete again: what both gateways know
// has been reconciled (`marquee reconcile --apply`). Automatic refunds go on.
func (d Comparison) AcceptDatabase(ctx context.Context) error {
	return ledger.AcceptDatabase(ctx, d.s.books)
}
