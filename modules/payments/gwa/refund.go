package gwa

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"time"
	"unicode/utf8"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// refund is one refund of a payment. The gateway gives it no id.
type refund struct {
	DateCreated date        `json:"dateCreated"`
	Status      string      `json:"status"`
	Value       money.Reais `json:"value"`
	Description string      `json:"description"`
}

type refundBody struct {
	Value       money.Reais `json:"value"`
	Description string      `json:"description"`
}

// maxReason leaves room for the mark in a description of 140 characters.
const maxReason = 100

// mark holds our refund's id in the description, the one field that comes back:
// so a repetition and the webhook know the refund.
var mark = regexp.MustCompile(`^(.*?) ?\[ref ([0-9a-f]{24})\]$`)

func marked(reason string, id objectid.ID) string {
	if utf8.RuneCountInString(reason) > maxReason {
		reason = string([]rune(reason)[:maxReason])
	}
	if reason == "" {
		return "[ref " + id.String() + "]"
	}
	return reason + " [ref " + id.String() + "]"
}

// unmarked takes a description apart; the id is "" when it is not ours.
func unmarked(description string) (reason string, id objectid.ID) {
	m := mark.FindStringSubmatch(description)
	if m == nil {
		return description, ""
	}
	return m[1], objectid.ID(m[2])
}

var refundStatuses = map[string]gateway.RefundStatus{
	"DONE":      gateway.RefundStatusDone,
	"CANCELLED": gateway.RefundStatusFailed,
}

// status is pending for all that is neither done nor cancelled.
func (r *refund) status() gateway.RefundStatus {
	if s, known := refundStatuses[r.Status]; known {
		return s
	}
	return gateway.RefundStatusPending
}

func (r *refund) at(zone *time.Location, otherwise time.Time) time.Time {
	if t := r.DateCreated.in(zone); t != nil {
		return *t
	}
	return otherwise
}

// report adds up what is done (docs/gateway-facts.md, A7): each event and answer repeats all
// refunds, those that are ours with our id. A payment that is refunded without a list is refunded in full, unless
// a chargeback took it.
func (p *payment) report(zone *time.Location, at time.Time) gateway.RefundReport {
	r := gateway.RefundReport{PaymentID: p.ID, HasTotal: true, At: at, Total: p.givenBack(), Listed: p.Refunds != nil}
	for i := range p.Refunds {
		one := &p.Refunds[i]
		reason, id := unmarked(one.Description)
		r.Singles = append(r.Singles, gateway.SingleRefund{
			RefundID: id, Amount: one.Value.Cents(), Status: one.status(), Reason: reason, At: one.at(zone, at),
		})
	}
	if len(p.Refunds) == 0 && p.Status == "REFUNDED" && p.Chargeback == nil {
		r.Total = p.Value.Cents()
	}
	return r
}

// givenBack is the sum of the refunds that are done.
func (p *payment) givenBack() (sum money.Cents) {
	for i := range p.Refunds {
		if p.Refunds[i].status() == gateway.RefundStatusDone {
			sum += p.Refunds[i].Value.Cents()
		}
	}
	return sum
}

// chargedBack reports whether a lost chargeback made the payment REFUNDED. One that
// was won leaves its object behind, so that refunds of the whole value say no.
func (p *payment) chargedBack() bool {
	return p.Status == "REFUNDED" && p.Chargeback != nil && p.givenBack() < p.Value.Cents()
}

func refundPath(payment string) string { return "/payments/" + url.PathEscape(payment) + "/refund" }

// Refund makes one call. An answer that does not show the refund is not known.
func (g *refunds) Refund(ctx context.Context, t gateway.RefundTerms) (gateway.RemoteRefund, error) {
	p, err := post(ctx, g.client,
		request{path: refundPath(t.Payment.PaymentID), timeout: g.cfg.CardTimeout, body: refundBody{
			Value: t.Amount.Reais(), Description: marked(t.Reason, t.RefundID),
		}}, func(p *payment) error { return p.check(t.Payment.PaymentID, "") })
	if err != nil {
		return gateway.RemoteRefund{}, err
	}
	if made := g.refundIn(p, t); made != nil {
		return *made, nil
	}
	return gateway.RemoteRefund{}, fmt.Errorf("%w: the answer does not show the refund", gateway.ErrOutcomeUnknown)
}

// FindRefund looks among the payment's refunds for ours.
func (g *refunds) FindRefund(ctx context.Context, t gateway.RefundTerms) (gateway.RemoteRefund, bool, error) {
	p, err := g.withRefunds(ctx, t.Payment.PaymentID)
	if err != nil {
		return gateway.RemoteRefund{}, false, err
	}
	if found := g.refundIn(p, t); found != nil {
		return *found, true, nil
	}
	return gateway.RemoteRefund{}, false, nil
}

