package gwb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments"
)

const currency = "brl"

// SyncPlan makes or finds the plan's product, under an id of our own, and its
// price. A price cannot change: another amount is another price, and the former
// is set inactive, where it goes on serving its subscriptions (section 4).
func (g *Gateway) SyncPlan(ctx context.Context, p payments.PlanTerms) (payments.PlanIDs, error) {
	product, err := g.ensureProduct(ctx, p)
	if err != nil {
		return payments.PlanIDs{}, err
	}
	interval := strings.ToLower(p.IntervalUnit)
	price, err := g.findPrice(ctx, product, p, interval)
	if err != nil {
		return payments.PlanIDs{}, err
	}
	switch {
	case price == nil:
		price, err = g.createPrice(ctx, product, p, interval)
	case !price.Active:
		err = g.setActive(ctx, price.ID, true)
	}
	if err != nil {
		return payments.PlanIDs{}, err
	}
	if p.PriceID != "" && p.PriceID != price.ID {
		if err := g.setActive(ctx, p.PriceID, false); err != nil && !errors.Is(err, payments.ErrGatewayMissing) {
			return payments.PlanIDs{}, err
		}
	}
	return payments.PlanIDs{ProductID: product, PriceID: price.ID}, nil
}

func (g *Gateway) ensureProduct(ctx context.Context, p payments.PlanTerms) (string, error) {
	id := p.ProductID
	if id == "" {
		id = "plan_" + p.PlanID
	}
	product, err := read(ctx, g, func(ctx context.Context) (*stripe.Product, error) {
		return g.api.V1Products.Retrieve(ctx, id, nil)
	})
	if err == nil {
		return id, g.renameProduct(ctx, product, p.Name)
	}
	if !errors.Is(err, payments.ErrGatewayMissing) {
		return "", err
	}
	_, err = write(ctx, g, func(ctx context.Context) (*stripe.Product, error) {
		params := &stripe.ProductCreateParams{
			ID: stripe.String(id), Name: stripe.String(p.Name), Metadata: map[string]string{"plan_id": p.PlanID},
		}
		params.SetIdempotencyKey("product-" + p.PlanID)
		return g.api.V1Products.Create(ctx, params)
	})
	if isCode(err, stripe.ErrorCodeResourceAlreadyExists) {
		return id, nil // somebody else made it meanwhile
	}
	return id, err
}

func (g *Gateway) renameProduct(ctx context.Context, product *stripe.Product, name string) error {
	if product.Name == name {
		return nil
	}
	_, err := write(ctx, g, func(ctx context.Context) (*stripe.Product, error) {
		return g.api.V1Products.Update(ctx, product.ID, &stripe.ProductUpdateParams{Name: stripe.String(name)})
	})
	return err
}

// findPrice looks for a price of the product with the amount and interval,
// active ones first; nil when there is none.
func (g *Gateway) findPrice(ctx context.Context, product string, p payments.PlanTerms, interval string) (*stripe.Price, error) {
	return read(ctx, g, func(ctx context.Context) (*stripe.Price, error) {
		params := &stripe.PriceListParams{Product: stripe.String(product)}
		params.Limit = stripe.Int64(100)
		var found *stripe.Price
		for price, err := range g.api.V1Prices.List(ctx, params).All(ctx) {
			if err != nil {
				return nil, err
			}
			if price.UnitAmount != int64(p.Amount) || string(price.Currency) != currency ||
				price.Recurring == nil || string(price.Recurring.Interval) != interval || price.Recurring.IntervalCount > 1 {
				continue
			}
			if price.Active {
				return price, nil
			}
			found = price
		}
		return found, nil
	})
}

func (g *Gateway) createPrice(ctx context.Context, product string, p payments.PlanTerms, interval string) (*stripe.Price, error) {
	return write(ctx, g, func(ctx context.Context) (*stripe.Price, error) {
		params := &stripe.PriceCreateParams{
			Product: stripe.String(product), Currency: stripe.String(currency), UnitAmount: stripe.Int64(int64(p.Amount)),
			Recurring: &stripe.PriceCreateRecurringParams{Interval: stripe.String(interval), IntervalCount: stripe.Int64(1)},
			LookupKey: stripe.String(p.PlanID + "-" + interval), TransferLookupKey: stripe.Bool(true),
		}
		params.SetIdempotencyKey(fmt.Sprintf("price-%s-%d-%s", p.PlanID, int64(p.Amount), interval))
		return g.api.V1Prices.Create(ctx, params)
	})
}

func (g *Gateway) setActive(ctx context.Context, price string, active bool) error {
	_, err := write(ctx, g, func(ctx context.Context) (*stripe.Price, error) {
		return g.api.V1Prices.Update(ctx, price, &stripe.PriceUpdateParams{Active: stripe.Bool(active)})
	})
	return err
}
