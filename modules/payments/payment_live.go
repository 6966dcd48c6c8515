package payments

import (
	"context"
	"fmt"
	"time"

	"marquee/platform/objectid"
)

// livePauses lie between the looks for a payment that was told and is not found, or not
// paid: gateway A's answers may lag, and the last of four decides.
var livePauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// LivePause is how long to wait after so many looks that did not find a payment paid; ok
// is false when that was the last.
func LivePause(misses int) (pause time.Duration, ok bool) {
	if misses >= len(livePauses) {
		return 0, false
	}
	return livePauses[misses], true
}

// IsProof reports whether an event proves what it says of money. Gateway A's webhooks are
// not signed: whoever has the token could make one up.
func (e Event) IsProof() bool {
	return e.Gateway != GWA || e.Confirmed || e.Type == Reconciled || e.Type == ReadLive
}

// ReadSettled reads by its id a payment that an event has told; local as in ReadPayment.
// ErrGatewayMissing: the gateway does not know it, or it is not paid.
func (s *Service) ReadSettled(ctx context.Context, name GatewayName, paymentID string, local objectid.ID) (Payment, error) {
	gateway, err := s.Gateway(name)
	if err != nil {
		return Payment{}, err
	}
	p, err := gateway.ReadPayment(ctx, paymentID, local)
	if err == nil && p.Status != PaymentSettled {
		err = fmt.Errorf("%w: it is %s", ErrGatewayMissing, p.NativeStatus)
	}
	return p, err
}
