package gateway

import "context"

type backgroundKey struct{}

// Background marks the calls to gateways made with the context as work that nobody
// waits for: looks, sweeps, reconciliation, the look that a login makes. When a
// gateway takes no more calls for the whole account they stop, and what a customer
// waits for (to subscribe, buy, cancel, get money back) goes on. Unmarked calls are
// such.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground tells which a call is.
func IsBackground(ctx context.Context) bool {
	marked, _ := ctx.Value(backgroundKey{}).(bool)
	return marked
}
