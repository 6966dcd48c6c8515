package gwa

import (
	"context"
	"net/url"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/answer"
	"marquee/platform/objectid"
)

type customerBody struct {
	Name              string `json:"name"`
	TaxID             string `json:"cpfCnpj"`
	Email             string `json:"email,omitempty"`
	MobilePhone       string `json:"mobilePhone,omitempty"`
	ExternalReference string `json:"externalReference"`
	// NotificationDisabled stops the gateway's own mails and messages, which cost money.
	NotificationDisabled bool `json:"notificationDisabled"`
}

// EnsureCustomer looks for the payer by his local id before making him: after a
// lost answer the next call finds what the first made.
func (g *payments) EnsureCustomer(ctx context.Context, p gateway.Payer) (string, error) {
	if p.GatewayID != "" {
		return p.GatewayID, nil
	}
	found, err := find(ctx, g.client, "/customers", named(p.CustomerID), func(c *customer) bool {
		return !c.Deleted && reference(c.ExternalReference) == p.CustomerID
	})
	if err != nil {
		return "", err
	}
	if found != nil {
		_, err = g.customer(ctx, found.ID, p.CustomerID)
		return found.ID, err
	}
	answered, err := post(ctx, g.client, request{path: "/customers", timeout: g.cfg.Timeout, body: customerBody{
		Name: p.Name, TaxID: p.TaxID, Email: p.Email, MobilePhone: p.Phone,
		ExternalReference: p.CustomerID.String(), NotificationDisabled: true,
	}}, func(c *customer) error { return c.check("", p.CustomerID) })
	if err != nil {
		return "", err
	}
	if _, err := answer.Made(func() (*customer, error) { return g.customer(ctx, answered.ID, p.CustomerID) }); err != nil {
		return "", err
	}
	return answered.ID, nil
}

func (g *payments) customer(ctx context.Context, id string, local objectid.ID) (*customer, error) {
	return get(ctx, g.client, "/customers/"+url.PathEscape(id), nil, func(c *customer) error { return c.check(id, local) })
}

// SyncPlan does nothing: the gateway keeps no plans.
func (*payments) SyncPlan(context.Context, gateway.PlanTerms) (gateway.PlanIDs, error) {
	return gateway.PlanIDs{}, nil
}
