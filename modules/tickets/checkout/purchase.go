package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/taxid"
)

// TicketPurchase is what is bought; the whole body for PIX.
type TicketPurchase struct {
	EventID  objectid.ID `json:"event_id" pattern:"^[0-9a-fA-F]{24}$"`
	Quantity int         `json:"quantity" minimum:"1" maximum:"1000" doc:"At most MAX_TICKETS_PER_ORDER"`
}

// CardPurchaseA is a purchase by a card of gateway A.
type CardPurchaseA struct {
	TicketPurchase
	Card   gateway.CardBody       `json:"credit_card" required:"false"`
	Holder gateway.CardHolderBody `json:"credit_card_holder_info" required:"false"`
}

// CardPurchaseB is a purchase by a card token of gateway B.
type CardPurchaseB struct {
	TicketPurchase
	Method gateway.PaymentMethodBody `json:"payment_method_id" required:"false"`
}

func (w TicketPurchase) purchase(gateway gateway.Name, method gateway.Method) purchase {
	id, _ := objectid.Parse(w.EventID.String())
	return purchase{gateway: gateway, method: method, eventID: id, quantity: w.Quantity}
}

func (b CardPurchaseA) purchase(ctx context.Context) purchase {
	p := b.TicketPurchase.purchase(gateway.GWA, gateway.MethodCard)
	p.instrument = func() (gateway.Instrument, error) {
		card, err := b.Card.Read()
		if err != nil {
			return gateway.Instrument{}, err
		}
		holder, err := b.Holder.Read()
		return gateway.Instrument{Card: card, Holder: holder, RemoteIP: httpapi.ClientIP(ctx)}, err
	}
	return p
}

func (b CardPurchaseB) purchase(context.Context) purchase {
	p := b.TicketPurchase.purchase(gateway.GWB, gateway.MethodCard)
	p.instrument = func() (gateway.Instrument, error) {
		id, err := b.Method.Read()
		return gateway.Instrument{PaymentMethodID: id}, err
	}
	return p
}

type (
	buyCardAInput struct{ Body CardPurchaseA }
	buyCardBInput struct{ Body CardPurchaseB }
	buyPixInput   struct{ Body TicketPurchase }
)

// BuyCardA answers POST /store/purchase/gwa/card.
func (h Handlers) BuyCardA(ctx context.Context, in *buyCardAInput) (*httpapi.Output[purchaseBody], error) {
	return h.s.buyAs(ctx, in.Body.purchase(ctx))
}

// BuyCardB answers POST /store/purchase/gwb/card.
func (h Handlers) BuyCardB(ctx context.Context, in *buyCardBInput) (*httpapi.Output[purchaseBody], error) {
	return h.s.buyAs(ctx, in.Body.purchase(ctx))
}

// BuyPixA answers POST /store/purchase/gwa/pix.
func (h Handlers) BuyPixA(ctx context.Context, in *buyPixInput) (*httpapi.Output[purchaseBody], error) {
	return h.s.buyAs(ctx, in.Body.purchase(gateway.GWA, gateway.MethodPix))
}

// BuyPixB answers POST /store/purchase/gwb/pix.
func (h Handlers) BuyPixB(ctx context.Context, in *buyPixInput) (*httpapi.Output[purchaseBody], error) {
	return h.s.buyAs(ctx, in.Body.purchase(gateway.GWB, gateway.MethodPix))
}

// buyAs buys for the customer who calls.
func (s *Checkout) buyAs(ctx context.Context, p purchase) (*httpapi.Output[purchaseBody], error) {
	p.customerID = httpapi.CallerOf(ctx).ID
	r, err := s.buy(ctx, p)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(purchaseBodyOf(r))
}

// purchase is a request to buy, of a customer or a guest.
type purchase struct {
	gateway    gateway.Name
	method     gateway.Method
	eventID    objectid.ID
	quantity   int
	customerID objectid.ID                        // of a customer
	buyer      *Buyer                             // of a guest
	instrument func() (gateway.Instrument, error) // reads the card; nil for PIX
}

// receipt is what became of a purchase.
type receipt struct {
	order   orders.Order
	tickets []objectid.ID
	pix     *gateway.PixCharge
}

// buy checks everything that can be checked without the gateway, holds the
// places, asks the gateway, and settles its answer (docs/contract/tickets.md, The store;
// docs/contract/subscriptions.md, Money moves once). Errors: 404 and 400 for the event, 409 sold
// out or more than one person may have, 400 for the card, 422 for the buyer, 429 after
// too many declines, for too many unpaid places and too many mails to a guest.
func (s *Checkout) buy(ctx context.Context, p purchase) (receipt, error) {
	w, instrument, err := s.prepare(ctx, p)
	if err != nil {
		return receipt{}, err
	}
	o, tickets, err := s.reserve(ctx, w)
	if err != nil {
		return receipt{}, err
	}
	r := receipt{order: o, tickets: tickets}
	if w.gateway == nil {
		return r, nil
	}
	return s.pay(ctx, r, orders.Purchase{Order: o, Payer: w.payer, Title: w.event.Title, Instrument: instrument})
}

