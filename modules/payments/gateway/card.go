package gateway

import (
	"context"

	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// CardUpdater changes how a running subscription goes on.
type CardUpdater interface {
	// ChangeCard gives a subscription another card in its place, without charging
	// it. The error is *Declined when the card was refused; the old one stays then.
	ChangeCard(ctx context.Context, c CardChange) (CardOnFile, error)
	// PayOpenInvoice collects what a failed renewal left open with the card that
	// the subscription has now; ok is false when nothing is open. Gateway A has no
	// such call: its next try takes the new card by itself, and ok is false.
	PayOpenInvoice(ctx context.Context, p InvoicePayment) (paid Payment, ok bool, err error)
	// ChangePrice has a subscription charge another amount from the next charge on,
	// and nothing for the present period. Repeating it is harmless.
	ChangePrice(ctx context.Context, c PriceChange) error
	// SetCancelAtPeriodEnd has the subscription end with the paid period, or takes
	// that back. Gateway A: ErrUnsupported, since its recurrence is deleted at once.
	SetCancelAtPeriodEnd(ctx context.Context, gatewayID string, local objectid.ID,
		cancel bool) (RemoteSubscription, error)
}

// CardChange is another card for a subscription.
type CardChange struct {
	ChangeID              objectid.ID // a new id for each request: the idempotency key
	SubscriptionID        objectid.ID // the local row
	SubscriptionGatewayID string
	Payer                 Payer // with GatewayID
	Instrument            Instrument
}

// PriceChange is another price for a subscription.
type PriceChange struct {
	SubscriptionID        objectid.ID // the local row
	SubscriptionGatewayID string
	PriceID               string      // gateway B, of SyncPlan
	Amount                money.Cents // a month
	Description           string
}

// CardOnFile is what may be known of a card.
type CardOnFile struct{ Brand, Last4 string }

// InvoicePayment asks for an open invoice to be paid.
type InvoicePayment struct {
	AttemptID             objectid.ID // a new id an attempt: the idempotency key
	SubscriptionID        objectid.ID // the local row
	SubscriptionGatewayID string
}

// CardCharger takes one payment by card, at once.
type CardCharger interface {
	// ChargeCard charges a card once. A card that asks its holder for
	// authentication is *Declined: no step follows. The status is PaymentStatusPending
	// while gateway A analyses the risk; its event decides.
	ChargeCard(ctx context.Context, t CardTerms) (CardCharge, error)
	// FindCardCharge looks for what ChargeCard may have made for the reference; ok
	// is false when there is nothing. The card token is not told again.
	FindCardCharge(ctx context.Context, t CardTerms) (c CardCharge, ok bool, err error)
	// ReadPayment reads one payment by its id: pay_… at gateway A; in_… or pi_… at
	// gateway B.
	ReadPayment(ctx context.Context, paymentID string, local objectid.ID) (Payment, error)
}

// Kinds of payments, as gateway B's metadata tell them; PixTerms.Kind and
// CardTerms.Kind.
const (
	KindSubscriptionPix = "subscription_pix"
	KindFirstMonth      = "subscription_first_month"
	KindTicketOrder     = "ticket_order"
)

// CardTerms is one card payment to be taken.
type CardTerms struct {
	Reference   objectid.ID // the local row, subscription or order: key and reference
	Kind        string      // KindFirstMonth or KindTicketOrder
	Payer       Payer       // with GatewayID
	Amount      money.Cents
	Description string
	Instrument  Instrument
}

// CardCharge is a card payment that was made.
type CardCharge struct {
	Payment Payment
	Card    CardOnFile
	// CardToken lets the same payer's card be charged again at gateway A (Instrument).
	CardToken secret.Text
}
