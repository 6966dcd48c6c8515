package gwb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
)

// pauseVoid voids what is made while collection is paused.
const pauseVoid = "void"

// errDraft: an invoice is finalised about an hour after it was made, and collected
// then, unless it is voided.
var errDraft = errors.New("an invoice is not final yet")

// StopCollection pauses the collection of invoices that are made from now on.
func (g *recurrences) StopCollection(ctx context.Context, c gateway.Collection) error {
	_, err := g.setPause(ctx, c, &stripe.SubscriptionUpdateParams{
		PauseCollection: &stripe.SubscriptionUpdatePauseCollectionParams{Behavior: stripe.String(pauseVoid)},
	})
	return err
}

// OpenCharges lists the open invoices. While one is a draft it is ErrUnavailable.
func (g *recurrences) OpenCharges(ctx context.Context, c gateway.Collection) ([]gateway.Payment, error) {
	var open []gateway.Payment
	for _, status := range []string{"draft", "open"} {
		page, err := g.invoicePage(ctx,
			&stripe.InvoiceListParams{Subscription: stripe.String(c.GatewayID), Status: stripe.String(status)}, "")
		if err != nil {
			return nil, err
		}
		for i := range page.Data {
			open = append(open, *page.Data[i].payment())
		}
		if status == "draft" && len(open) > 0 {
			return nil, fmt.Errorf("%w: %w", gateway.ErrUnavailable, errDraft)
		}
	}
	return open, nil
}

// DropCharge voids an invoice.
func (g *recurrences) DropCharge(ctx context.Context, invoiceID string, local objectid.ID) error {
	_, err := write(ctx, g.client, func(ctx context.Context) (*stripe.Invoice, error) {
		return g.api.V1Invoices.VoidInvoice(ctx, invoiceID, nil)
	})
	if !gateway.IsRejected(err) {
		return err
	}
	now, readErr := g.ReadPayment(ctx, invoiceID, local) // paid or void by now
	switch {
	case readErr != nil:
		return readErr
	case now.Status == gateway.PaymentStatusSettled:
		return gateway.ErrAlreadyPaid
	case now.NativeStatus == "void":
		return nil
	}
	return err
}

// ResumeCollection takes the pause away.
func (g *recurrences) ResumeCollection(ctx context.Context, c gateway.Collection, _ *time.Time,
	_ time.Time,
) (gateway.RemoteSubscription, error) {
	params := &stripe.SubscriptionUpdateParams{}
	params.AddExtra("pause_collection", "")
	return g.setPause(ctx, c, params)
}

// MoveNextCharge gives the time until the instant away as a trial, which moves the
// period's end to it. What has ended, or ends its period there already, is left as it is.
func (g *recurrences) MoveNextCharge(ctx context.Context, c gateway.Collection,
	to time.Time,
) (gateway.RemoteSubscription, error) {
	found, err := g.ReadSubscription(ctx, c.GatewayID, c.SubscriptionID)
	over := found.Status == gateway.RemoteCanceled || found.Status == gateway.RemoteIncompleteExpired
	if err != nil || over || found.NextBilling != nil && found.NextBilling.Unix() == to.Unix() {
		return found, err
	}
	return g.set(ctx, c, &stripe.SubscriptionUpdateParams{
		TrialEnd: stripe.Int64(to.Unix()), ProrationBehavior: stripe.String("none"),
	}, func(now *subscriptionObject) bool {
		next := now.neutral().NextBilling
		return next != nil && next.Unix() == to.Unix()
	})
}

// setPause sets it, or takes it away.
func (g *recurrences) setPause(ctx context.Context, c gateway.Collection,
	params *stripe.SubscriptionUpdateParams,
) (gateway.RemoteSubscription, error) {
	found, err := g.ReadSubscription(ctx, c.GatewayID, c.SubscriptionID)
	if err != nil || found.Status == gateway.RemoteCanceled || found.Status == gateway.RemoteIncompleteExpired {
		return found, err
	}
	return g.set(ctx, c, params, func(now *subscriptionObject) bool {
		return (now.PauseCollection != nil) == (params.PauseCollection != nil)
	})
}

// set is update for what a collection is to be, told as its status says.
func (g *recurrences) set(ctx context.Context, c gateway.Collection, p *stripe.SubscriptionUpdateParams,
	is func(*subscriptionObject) bool,
) (gateway.RemoteSubscription, error) {
	o, err := g.update(ctx, c.GatewayID, c.SubscriptionID, p, is)
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	return settled(o).RemoteSubscription, nil
}
