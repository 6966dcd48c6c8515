package app

import (
	"context"
	"io"
	"marquee/modules/payments/gateway"
)

// TrustGateway is `marquee gateway trust`: it lifts the mark of a gateway at which too
// much was missing.
func TrustGateway(ctx context.Context, cfg Config, logs io.Writer, name string) error {
	a, err := open(ctx, cfg, logs, false)
	if err != nil {
		return err
	}
	defer a.Close()
	return a.modules.payments.Intents().Health().Trust(ctx, gateway.Name(name), "an operator says so")
}