// prepare does all of it that needs no lock. Declines are counted with the lock of the event; before an account is made
// here or at the gateway, as well.
func (s *Checkout) prepare(ctx context.Context, p purchase) (w request, instrument gateway.Instrument, err error) {
	if p.quantity > s.deps.Config.MaxQuantity {
		return w, instrument,
			fault.InvalidAt(fmt.Sprintf("has to be at most %d", s.deps.Config.MaxQuantity), "body", "quantity")
	}
	event, buyer, err := s.readEventAndBuyer(ctx, p)
	if err != nil {
		return w, instrument, err
	}
	e, err := event.Get(ctx)
	if postgres.IsNoRows(err) {
		return w, instrument, fault.NotFound("Event").WithField("event_id")
	}
	if err != nil {
		return w, instrument, fmt.Errorf("read event: %w", err)
	}
	if err := events.Sellable(e, s.deps.Clock.Now()); err != nil {
		return w, instrument, err
	}
	if e.Capacity != nil && int(e.TicketsIssued)+p.quantity > int(*e.Capacity) {
		return w, instrument, events.ErrSoldOut()
	}
	if e.MaxPerPerson != nil && p.quantity > int(*e.MaxPerPerson) {
		return w, instrument, errTooManyForOne(e)
	}
	w = request{
		event: e, method: p.method, quantity: p.quantity, withoutLogin: p.buyer != nil,
		attempt: idempotency.AttemptOf(ctx),
	}
	free := priceOf(e) == 0
	if !free {
		if instrument, err = instrumentOf(p, priceOf(e)*int64(p.quantity)); err != nil {
			return w, instrument, err
		}
	}
	if p.buyer != nil && !free && p.method == gateway.MethodCard {
		// Before an account is made: whoever tests cards gets none, and nobody mails.
		w.tried = new(s.subjects(ctx, instrument, p.buyer.Email))
		if err := s.checkDeclines(ctx, *w.tried); err != nil {
			return w, instrument, err
		}
	}
	if w.customer, err = s.customerOf(ctx, p, buyer, free); err != nil {
		return w, instrument, err
	}
	w.unproved = !w.customer.EmailVerified
	if w.holder = s.holderOf(ctx, e, w.customer, p.buyer); free {
		return w, instrument, nil
	}
	if w.gateway, err = s.deps.Payments.Gateway(p.gateway); err != nil {
		return w, instrument, gateway.FaultOf(err)
	}
	if p.buyer == nil && p.method == gateway.MethodCard {
		w.tried = new(s.subjects(ctx, instrument, w.customer.Email))
		if w.customer.GatewayCustomerIDs[string(p.gateway)] == "" { // before the gateway is asked for anything
			if err := s.checkDeclines(ctx, *w.tried); err != nil {
				return w, instrument, err
			}
		}
	}
	w.payer, err = s.payerAt(ctx, w.gateway, w.customer, p.buyer)
	return w, instrument, err
}

// readEventAndBuyer reads the event, and the customer whose account buys it; a guest's is looked for later.
func (s *Checkout) readEventAndBuyer(ctx context.Context, p purchase) (*postgres.Result[events.Event],
	*postgres.Result[accounts.Customer], error,
) {
	var q postgres.Batch
	event := postgres.Add(&q, func(db postgres.DB) (events.Event, error) { return s.db.EventGet(ctx, db, p.eventID) })
	var buyer *postgres.Result[accounts.Customer]
	if p.buyer == nil {
		buyer = postgres.Add(&q, func(db postgres.DB) (accounts.Customer, error) {
			return s.deps.Accounts.CustomerByID(ctx, db, p.customerID)
		})
	}
	if err := q.Run(ctx, s.deps.Pool); err != nil {
		return nil, nil, fmt.Errorf("read event and buyer: %w", err)
	}
	return event, buyer, nil
}

// instrumentOf reads the card.
func instrumentOf(p purchase, total int64) (gateway.Instrument, error) {
	if p.instrument == nil {
		if least := p.gateway.Traits().LeastPix; money.Cents(total) < least {
			return gateway.Instrument{},
				fault.BadRequest("The order costs less than R$ %s, the smallest amount that can be paid by PIX. Pay by card.", least).WithField("quantity")
		}
		return gateway.Instrument{}, nil
	}
	return p.instrument()
}

// customerOf is the account that the purchase is for; money moves only for one
// with a tax id.
func (s *Checkout) customerOf(ctx context.Context, p purchase, buyer *postgres.Result[accounts.Customer],
	free bool,
) (accounts.Customer, error) {
	if p.buyer != nil {
		if !taxid.Valid(p.buyer.TaxID, s.deps.Config.AlphanumericTaxIDs) {
			return accounts.Customer{},
				fault.InvalidAt("has to be a CPF or CNPJ with valid check digits", "body", "buyer", "tax_id")
		}
		if free {
			// It costs nothing to have the tickets of a free event mailed to somebody.
			if err := s.deps.Accounts.TakeMail(ctx, p.buyer.Email); err != nil {
				return accounts.Customer{}, err
			}
		}
		return s.deps.Accounts.CheckoutCustomer(ctx, accounts.Buyer(*p.buyer))
	}
	c, err := buyer.Get(ctx)
	if err != nil {
		return c, err
	}
	if free {
		return c, nil
	}
	return c, gateway.CheckTaxID(c.TaxID, s.deps.Config.AlphanumericTaxIDs)
}

