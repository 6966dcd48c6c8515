package gwa

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
)

// ListPayments lists the charges of the subscription and the payments that carry
// its local id: a first month by card, PIX.
func (g *lister) ListPayments(ctx context.Context, q gateway.PaymentsQuery) ([]gateway.RemotePayment, error) {
	var all []payment
	if q.SubscriptionGatewayID != "" {
		id := q.SubscriptionGatewayID
		charges, err := get(ctx, g.client, "/subscriptions/"+url.PathEscape(id)+"/payments",
			url.Values{"limit": {"100"}}, chargesOf(id))
		if err := reply.Gone(missing[subscription](ctx, g.client, err, "/subscriptions", id,
			q.SubscriptionID)); err != nil {
			return nil, err
		}
		if charges != nil {
			all = charges.Data
		}
	}
	if q.SubscriptionID != "" {
		query := named(q.SubscriptionID)
		query.Set("limit", "100")
		page, err := get(ctx, g.client, "/payments", query, (*list[payment]).check)
		if err != nil {
			return nil, err
		}
		for _, p := range page.Data {
			if !slices.ContainsFunc(all, func(known payment) bool { return known.ID == p.ID }) {
				all = append(all, p)
			}
		}
	}
	for _, id := range q.PaymentIDs {
		if slices.ContainsFunc(all, func(known payment) bool { return known.ID == id }) {
			continue
		}
		p, err := g.payment(ctx, id, q.SubscriptionID)
		if errors.Is(err, gateway.ErrMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, *p)
	}
	slices.SortStableFunc(all, func(a, b payment) int {
		return g.createdAt(&b).Compare(g.createdAt(&a))
	})
	listing := []gateway.RemotePayment{}
	for i := range all[:min(len(all), 100)] {
		listing = append(listing, g.listed(&all[i]))
	}
	return listing, nil
}

func (g *lister) createdAt(p *payment) time.Time {
	if t := p.DateCreated.in(g.cfg.Zone); t != nil {
		return *t
	}
	return time.Time{}
}

func (g *lister) listed(p *payment) gateway.RemotePayment {
	n := p.neutral(g.cfg.Zone)
	refunded := p.report(g.cfg.Zone, g.cfg.Clock.Now()).Total
	d := p.dispute(g.cfg.Clock.Now())
	return gateway.RemotePayment{
		ID: p.ID, Payment: n, Status: p.Status, Amount: n.Amount, AmountRefunded: refunded,
		Refunded: refunded > 0 && refunded >= n.Amount,
		Disputed: d != nil && d.State == gateway.DisputeOpen, Currency: "brl", CreatedAt: g.createdAt(p),
		Description: p.Description,
		BillingType: p.BillingType, DueDate: n.DueDate,
		PaidAt: firstDate(g.cfg.Zone, p.PaymentDate, p.ClientPaymentDate, p.ConfirmedDate),
	}
}
