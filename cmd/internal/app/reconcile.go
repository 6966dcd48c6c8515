package app

import (
	"context"
	"io"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
)

// Reconcile is `marquee reconcile`: the nightly job's work, asked for by hand. One of
// both gateways that is not dry and comes to its end says that the database is
// complete: after a restore automatic refunds go on. What charges without a row here, and
// was listed before, ends by it (docs/operations.md).
func Reconcile(ctx context.Context, cfg Config, logs io.Writer,
	o payments.ReconcileOptions,
) (*payments.ReconcileReport, error) {
	a, err := open(ctx, cfg, logs, false, "")
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if !o.DryRun {
		if err := a.modules.subscriptions.ConfirmStrays(ctx, o); err != nil {
			return nil, err
		}
	}
	report, err := a.modules.subscriptions.Reconcile(ctx, o)
	if err == nil && !o.DryRun && len(o.Gateways) == 0 {
		err = a.modules.payments.Comparison().AcceptDatabase(ctx)
	}
	return report, err
}

// TrustGateway is `marquee gateway trust`: it lifts the mark of a gateway at which too
// much was missing.
func TrustGateway(ctx context.Context, cfg Config, logs io.Writer, name string) error {
	a, err := open(ctx, cfg, logs, false, "")
	if err != nil {
		return err
	}
	defer a.Close()
	return a.modules.payments.Intents().Health().Trust(ctx, gateway.Name(name), "an operator says so")
}
