package account

import (
	"context"
	"errors"
	"net/http"

	"marquee/testutil/sandbox/stage"
)

// APIVersion is the version whose form the answers and the events of shape dahlia have.
const APIVersion = "2026-03-25.dahlia"

// preBasilVersion stands in events of the old shape.
const preBasilVersion = "2024-06-20"

// Shape is the form of objects inside events.
type Shape string

// Shapes.
const (
	Dahlia   Shape = "dahlia"
	PreBasil Shape = "pre-basil"
)

// What happens to a subscription whose dunning ends without payment.
const (
	AfterDunningCancel  = "cancel"
	AfterDunningUnpaid  = "unpaid"
	AfterDunningPastDue = "past_due"
)

// Settings are what the account holder sets, and what the page on gateway B leaves open.
type Settings struct {
	BaseURL      string // where the gateway is reached, for links in answers
	Secret       string // key of the signature of events
	AfterDunning string // one of the AfterDunning constants
	// MerchantName and MerchantCity stand in PIX codes.
	MerchantName, MerchantCity string
}

// Ledger is what the account has. All of it is guarded by the stage's lock, and every method but Sign is called with
// that held.
type Ledger struct {
	Settings
	data

	Shape  Shape // of objects in events
	stage  *stage.Stage
	routes *http.ServeMux
}

// data is everything that is kept over a restart.
type data struct {
	Customers      stage.Table[customer]
	PaymentMethods stage.Table[paymentMethod]
	SetupIntents   stage.Table[SetupIntent]
	Products       stage.Table[product]
	Prices         stage.Table[price]
	Coupons        stage.Table[coupon]
	Subscriptions  stage.Table[subscription]
	Invoices       stage.Table[invoice]
	Intents        stage.Table[PaymentIntent]
	Charges        stage.Table[charge]
	Refunds        stage.Table[refund]
	Disputes       stage.Table[dispute]
	Events         stage.Table[event]
}

// registerWith has the state file keep all of it.
func (d *data) registerWith(s *stage.Stage) error {
	return errors.Join(
		s.Keep("customers", &d.Customers),
		s.Keep("payment_methods", &d.PaymentMethods),
		s.Keep("setup_intents", &d.SetupIntents),
		s.Keep("products", &d.Products),
		s.Keep("prices", &d.Prices),
		s.Keep("coupons", &d.Coupons),
		s.Keep("subscriptions", &d.Subscriptions),
		s.Keep("invoices", &d.Invoices),
		s.Keep("payment_intents", &d.Intents),
		s.Keep("charges", &d.Charges),
		s.Keep("refunds", &d.Refunds),
		s.Keep("disputes", &d.Disputes),
		s.Keep("events", &d.Events),
	)
}

// NewLedger is one without anything in it.
func NewLedger(s Settings) *Ledger { return &Ledger{Settings: s, Shape: Dahlia, routes: mux()} }

// Open has the stage keep the ledger, restores what its state file has, and enters what the clock does by itself.
func (l *Ledger) Open(s *stage.Stage) error {
	l.stage = s
	if err := l.registerWith(s); err != nil {
		return err
	}
	l.handleJobs()
	return nil
}

// Now is the gateway's time, in unix seconds.
func (l *Ledger) Now() int64 { return l.stage.Clock.Now().Unix() }

// Op is one thing that happens, by a call or by the gateway itself; its events carry the call's id and key.
type Op struct {
	ledger    *Ledger
	ctx       context.Context
	requestID string
	Key       string
}

// Background is an operation that no call caused.
func (l *Ledger) Background() *Op { return &Op{ledger: l, ctx: context.Background()} }

// handleJobs says what is done when the clock reaches a date. They run with the stage locked.
func (l *Ledger) handleJobs() {
	for kind, run := range map[string]func(j Jobs, id string){
		jobIncompleteExpire: Jobs.expireIncomplete,
		JobPeriodEnd:        Jobs.EndPeriod,
		JobInvoiceRetry:     Jobs.RetryInvoice,
		jobPIXPay:           Jobs.payPIXJob,
		jobPIXExpire:        Jobs.expirePIXJob,
		JobRefundFail:       Jobs.failRefundJob,
		jobDispute:          Jobs.disputeJob,
	} {
		l.stage.Clock.Handle(kind, func(id string) { run(Jobs{l.Background()}, id) })
	}
}
