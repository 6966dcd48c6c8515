package gwb

import (
	"context"
	"fmt"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
)

// couponName stands on the payer's invoice.
const couponName = "First month"

// ensureCoupon makes what lowers the first invoice of the subscription, under an id
// of our own, and reads it; "" where nothing lowers it. It moves no money: when it
// cannot be had, nothing was done for the payer, whatever was not known of it.
func (g *recurrences) ensureCoupon(ctx context.Context, t gateway.SubscriptionTerms) (string, error) {
	off := t.FirstOff()
	if off == 0 {
		return "", nil
	}
	id := "first-" + t.SubscriptionID.String()
	_, err := remake("coupon-"+t.SubscriptionID.String(), func() (string, bool, error) { return id, false, nil },
		func(key string) (string, error) {
			return id, g.createCoupon(ctx, couponParams(t, id, key))
		})
	if err == nil {
		err = g.checkCoupon(ctx, id, t)
	}
	if err != nil {
		return "", fmt.Errorf("%w: the coupon of the first month: %w", gateway.ErrUnavailable, reply.Unnamed(err))
	}
	return id, nil
}

func couponParams(t gateway.SubscriptionTerms, id, key string) *stripe.CouponCreateParams {
	p := &stripe.CouponCreateParams{
		ID: stripe.String(id), Name: stripe.String(couponName), AmountOff: stripe.Int64(int64(t.FirstOff())),
		Currency: stripe.String(currency),
		Duration: stripe.String(string(stripe.CouponDurationOnce)), MaxRedemptions: stripe.Int64(1),
		Metadata: map[string]string{metaSubscription: t.SubscriptionID.String()},
	}
	p.SetIdempotencyKey(key)
	return p
}

// createCoupon: that it is there already is fine, as with a product.
func (g *recurrences) createCoupon(ctx context.Context, p *stripe.CouponCreateParams) error {
	_, err := write(ctx, g.client,
		func(ctx context.Context) (*stripe.Coupon, error) { return g.api.V1Coupons.Create(ctx, p) })
	if isCode(err, stripe.ErrorCodeResourceAlreadyExists) {
		return nil
	}
	return err
}

// checkCoupon reads the coupon: the price of the first month hangs on it.
func (g *recurrences) checkCoupon(ctx context.Context, id string, t gateway.SubscriptionTerms) error {
	_, err := read(ctx, g.client, func(ctx context.Context) (*stripe.Coupon, error) {
		c, err := g.api.V1Coupons.Retrieve(ctx, id, nil)
		if err != nil {
			return nil, err
		}
		if c.AmountOff != int64(t.FirstOff()) || c.Currency != currency || c.Duration != stripe.CouponDurationOnce {
			return nil, reply.Odd("it is not the coupon that was asked for")
		}
		return c, carries(c.Metadata, metaSubscription, t.SubscriptionID)
	})
	return err
}
