package gwb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/nullable"
)

// EnsureCustomer makes the payer once: repeated within a day by the idempotency
// key, later by looking for the local id among the customers with the same address.
func (g *payments) EnsureCustomer(ctx context.Context, p gateway.Payer) (string, error) {
	if p.GatewayID != "" {
		return p.GatewayID, nil
	}
	id, err := g.findCustomer(ctx, p)
	if err != nil {
		return "", err
	}
	if id != "" {
		return id, reply.Unproven(g.checkCustomer(ctx, id, p))
	}
	key := "cust-" + p.CustomerID.String()
	id, err = remake(key, func() (string, bool, error) {
		id, err := g.findCustomer(ctx, p)
		return id, id != "", err
	}, func(key string) (string, error) { return g.createCustomer(ctx, p, key) })
	if errors.Is(err, errKeyReused) {
		// The payer's name or address changed since a call of which no answer came.
		sum := sha256.Sum256([]byte(p.Name + "\x00" + p.Email + "\x00" + p.Phone))
		id, err = g.createCustomer(ctx, p, key+"-"+hex.EncodeToString(sum[:8]))
	}
	if err != nil {
		return "", err
	}
	return reply.Made(func() (string, error) { return id, g.checkCustomer(ctx, id, p) })
}

// checkCustomer reads the payer by the id that an answer told.
func (g *payments) checkCustomer(ctx context.Context, id string, p gateway.Payer) error {
	_, err := read(ctx, g.client, func(ctx context.Context) (*stripe.Customer, error) {
		c, err := g.api.V1Customers.Retrieve(ctx, id, nil)
		if err != nil {
			return nil, err
		}
		return c, carries(c.Metadata, metaCustomer, p.CustomerID)
	})
	return err
}

func (g *payments) findCustomer(ctx context.Context, p gateway.Payer) (string, error) {
	return read(ctx, g.client, func(ctx context.Context) (string, error) {
		params := &stripe.CustomerListParams{Email: stripe.String(p.Email)}
		params.Limit = stripe.Int64(100)
		for c, err := range g.api.V1Customers.List(ctx, params).All(ctx) {
			if err != nil {
				return "", err
			}
			if c.Metadata[metaCustomer] == p.CustomerID.String() {
				return c.ID, nil
			}
		}
		return "", nil
	})
}

func (g *payments) createCustomer(ctx context.Context, p gateway.Payer, key string) (string, error) {
	return write(ctx, g.client, func(ctx context.Context) (string, error) {
		params := &stripe.CustomerCreateParams{
			Name: nullable.Ptr(p.Name), Email: nullable.Ptr(p.Email), Phone: nullable.Ptr(p.Phone),
			Metadata: map[string]string{metaCustomer: p.CustomerID.String()},
		}
		params.SetIdempotencyKey(key)
		c, err := g.api.V1Customers.Create(ctx, params)
		if err != nil {
			return "", err
		}
		return c.ID, carries(c.Metadata, metaCustomer, p.CustomerID)
	})
}
