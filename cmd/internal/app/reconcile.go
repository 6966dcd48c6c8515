package app

import (
	"context"
	"io"

	"marquee/modules/payments"
)

// Reconcile is `marquee reconcile`: the nightly job's work, asked for by hand.
func Reconcile(ctx context.Context, cfg Config, logs io.Writer, o payments.ReconcileOptions) (*payments.ReconcileReport, error) {
	a, err := open(ctx, cfg, logs, false)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.modules.subscriptions.Reconcile(ctx, o)
}