// payerAt makes the buyer known to the gateway. What guests say of themselves is not written into an
// account that was there before; the gateway gets it where the account has none.
func (s *Checkout) payerAt(ctx context.Context, gw gateway.Gateway, c accounts.Customer,
	b *Buyer,
) (gateway.Payer, error) {
	p := gateway.Payer{
		CustomerID: c.ID, GatewayID: c.GatewayCustomerIDs[string(gw.Name())], Name: events.NameOf(c), Email: c.Email,
		Phone: c.Phone, TaxID: c.TaxID,
	}
	if b != nil {
		if p.TaxID == "" {
			p.TaxID = b.TaxID
		}
		if p.Phone == "" {
			p.Phone = b.Phone
		}
	}
	return s.deps.Payments.EnsurePayer(ctx, s.deps.Accounts, gw, p)
}

// pay has the order charged. What is not known is pending, and the checks find out; what
// came to nothing has freed its places, and says why.
func (s *Checkout) pay(ctx context.Context, r receipt, p orders.Purchase) (receipt, error) {
	ctx = context.WithoutCancel(ctx) // who goes away is charged, and counted, all the same
	p, outcome, err := s.deps.Orders.Charge().Run(ctx, p)
	r.order = p.Order
	switch outcome := outcome.(type) {
	case orders.Declined:
		return r, s.notPaid(ctx, p, outcome.Cause, err)
	case intent.Refused[orders.Made]:
		return r, s.notPaid(ctx, p, outcome.Cause, err)
	case orders.Succeeded:
		r.pix = outcome.Result.Pix
		if is := r.order.State; err == nil && r.pix != nil && is != state.Reserved && is != state.Paid {
			return r, errLatePix(fmt.Errorf("order %s was given up meanwhile", r.order.ID))
		}
	case intent.Pending[orders.Made], intent.Missing[orders.Made], orders.Void, intent.NotKnown[orders.Made]:
	}
	return r, err
}

// errLatePix tells a buyer that there is no code: what was made has been found and
// cancelled meanwhile.
func errLatePix(cause error) error {
	return (&fault.Error{
		Kind: fault.KindUnavailable, RetryAfter: 30 * time.Second,
		Message: "The payment gateway did not answer in time. Nothing was charged, and your places will be free again in a moment. Try again.",
	}).WithCause(cause)
}

// notPaid words why a purchase came to nothing, whose places are free again unless that
// failed.
func (s *Checkout) notPaid(ctx context.Context, p orders.Purchase, why, failed error) error {
	if failed != nil {
		return errors.Join(failed, why)
	}
	var declined *gateway.Declined
	if errors.As(why, &declined) {
		field := nullable.Value(p.Order.Gateway).Traits().CardField
		message := declined.Message
		if message == "" {
			message = "The card was declined."
		}
		return fault.BadRequest("%s", message).WithField(field).WithCause(why)
	}
	return s.deps.Payments.Refused(ctx, "pay order", why)
}

// orderPaymentBody is payment of the purchase response (docs/contract/tickets.md, The store).
type orderPaymentBody struct {
	ID          *string `json:"id"`
	Status      string  `json:"status"`
	BillingType string  `json:"billing_type"`
}

// Schema is the object, or null for a free event; in place, since a reference
// cannot be null.
func (orderPaymentBody) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, Required: []string{"id", "status", "billing_type"},
		Properties: map[string]*huma.Schema{
			"id": {
				Type: huma.TypeString, Nullable: true, Description: "The gateway's; null while its answer is awaited",
			},
			"status":       {Type: huma.TypeString, Enum: []any{orders.StatusConfirmed, orders.StatusPending}},
			"billing_type": {Type: huma.TypeString, Enum: []any{"CREDIT_CARD", "PIX"}},
		},
	}
}

type purchaseBody struct {
	Order   orders.OrderBody     `json:"order"`
	Payment *orderPaymentBody    `json:"payment" doc:"Null for a free event"`
	Pix     *orders.OrderPixBody `json:"pix,omitempty"`
}

func purchaseBodyOf(r receipt) purchaseBody {
	body := purchaseBody{Order: r.order.Body(r.tickets, 0)}
	if r.order.Gateway == nil {
		return body
	}
	body.Payment = &orderPaymentBody{
		ID: r.order.GatewayPaymentID, Status: orders.StatusPending, BillingType: "CREDIT_CARD",
	}
	if r.order.State == state.Paid {
		body.Payment.Status = orders.StatusConfirmed
	}
	if nullable.Value(r.order.PaymentMethod) == gateway.MethodPix {
		body.Payment.BillingType = "PIX"
	}
	if r.pix != nil {
		body.Pix = r.order.PixBody(*r.pix)
	}
	return body
}
