package gwb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
)

const currency = "brl"

// SyncPlan makes or finds the plan's product, under an id of our own, and its
// price. A price cannot change: another amount is another price, and the former
// is set inactive, where it goes on serving its subscriptions (docs/gateway-facts.md, B4).
func (g *plans) SyncPlan(ctx context.Context, p gateway.PlanTerms) (gateway.PlanIDs, error) {
	product, err := g.ensureProduct(ctx, p)
	if err != nil {
		return gateway.PlanIDs{}, err
	}
	interval := strings.ToLower(p.IntervalUnit)
	price, err := g.findPrice(ctx, product, p, interval)
	if err != nil {
		return gateway.PlanIDs{}, err
	}
	switch {
	case price == nil:
		price, err = remake(fmt.Sprintf("price-%s-%d-%s", p.PlanID, int64(p.Amount), interval),
			func() (*stripe.Price, bool, error) {
				found, err := g.findPrice(ctx, product, p, interval)
				return found, found != nil, err
			}, func(key string) (*stripe.Price, error) { return g.createPrice(ctx, product, p, interval, key) })
	case !price.Active:
		err = g.setActive(ctx, price.ID, true)
	}
	if err == nil {
		err = g.checkPrice(ctx, price.ID, product, p)
	}
	if err != nil {
		return gateway.PlanIDs{}, err
	}
	if p.PriceID != "" && p.PriceID != price.ID {
		if err := g.setActive(ctx, p.PriceID, false); err != nil && !errors.Is(err, gateway.ErrMissing) {
			return gateway.PlanIDs{}, err
		}
	}
	return gateway.PlanIDs{ProductID: product, PriceID: price.ID}, nil
}

// checkPrice reads the price by the id that an answer told: subscriptions are made
// with it.
func (g *plans) checkPrice(ctx context.Context, id, product string, p gateway.PlanTerms) error {
	_, err := read(ctx, g.client, func(ctx context.Context) (*stripe.Price, error) {
		price, err := g.api.V1Prices.Retrieve(ctx, id, nil)
		if err == nil && (price.UnitAmount != int64(p.Amount) || price.Product == nil || price.Product.ID != product) {
			err = reply.Odd("it is not the price that was asked for")
		}
		return price, err
	})
	return reply.Unproven(err)
}

func (g *plans) ensureProduct(ctx context.Context, p gateway.PlanTerms) (string, error) {
	id := p.ProductID
	if id == "" {
		id = "plan_" + p.PlanID
	}
	product, err := read(ctx, g.client, func(ctx context.Context) (*stripe.Product, error) {
		return g.api.V1Products.Retrieve(ctx, id, nil)
	})
	if err == nil {
		return id, g.renameProduct(ctx, product, p.Name)
	}
	if !errors.Is(err, gateway.ErrMissing) {
		return "", err
	}
	return remake("product-"+p.PlanID, func() (string, bool, error) { return id, false, nil },
		func(key string) (string, error) {
			return id, g.createProduct(ctx, id, p, key)
		})
}

// createProduct makes the product under the id; that it is there already is fine:
// somebody else has made it meanwhile, or a call whose answer was lost.
func (g *plans) createProduct(ctx context.Context, id string, p gateway.PlanTerms, key string) error {
	_, err := write(ctx, g.client, func(ctx context.Context) (*stripe.Product, error) {
		params := &stripe.ProductCreateParams{
			ID: stripe.String(id), Name: stripe.String(p.Name), Metadata: map[string]string{"plan_id": p.PlanID},
		}
		params.SetIdempotencyKey(key)
		return g.api.V1Products.Create(ctx, params)
	})
	if isCode(err, stripe.ErrorCodeResourceAlreadyExists) {
		return nil
	}
	return err
}

func (g *plans) renameProduct(ctx context.Context, product *stripe.Product, name string) error {
	if product.Name == name {
		return nil
	}
	_, err := write(ctx, g.client, func(ctx context.Context) (*stripe.Product, error) {
		return g.api.V1Products.Update(ctx, product.ID, &stripe.ProductUpdateParams{Name: stripe.String(name)})
	})
	return err
}

// findPrice looks for a price of the product with the amount and interval,
// active ones first; nil when there is none.
func (g *plans) findPrice(ctx context.Context, product string, p gateway.PlanTerms,
	interval string,
) (*stripe.Price, error) {
	return read(ctx, g.client, func(ctx context.Context) (*stripe.Price, error) {
		params := &stripe.PriceListParams{Product: stripe.String(product)}
		params.Limit = stripe.Int64(100)
		var found *stripe.Price
		for price, err := range g.api.V1Prices.List(ctx, params).All(ctx) {
			if err != nil {
				return nil, err
			}
			if price.UnitAmount != int64(p.Amount) || string(price.Currency) != currency ||
				price.Recurring == nil || string(price.Recurring.Interval) != interval ||
				price.Recurring.IntervalCount > 1 {
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

func (g *plans) createPrice(ctx context.Context, product string, p gateway.PlanTerms,
	interval, key string,
) (*stripe.Price, error) {
	return write(ctx, g.client, func(ctx context.Context) (*stripe.Price, error) {
		params := &stripe.PriceCreateParams{
			Product: stripe.String(product), Currency: stripe.String(currency),
			UnitAmount: stripe.Int64(int64(p.Amount)),
			Recurring: &stripe.PriceCreateRecurringParams{
				Interval: stripe.String(interval), IntervalCount: stripe.Int64(1),
			},
			LookupKey: stripe.String(p.PlanID + "-" + interval), TransferLookupKey: stripe.Bool(true),
		}
		params.SetIdempotencyKey(key)
		return g.api.V1Prices.Create(ctx, params)
	})
}

func (g *plans) setActive(ctx context.Context, price string, active bool) error {
	_, err := write(ctx, g.client, func(ctx context.Context) (*stripe.Price, error) {
		p, err := g.api.V1Prices.Update(ctx, price, &stripe.PriceUpdateParams{Active: stripe.Bool(active)})
		if err == nil && p.Active != active {
			err = reply.Odd("it does not tell what was set")
		}
		return p, err
	})
	return err
}
