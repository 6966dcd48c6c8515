package gwa

import (
	"encoding/json"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// list is the envelope of lists.
type list[T any] struct {
	Object     string `json:"object"`
	TotalCount *int   `json:"totalCount"`
	HasMore    bool   `json:"hasMore"`
	Data       []T    `json:"data"`
}

// ref is an id, or an object with an id.
type ref string

// UnmarshalJSON takes anything else as no reference.
func (r *ref) UnmarshalJSON(raw []byte) error {
	*r = ""
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*r = ref(s)
		return nil
	}
	var o struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &o) == nil {
		*r = ref(o.ID)
	}
	return nil
}

type customer struct {
	Object            string  `json:"object"`
	ID                string  `json:"id"`
	Deleted           bool    `json:"deleted"`
	ExternalReference *string `json:"externalReference"`
}

type subscription struct {
	Object            string      `json:"object"`
	ID                string      `json:"id"`
	Customer          ref         `json:"customer"`
	Value             money.Reais `json:"value"`
	Status            string      `json:"status"`
	Deleted           bool        `json:"deleted"`
	DateCreated       date        `json:"dateCreated"`
	NextDueDate       date        `json:"nextDueDate"`
	ExternalReference *string     `json:"externalReference"`
}

// nativeDeleted is the status of what is deleted: the gateway keeps its last one.
const nativeDeleted = "DELETED"

func (s *subscription) neutral(zone *time.Location) gateway.RemoteSubscription {
	r := gateway.RemoteSubscription{
		GatewayID: s.ID, CustomerGatewayID: string(s.Customer), Status: recurrenceStatuses[s.Status], NativeStatus: s.Status,
		Outcome: gateway.OutcomeUnknown, PaymentStatus: "PENDING", NextBilling: s.NextDueDate.in(zone),
	}
	if s.Deleted {
		r.Status, r.NativeStatus = gateway.RemoteCanceled, nativeDeleted
	}
	r.Inactive = s.Status == "INACTIVE" && !s.Deleted
	if at := s.DateCreated.in(zone); at != nil {
		r.CreatedAt = *at
	}
	return r
}

type payment struct {
	Object            string      `json:"object"`
	ID                string      `json:"id"`
	Customer          ref         `json:"customer"`
	Subscription      ref         `json:"subscription"`
	Value             money.Reais `json:"value"`
	BillingType       string      `json:"billingType"`
	Status            string      `json:"status"`
	Deleted           bool        `json:"deleted"`
	Description       string      `json:"description"`
	DateCreated       date        `json:"dateCreated"`
	DueDate           date        `json:"dueDate"`
	OriginalDueDate   date        `json:"originalDueDate"`
	ConfirmedDate     date        `json:"confirmedDate"`
	PaymentDate       date        `json:"paymentDate"`
	ClientPaymentDate date        `json:"clientPaymentDate"`
	ExternalReference *string     `json:"externalReference"`
	// Automatic PIX: where the authorization's id stands is not certain.
	PixAutomaticAuthorizationID ref    `json:"pixAutomaticAuthorizationId"`
	PixAutomaticAuthorization   ref    `json:"pixAutomaticAuthorization"`
	PixQRCodeID                 string `json:"pixQrCodeId"`

	Refunds    []refund    `json:"refunds"`
	Chargeback *chargeback `json:"chargeback"`
}

// statuses of payments in neutral words; one that is not listed is pending. Money
// that is disputed, or on its way back, has come: what becomes of it is told by
// refunds and disputes.
var statuses = map[string]gateway.PaymentStatus{
	"CONFIRMED":        gateway.PaymentSettled,
	"RECEIVED":         gateway.PaymentSettled,
	"RECEIVED_IN_CASH": gateway.PaymentSettled,
	"DUNNING_RECEIVED": gateway.PaymentSettled,
	"OVERDUE":          gateway.PaymentFailed,
	"REFUNDED":         gateway.PaymentGone,

	"REFUND_REQUESTED":             gateway.PaymentSettled,
	"REFUND_IN_PROGRESS":           gateway.PaymentSettled,
	"CHARGEBACK_REQUESTED":         gateway.PaymentSettled,
	"CHARGEBACK_DISPUTE":           gateway.PaymentSettled,
	"AWAITING_CHARGEBACK_REVERSAL": gateway.PaymentSettled,
}

var methods = map[string]gateway.Method{
	"CREDIT_CARD": gateway.MethodCard,
	"PIX":         gateway.MethodPix,
	"BOLETO":      gateway.MethodBoleto,
}

func (p *payment) neutral(zone *time.Location) gateway.Payment {
	n := gateway.Payment{
		ID: p.ID, NativeStatus: p.Status, Method: methods[p.BillingType], Amount: p.Value.Cents(),
		Status: gateway.PaymentPending, DueDate: p.DueDate.in(zone), MadeFor: p.OriginalDueDate.in(zone),
	}
	if n.Method == "" {
		n.Method = gateway.MethodBoleto // UNDEFINED lets the payer choose; what he chose comes with the payment
	}
	if status, known := statuses[p.Status]; known {
		n.Status = status
	}
	// An overdue PIX can still be paid; a card that is overdue was refused.
	if p.Status == "OVERDUE" && n.Method != gateway.MethodCard {
		n.Status = gateway.PaymentPending
	}
	if p.Deleted && n.Status != gateway.PaymentSettled {
		n.Status = gateway.PaymentGone
	}
	if n.Status == gateway.PaymentSettled {
		n.SettledAt = firstDate(zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	}
	return n
}

func firstDate(zone *time.Location, dates ...date) *time.Time {
	for _, d := range dates {
		if t := d.in(zone); t != nil {
			return t
		}
	}
	return nil
}

// reference is the local id that was told, "" when it is none of ours.
func reference(external *string) objectid.ID {
	if external == nil {
		return ""
	}
	id, err := objectid.Parse(*external)
	if err != nil {
		return ""
	}
	return id
}

// settledAt is the event's own instant when it is of the day on which the
// payment says that it was made, since that day has no time; else the day.
func (g *client) settledAt(p *payment, eventAt time.Time) *time.Time {
	paid := firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	if eventAt.IsZero() {
		return paid
	}
	if paid == nil || day(*paid, g.cfg.Zone) == day(eventAt, g.cfg.Zone) {
		return &eventAt
	}
	return paid
}

// asOfNow is a payment that was read. Money that came today came now: its day has no
// time, and a period that is paid would begin with the day.
func (g *client) asOfNow(p *payment) gateway.Payment {
	n := p.neutral(g.cfg.Zone)
	if n.Status == gateway.PaymentSettled {
		n.SettledAt = g.settledAt(p, g.cfg.Clock.Now())
	}
	return n
}

func idOf(raw json.RawMessage) ref {
	var id ref
	if len(raw) > 0 {
		_ = id.UnmarshalJSON(raw)
	}
	return id
}

func firstID(ids ...ref) string {
	for _, id := range ids {
		if id != "" {
			return string(id)
		}
	}
	return ""
}