// withRefunds reads a payment with the full list of its refunds.
func (g *client) withRefunds(ctx context.Context, id string) (*payment, error) {
	p, err := g.payment(ctx, id, "")
	if err != nil {
		return nil, err
	}
	p.Refunds = []refund{}
	err = each(ctx, g, "/payments/"+url.PathEscape(id)+"/refunds", nil, func(r *refund) bool {
		p.Refunds = append(p.Refunds, *r)
		return true
	})
	return p, err
}

// refundIn finds the refund that is ours by its mark. A gateway that did not
// keep the description leaves the amount and the time to go by.
func (g *refunds) refundIn(p *payment, t gateway.RefundTerms) *gateway.RemoteRefund {
	for i := range p.Refunds {
		if _, id := unmarked(p.Refunds[i].Description); id == t.RefundID {
			return new(g.remoteRefund(p, i, t.RefundID))
		}
	}
	for i := range p.Refunds {
		r := &p.Refunds[i]
		created := r.DateCreated.in(g.cfg.Zone)
		since := t.RequestedAt.Truncate(time.Second)
		if r.Description == "" && r.Value.Cents() == t.Amount && created != nil && !t.RequestedAt.IsZero() &&
			!created.Before(since) {
			return new(g.remoteRefund(p, i, t.RefundID))
		}
	}
	return nil
}

func (g *refunds) remoteRefund(p *payment, i int, id objectid.ID) gateway.RemoteRefund {
	now, r := g.cfg.Clock.Now(), &p.Refunds[i]
	report := p.report(g.cfg.Zone, now)
	reason, _ := unmarked(r.Description)
	report.Singles[i].RefundID = id
	response, _ := json.Marshal(map[string]any{ // plain values always marshal
		"id": p.ID, "status": p.Status, "value": p.Value, "billingType": p.BillingType,
		"refund": map[string]any{
			"status": r.Status, "value": r.Value, "dateCreated": string(r.DateCreated), "description": reason,
		},
	})
	return gateway.RemoteRefund{
		RefundID: id, Amount: r.Value.Cents(), Status: r.status(), NativeStatus: r.Status, Reason: reason,
		CreatedAt: r.at(g.cfg.Zone, now),
		Report:    report, Response: response,
	}
}

// ListRefunds lists them newest first.
func (g *refunds) ListRefunds(ctx context.Context, ref gateway.PaymentRef) ([]gateway.RemoteRefund, error) {
	p, err := g.withRefunds(ctx, ref.PaymentID)
	if err != nil {
		return nil, err
	}
	all := []gateway.RemoteRefund{}
	for i := len(p.Refunds) - 1; i >= 0; i-- { // the gateway lists the oldest first
		_, id := unmarked(p.Refunds[i].Description)
		all = append(all, g.remoteRefund(p, i, id))
	}
	return all, nil
}

// chargeback is a card holder's objection; a payment has one at most.
type chargeback struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// dispute reads the payment's chargeback, nil when there is none. The payment's
// own status tells how it stands.
func (p *payment) dispute(at time.Time) *gateway.DisputeReport {
	state, known := disputeStates[p.Status]
	if !known && p.Chargeback != nil {
		state, known = gateway.DisputeWon, true // it went back to CONFIRMED or RECEIVED
	}
	if !known || p.Status == "REFUNDED" && !p.chargedBack() {
		return nil
	}
	d := &gateway.DisputeReport{
		ID: p.ID, PaymentID: p.ID, Amount: p.Value.Cents(), State: state, NativeStatus: p.Status, OpenedAt: at, At: at,
	}
	if p.Chargeback != nil {
		d.Reason = p.Chargeback.Reason
	}
	return d
}

var disputeStates = map[string]gateway.DisputeState{
	"CHARGEBACK_REQUESTED":         gateway.DisputeOpen,
	"CHARGEBACK_DISPUTE":           gateway.DisputeOpen,
	"AWAITING_CHARGEBACK_REVERSAL": gateway.DisputeWon,
	"REFUNDED":                     gateway.DisputeLost,
}

// ListDisputes gives the payment's chargeback.
func (g *refunds) ListDisputes(ctx context.Context, ref gateway.PaymentRef) ([]gateway.DisputeReport, error) {
	p, err := g.payment(ctx, ref.PaymentID, "")
	if err != nil {
		return nil, err
	}
	d := p.dispute(g.cfg.Clock.Now())
	if d == nil {
		return []gateway.DisputeReport{}, nil
	}
	return []gateway.DisputeReport{*d}, nil
}

