package gateway

import (
	"slices"
	"time"

	"marquee/platform/money"
)

// Traits are what a gateway does otherwise than the other, each named for what is asked:
// nobody outside the adapters asks which gateway it is. A row in a table names its gateway
// also while that is not configured, so the answers stand here and not behind a connection.
type Traits struct {
	// SignsEvents: a webhook proves what it tells. What is not signed is read live before
	// money, or an end, is believed.
	SignsEvents bool
	// Invoices: a recurrence is charged by invoices, which say themselves what they are of. The
	// ledger knows such a payment by its invoice, while refunds and disputes name its payment
	// intent. Without, one id names the payment everywhere, also a dispute of it.
	Invoices bool
	// DisputeLostByRefund: that the payer's bank keeps the money is told as a refund.
	DisputeLostByRefund bool
	// RefundsFromBalance: a refund is paid from the account's balance, and denied where that is too small.
	RefundsFromBalance bool
	// AmountsMayChange: what a charge costs can be changed at the gateway's own console.
	AmountsMayChange bool
	// SearchLags: a search may not show for a while what was made just now.
	SearchLags bool
	// Quota: the account has so many calls and no more; the zero value: none is known.
	Quota Quota
	// MissNeedsList: a read that finds nothing proves nothing, unless a list by our id
	// does not show it either.
	MissNeedsList bool

	// EndsWithPeriod: told so, the gateway lets a recurrence run to the end of its paid
	// period, and takes that back. Without, a recurrence is deleted at once and for good,
	// and it is our row that ends with the period.
	EndsWithPeriod bool
	// StatusImpliesPayment: a subscription that is active there is paid. Without, it only has
	// a recurrence, and its charges tell the rest.
	StatusImpliesPayment bool
	// PayerConfirms: a card subscription may wait, unpaid, for the payer to authenticate.
	PayerConfirms bool
	// ChargesByDay: a recurrence makes one charge a due date, and tells days; without, it
	// charges at the instant at which a period begins.
	ChargesByDay bool
	// ChargesAhead is how long before they fall due a recurrence's charges are made; a new
	// date only counts for those that are not made yet.
	ChargesAhead time.Duration
	// MostFreeYears is how far ahead the next charge may be moved; 0: no limit is known.
	MostFreeYears int
	// FirstMonthApart: a lowered first month is a payment of its own, before the recurrence.
	FirstMonthApart bool
	// Prices: a plan is a product with a price there, which a subscription names.
	Prices bool
	// DebitsPix: it has automatic PIX.
	DebitsPix bool

	// TakesTokens: a card comes as a token of the gateway's own library; else as its data.
	TakesTokens bool
	// CardField is the field of our requests that holds the card.
	CardField string
	// AmountsInReais: the bodies of its routes have amounts in reais; else in cents.
	AmountsInReais bool
	// LeastPix is the smallest amount of a PIX code (docs/gateway-facts.md, A5), LeastCharge of any charge (B7, which
	// adds a smaller card invoice to the next one); 0: none is known.
	LeastPix, LeastCharge money.Cents
	// Words are how the gateway calls the state of a one-off payment.
	Words PaymentWords
}

// Quota bounds the calls that a gateway takes.
type Quota struct {
	Calls  int
	Window time.Duration
}

// PaymentWords are a gateway's words for the states of a one-off payment.
type PaymentWords struct {
	Awaited     string // a code that waits for its payer
	AwaitedCard string // a card whose end is not known
	Lost        string // nobody will make it
	Settled     string
	Refunded    string
}

// traits are what each gateway does otherwise.
//
//exhaustive:enforce
var traits = map[Name]Traits{
	GWA: {
		DisputeLostByRefund: true, RefundsFromBalance: true, AmountsMayChange: true, SearchLags: true,
		MissNeedsList: true,
		Quota:         Quota{Calls: 25_000, Window: 12 * time.Hour},
		ChargesByDay:  true, ChargesAhead: 40 * 24 * time.Hour, FirstMonthApart: true, DebitsPix: true,
		CardField: "credit_card", AmountsInReais: true, LeastPix: 500,
		Words: PaymentWords{
			Awaited: "PENDING", AwaitedCard: "PENDING", Lost: "OVERDUE", Settled: "RECEIVED", Refunded: "REFUNDED",
		},
	},
	GWB: {
		SignsEvents: true, Invoices: true,
		EndsWithPeriod: true, StatusImpliesPayment: true, PayerConfirms: true, MostFreeYears: 2, Prices: true,
		TakesTokens: true, CardField: "payment_method_id", LeastCharge: 50,
		Words: PaymentWords{
			Awaited: "requires_action", AwaitedCard: "processing", Lost: "canceled", Settled: "succeeded",
			Refunded: "refunded",
		},
	},
}

// FreeWords are those of what costs nothing, and has no gateway: by the contract gateway A's.
func FreeWords() PaymentWords { return traits[GWA].Words }

// Names are the gateways, in the order in which they are asked.
func Names() []Name { return []Name{GWA, GWB} }

// Unsigned are the gateways whose events prove nothing by themselves.
func Unsigned() []Name {
	return slices.DeleteFunc(Names(), func(n Name) bool { return n.Traits().SignsEvents })
}

// Traits are the gateway's; of a name that is none, all are zero.
func (n Name) Traits() Traits { return traits[n] }
