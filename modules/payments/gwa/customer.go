package gwa

import (
	"context"
	"net/url"

	"marquee/modules/payments"
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
func (g *Gateway) EnsureCustomer(ctx context.Context, p payments.Payer) (string, error) {
	if p.GatewayID != "" {
		return p.GatewayID, nil
	}
	var known list[customer]
	err := g.get(ctx, "/customers", url.Values{"externalReference": {p.CustomerID.String()}}, &known)
	if err != nil {
		return "", err
	}
	for _, c := range known.Data {
		if !c.Deleted && reference(c.ExternalReference) == p.CustomerID {
			return c.ID, nil
		}
	}
	var made customer
	err = g.post(ctx, "/customers", customerBody{
		Name: p.Name, TaxID: p.TaxID, Email: p.Email, MobilePhone: p.Phone,
		ExternalReference: p.CustomerID.String(), NotificationDisabled: true,
	}, &made, g.cfg.Timeout)
	return made.ID, err
}

// SyncPlan does nothing: the gateway keeps no plans.
func (*Gateway) SyncPlan(context.Context, payments.PlanTerms) (payments.PlanIDs, error) {
	return payments.PlanIDs{}, nil
}
