package reconcile

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
)

// untrueTwins reads the payments that have paid the day of a charge, and of which only an
// event has told: those that gateway A does not show are returned.
func (s *Reconciler) untrueTwins(ctx context.Context, sub lifecycle.Row, p gateway.Payment) ([]string, error) {
	if sub.Status.Ended() || sub.PaymentMethod == gateway.MethodPix {
		return nil, nil
	}
	twins, err := s.payments.PaidFor(ctx, s.pool, gateway.GWA, sub.ID, p)
	if err != nil {
		return nil, err
	}
	var untrue []string
	for _, t := range twins {
		shown := t.Shown
		if !shown {
			if shown, err = s.payments.Comparison().IsShown(ctx, gateway.GWA, t.PaymentID); err != nil {
				return nil, err
			}
		}
		if !shown {
			untrue = append(untrue, t.PaymentID)
		}
	}
	return untrue, nil
}
