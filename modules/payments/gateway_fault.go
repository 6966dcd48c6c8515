package payments

import (
	"context"
	"fmt"
	"log/slog"

	"marquee/modules/payments/gateway"
	"marquee/platform/httpapi"
)

// Refused logs why a gateway did not do what was asked, and words it for people
// as FaultOf does. The gateway's text names internals, so it stays in the log.
func (s *Service) Refused(ctx context.Context, what string, err error) error {
	s.deps.Log.WarnContext(ctx, "gateway call failed", slog.String("call", what), slog.String("request_id", httpapi.RequestID(ctx)), slog.Any("error", err))
	return gateway.FaultOf(fmt.Errorf("%s: %w", what, err))
}