var refundEvents = meanings{
	read: map[string]reader{
		"PAYMENT_REFUNDED":           ofPayment((*events).readRefunded),
		"PAYMENT_PARTIALLY_REFUNDED": ofPayment((*events).readRefunded),
		"PAYMENT_REFUND_IN_PROGRESS": ofPayment(refundsOf(gateway.RefundStatusPending)),
		"PAYMENT_REFUND_DENIED":      ofPayment(refundsOf(gateway.RefundStatusFailed)),
	},
	confirmations: map[gateway.EventKind]confirmation{
		gateway.PaymentRefunded: (*events).confirmRefund,
		gateway.RefundPending:   (*events).confirmRefund,
		gateway.RefundFailed:    (*events).confirmRefund,
	},
}

// readRefunded reads all refunds of the payment, which every event repeats. What a
// lost chargeback took is no refund: the dispute tells it.
func (g *events) readRefunded(p *payment, e *gateway.Event) {
	if p.chargedBack() {
		g.disputed(p, e, gateway.DisputeLost)
		return
	}
	g.refunds(p, e, gateway.RefundStatusDone)
}

func refundsOf(status gateway.RefundStatus) func(*events, *payment, *gateway.Event) {
	return func(g *events, p *payment, e *gateway.Event) { g.refunds(p, e, status) }
}

func (g *events) refunds(p *payment, e *gateway.Event, status gateway.RefundStatus) {
	report := p.report(g.cfg.Zone, e.CreatedAt)
	report.EventID, report.Type = e.ID, e.Type
	e.Payload = gateway.RefundChange{Status: status, Report: report, Payment: g.asPaid(p)}
}

// confirmRefund reads the payment with its refunds, which may turn out to be a chargeback.
func (g *events) confirmRefund(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	reported, _ := e.Payload.(gateway.RefundChange)
	p, err := g.withRefunds(ctx, reported.Payment.ID)
	if err != nil {
		return e, err
	}
	live := g.live(p, e)
	if p.chargedBack() {
		g.disputed(p, &live, gateway.DisputeLost)
		return live, nil
	}
	report := p.report(g.cfg.Zone, e.CreatedAt)
	if len(report.Singles) == 0 && report.Total == 0 ||
		reported.Status == gateway.RefundStatusDone && report.Total < reported.Report.Total {
		return e, unconfirmed(p.Status)
	}
	g.refunds(p, &live, reported.Status)
	return live, nil
}

var disputeEvents = meanings{
	read: map[string]reader{
		"PAYMENT_CHARGEBACK_REQUESTED":         ofPayment(disputeIs(gateway.DisputeOpen)),
		"PAYMENT_CHARGEBACK_DISPUTE":           ofPayment(disputeIs(gateway.DisputeOpen)),
		"PAYMENT_AWAITING_CHARGEBACK_REVERSAL": ofPayment(disputeIs(gateway.DisputeWon)),
	},
	confirmations: map[gateway.EventKind]confirmation{
		gateway.DisputeOpened: (*events).confirmDispute,
		gateway.DisputeClosed: (*events).confirmDispute,
	},
}

// disputeIs takes the state from the event's type, which says more than the
// payment's status.
func disputeIs(state gateway.DisputeState) func(*events, *payment, *gateway.Event) {
	return func(g *events, p *payment, e *gateway.Event) { g.disputed(p, e, state) }
}

func (g *events) disputed(p *payment, e *gateway.Event, state gateway.DisputeState) {
	d := gateway.DisputeReport{
		ID: p.ID, PaymentID: p.ID, Amount: p.Value.Cents(), State: state, NativeStatus: p.Status, OpenedAt: e.CreatedAt,
		At: e.CreatedAt, EventID: e.ID,
	}
	if p.Chargeback != nil {
		d.Reason = p.Chargeback.Reason
	}
	e.Payload = gateway.DisputeChange{Report: d, Payment: g.asPaid(p)}
}

// confirmDispute reads the payment with its chargeback. A dispute that was told open may
// have been closed since; one that was told closed is not open.
func (g *events) confirmDispute(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	reported, _ := e.Payload.(gateway.DisputeChange)
	p, err := g.withRefunds(ctx, reported.Payment.ID)
	if err != nil {
		return e, err
	}
	state := gateway.DisputeLost
	if !p.chargedBack() {
		d := p.dispute(e.CreatedAt)
		won := p.Chargeback != nil && p.Status == "REFUNDED" // and refunded since
		if d == nil && !won {
			return e, unconfirmed(p.Status)
		}
		state = gateway.DisputeWon
		if d != nil {
			state = d.State
		}
	}
	if reported.Report.State.Closed() && !state.Closed() {
		return e, unconfirmed(p.Status)
	}
	live := g.live(p, e)
	g.disputed(p, &live, state)
	return live, nil
}

// asPaid tells of a payment that was taken back also when it was paid, which its status
// says no more.
func (g *events) asPaid(p *payment) gateway.Payment {
	n := p.neutral(g.cfg.Zone)
	n.SettledAt = firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	return n
}
