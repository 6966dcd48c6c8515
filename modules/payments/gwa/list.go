package gwa

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"marquee/modules/payments"
)

// ListPayments lists the charges of the subscription and the payments that carry
// its local id: a first month by card, PIX.
func (g *Gateway) ListPayments(ctx context.Context, q payments.PaymentsQuery) ([]payments.RemotePayment, error) {
	var all []payment
	if q.SubscriptionGatewayID != "" {
		var charges list[payment]
		err := g.get(ctx, "/subscriptions/"+url.PathEscape(q.SubscriptionGatewayID)+"/payments", url.Values{"limit": {"100"}}, &charges)
		if err != nil && !isMissing(err) {
			return nil, err
		}
		all = charges.Data
	}
	if q.SubscriptionID != "" {
		var own list[payment]
		err := g.get(ctx, "/payments", url.Values{"externalReference": {q.SubscriptionID.String()}, "limit": {"100"}}, &own)
		if err != nil {
			return nil, err
		}
		for _, p := range own.Data {
			if !slices.ContainsFunc(all, func(known payment) bool { return known.ID == p.ID }) {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b payment) int {
		return g.createdAt(&b).Compare(g.createdAt(&a))
	})
	shown := []payments.RemotePayment{}
	for i := range all[:min(len(all), 100)] {
		shown = append(shown, g.shown(&all[i]))
	}
	return shown, nil
}

func (g *Gateway) createdAt(p *payment) time.Time {
	if t := p.DateCreated.in(g.cfg.Zone); t != nil {
		return *t
	}
	return time.Time{}
}

func (g *Gateway) shown(p *payment) payments.RemotePayment {
	n := p.neutral(g.cfg.Zone)
	refunded := p.report(g.cfg.Zone, g.cfg.Clock.Now()).Total
	d := p.dispute(g.cfg.Clock.Now())
	return payments.RemotePayment{
		ID: p.ID, Payment: n, Status: p.Status, Amount: n.Amount, AmountRefunded: refunded, Refunded: refunded > 0 && refunded >= n.Amount,
		Disputed: d != nil && d.State == payments.DisputeOpen, Currency: "brl", CreatedAt: g.createdAt(p), Description: p.Description,
		BillingType: p.BillingType, DueDate: n.DueDate, PaidAt: firstDate(g.cfg.Zone, p.PaymentDate, p.ClientPaymentDate, p.ConfirmedDate),
	}
}

// CreatedSince reads payments by the day of their making, a hundred a page.
func (g *Gateway) CreatedSince(ctx context.Context, since time.Time, page string) ([]payments.Event, string, error) {
	offset, _ := strconv.Atoi(page) // "" is the first
	var got list[payment]
	err := g.get(ctx, "/payments", url.Values{
		"dateCreated[ge]": {day(since, g.cfg.Zone)}, "limit": {"100"}, "offset": {strconv.Itoa(offset)},
	}, &got)
	if err != nil {
		return nil, "", err
	}
	events := []payments.Event{}
	for i := range got.Data {
		events = append(events, g.present(&got.Data[i])...)
	}
	if !got.HasMore || len(got.Data) == 0 {
		return events, "", nil
	}
	return events, strconv.Itoa(offset + len(got.Data)), nil
}

// present is what a payment's present state means. A refunded or disputed one
// was settled before.
func (g *Gateway) present(p *payment) []payments.Event {
	now := g.cfg.Clock.Now()
	n := p.neutral(g.cfg.Zone)
	base := payments.Event{Gateway: payments.GWA, Type: "reconcile.payment", CreatedAt: now}
	report, dispute := p.report(g.cfg.Zone, now), p.dispute(now)
	var events []payments.Event
	if n.Status == payments.PaymentSettled || report.Total > 0 || dispute != nil {
		e := g.about(p, &envelope{}, base)
		n.Status = payments.PaymentSettled
		n.SettledAt = firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
		e.Kind, e.Payment = payments.PaymentWasSettled, &n
		events = append(events, e)
	}
	if report.Total > 0 {
		e := g.about(p, &envelope{}, base)
		report.Type = base.Type
		e.Kind, e.Refund = payments.PaymentWasRefunded, &report
		events = append(events, e)
	}
	if dispute != nil {
		e := g.about(p, &envelope{}, base)
		e.Kind, e.Dispute = payments.DisputeWasOpened, dispute
		if dispute.State.Closed() {
			e.Kind = payments.DisputeWasClosed
		}
		events = append(events, e)
	}
	return events
}
