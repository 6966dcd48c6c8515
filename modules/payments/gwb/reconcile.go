package gwb

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
)

// Steps of a reconciliation, each a list of its own.
const (
	stepInvoices = "invoices"
	stepCharges  = "charges"
	stepRefunds  = "refunds"
	stepDisputes = "disputes"
)

// since are the parameters of a page of what was made since an instant.
func since(p *stripe.ListParams, after string) {
	p.Limit, p.Single = stripe.Int64(pageSize), true
	if after != "" {
		p.StartingAfter = stripe.String(after)
	}
}

// CreatedSince reads invoices, charges, refunds and disputes by the time of their
// making. The charges give payments outside of invoices; the refunds and disputes
// may be of older ones.
func (g *lister) CreatedSince(ctx context.Context, from time.Time, page string) ([]gateway.Event, string, error) {
	step, after, _ := strings.Cut(page, ":")
	switch step {
	case stepCharges:
		return g.chargesSince(ctx, from, after)
	case stepRefunds:
		return g.refundsSince(ctx, from, after)
	case stepDisputes:
		return g.disputesSince(ctx, from, after)
	}
	all, err := g.invoicePage(ctx, &stripe.InvoiceListParams{CreatedRange: atOrAfter(from)}, after)
	if err != nil {
		return nil, "", err
	}
	events := []gateway.Event{}
	for i := range all.Data {
		if e, ok := g.paidInvoice(&all.Data[i]); ok {
			events = append(events, e)
		}
	}
	if all.HasMore && len(all.Data) > 0 {
		return events, stepInvoices + ":" + all.Data[len(all.Data)-1].ID, nil
	}
	return events, stepCharges + ":", nil
}

func atOrAfter(from time.Time) *stripe.RangeQueryParams {
	return &stripe.RangeQueryParams{GreaterThanOrEqual: from.Unix()}
}

// reconciled begins an event that no webhook brought.
func (g *lister) reconciled() gateway.Event {
	return gateway.Event{
		Gateway: gateway.GWB, Type: gateway.Reconciled, CreatedAt: g.cfg.Clock.Now().Truncate(time.Second),
	}
}

// paidInvoice is a paid invoice of a subscription as an event.
func (g *lister) paidInvoice(i *invoiceObject) (gateway.Event, bool) {
	e := g.reconciled()
	aboutInvoice(i, &e)
	e.Payload = gateway.SettledPayment{Payment: *i.payment()}
	return e, i.Status == "paid" && ofSubscription(i, &e)
}

func (g *lister) chargesSince(ctx context.Context, from time.Time, after string) ([]gateway.Event, string, error) {
	p := &stripe.ChargeListParams{CreatedRange: atOrAfter(from)}
	if after != "" {
		p.StartingAfter = stripe.String(after)
	}
	all, err := g.chargePage(ctx, p)
	if err != nil {
		return nil, "", err
	}
	events := []gateway.Event{}
	for _, c := range all {
		events = append(events, g.presentCharge(c)...)
	}
	if len(all) < pageSize {
		return events, stepRefunds + ":", nil
	}
	return events, stepCharges + ":" + all[len(all)-1].ID, nil
}

// presentCharge is what a charge's present state means: a payment that stands
// for itself, also one that names nothing, and refunds of any.
func (g *lister) presentCharge(c *stripe.Charge) []gateway.Event {
	if c.Status != stripe.ChargeStatusSucceeded {
		return nil
	}
	var events []gateway.Event
	purpose, local := metadata(c.Metadata).purpose()
	if local != "" {
		e := g.reconciled()
		e.Purpose, e.Reference, e.CustomerID = purpose, local, customerOf(c)
		e.Payload = gateway.SettledPayment{Payment: listed(c, "").Payment}
		events = append(events, e)
	} else if !ofInvoice(c.Description) {
		e := g.reconciled()
		e.CustomerID = customerOf(c)
		e.Payload = gateway.NamelessPayment{Payment: listed(c, "").Payment}
		events = append(events, e)
	}
	if c.AmountRefunded > 0 {
		e := g.reconciled()
		e.Purpose, e.Reference, e.CustomerID = purpose, local, customerOf(c)
		e.Payload = gateway.RefundChange{Status: gateway.RefundStatusDone, Report: gateway.RefundReport{
			PaymentID: key(intentIDOf(c), c.ID), ChargeID: c.ID, Total: money.Cents(c.AmountRefunded), HasTotal: true,
			At: e.CreatedAt, Type: e.Type,
		}}
		events = append(events, e)
	}
	return events
}

func customerOf(c *stripe.Charge) string {
	if c.Customer == nil {
		return ""
	}
	return c.Customer.ID
}

func (g *lister) refundsSince(ctx context.Context, from time.Time, after string) ([]gateway.Event, string, error) {
	return listedSince(ctx, g, after, stepRefunds, stepDisputes+":",
		func(ctx context.Context) ([]json.RawMessage, error) {
			p := &stripe.RefundListParams{CreatedRange: atOrAfter(from)}
			since(&p.ListParams, after)
			got := g.api.V1Refunds.List(ctx, p)
			if err := got.Err(); err != nil {
				return nil, err
			}
			return rows(got.LastResponse())
		}, readRefund)
}

func (g *lister) disputesSince(ctx context.Context, from time.Time, after string) ([]gateway.Event, string, error) {
	return listedSince(ctx, g, after, stepDisputes, "", func(ctx context.Context) ([]json.RawMessage, error) {
		p := &stripe.DisputeListParams{CreatedRange: atOrAfter(from)}
		since(&p.ListParams, after)
		got := g.api.V1Disputes.List(ctx, p)
		if err := got.Err(); err != nil {
			return nil, err
		}
		return rows(got.LastResponse())
	}, readDispute)
}

// listedSince reads a page of objects with the reader of their events: what an
// object is at present is what the newest event about it tells.
func listedSince(
	ctx context.Context, g *lister, after, step, next string,
	list func(context.Context) ([]json.RawMessage, error), reader func(json.RawMessage, *gateway.Event) error,
) ([]gateway.Event, string, error) {
	all, err := read(ctx, g.client, list)
	if err != nil {
		return nil, "", err
	}
	events := []gateway.Event{}
	for _, object := range all {
		e := g.reconciled()
		if reader(object, &e) == nil {
			events = append(events, e)
		}
	}
	if len(all) < pageSize {
		return events, next, nil
	}
	return events, step + ":" + idOf(all[len(all)-1]), nil
}

// rows are the objects of a list as the gateway sent them.
func rows(response *stripe.APIResponse) ([]json.RawMessage, error) {
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	err := json.Unmarshal(response.RawJSON, &list)
	return list.Data, err
}

func idOf(object json.RawMessage) string {
	var o struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(object, &o)
	return o.ID
}

// EventsSince lists the events of the kinds that mean something here. The gateway
// keeps them for 30 days (docs/gateway-facts.md, B9).
func (g *lister) EventsSince(ctx context.Context, from time.Time, page string) ([]json.RawMessage, string, error) {
	all, err := read(ctx, g.client, func(ctx context.Context) ([]json.RawMessage, error) {
		p := &stripe.EventListParams{CreatedRange: atOrAfter(from)}
		since(&p.ListParams, page)
		got := g.api.V1Events.List(ctx, p)
		if err := got.Err(); err != nil {
			return nil, err
		}
		return rows(got.LastResponse())
	})
	if err != nil || len(all) < pageSize {
		return all, "", err
	}
	return all, idOf(all[len(all)-1]), nil
}
