package account

import (
	"bytes"
	"slices"
	"time"

	"marquee/testutil/sandbox/stage"
)

// firstEvent is where the sequence of event ids begins.
const firstEvent = 41870212

// Keys of the object in the envelope of an event (docs/gateway-facts.md, A10).
const (
	keyPayment      = "payment"
	keySubscription = "subscription"
	keyInstruction  = "paymentInstruction"
)

// Prefixes of the events of automatic PIX (docs/gateway-facts.md, A11).
const (
	authorizationEvents = "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_"
	instructionEvents   = "PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_"
)

func (l *Ledger) emitPayment(now time.Time, name string, p *Payment) {
	l.emit(now, name, keyPayment, l.PaymentView(p))
}

func (l *Ledger) emitSubscription(now time.Time, name string, sub *Subscription) {
	l.emit(now, name, keySubscription, sub.eventView(l.Settings.ISODatesInSubscriptionEvents))
}

func (l *Ledger) emitAuthorization(now time.Time, outcome string, a *Authorization) {
	l.emit(now, authorizationEvents+outcome, l.Settings.AuthorizationKey, a.View(Day.slashed, slashedTime))
}

func (l *Ledger) emitInstruction(now time.Time, outcome string, i *Instruction) {
	l.emit(now, instructionEvents+outcome, keyInstruction, i.View(Day.slashed))
}

// emit puts an event with the object as it is now into the outbox, unless no webhook wants its name.
func (l *Ledger) emit(now time.Time, name, key string, object any) {
	if !l.wanted(name) {
		return
	}
	id := eventID(name, l.next("event", firstEvent))
	l.outbox = append(l.outbox, stage.Event{ID: id, Type: name, Body: envelope(id, name, l.Account, now, key, object)})
}

// envelope is the body of an event: the object's key differs by kind, so that it is put in by hand.
func envelope(id, name, account string, now time.Time, key string, object any) []byte {
	var b bytes.Buffer
	part := func(before string, v any) {
		b.WriteString(before)
		b.Write(Encode(v))
	}
	part(`{"id":`, id)
	part(`,"event":`, name)
	part(`,"account":{"id":`, account)
	part(`,"ownerId":null},"dateCreated":`, ISOTime(now))
	part(`,`, key)
	part(`:`, object)
	b.WriteByte('}')
	return b.Bytes()
}

// eventNames are the names that the control for named events knows, by the kind of object.
var eventNames = map[string][]string{
	keyPayment: {
		"PAYMENT_CREATED", "PAYMENT_UPDATED", "PAYMENT_CONFIRMED", "PAYMENT_RECEIVED", "PAYMENT_OVERDUE",
		"PAYMENT_DELETED", "PAYMENT_RESTORED", "PAYMENT_REFUNDED", "PAYMENT_PARTIALLY_REFUNDED",
		"PAYMENT_REFUND_IN_PROGRESS", "PAYMENT_REFUND_DENIED", "PAYMENT_AUTHORIZED", "PAYMENT_AWAITING_RISK_ANALYSIS",
		"PAYMENT_APPROVED_BY_RISK_ANALYSIS", "PAYMENT_REPROVED_BY_RISK_ANALYSIS",
		"PAYMENT_CREDIT_CARD_CAPTURE_REFUSED", "PAYMENT_CHARGEBACK_REQUESTED", "PAYMENT_CHARGEBACK_DISPUTE",
		"PAYMENT_AWAITING_CHARGEBACK_REVERSAL", "PAYMENT_RECEIVED_IN_CASH_UNDONE", "PAYMENT_DUNNING_REQUESTED",
		"PAYMENT_DUNNING_RECEIVED", "PAYMENT_BANK_SLIP_VIEWED", "PAYMENT_CHECKOUT_VIEWED",
	},
	keySubscription: {
		"SUBSCRIPTION_CREATED", "SUBSCRIPTION_UPDATED", "SUBSCRIPTION_INACTIVATED", "SUBSCRIPTION_DELETED",
	},
	keyAuthorization: {
		authorizationEvents + "CREATED", authorizationEvents + "ACTIVATED", authorizationEvents + "CANCELLED",
		authorizationEvents + "REFUSED", authorizationEvents + "EXPIRED",
	},
	keyInstruction: {
		instructionEvents + "CREATED", instructionEvents + "SCHEDULED", instructionEvents + "REFUSED",
		instructionEvents + "CANCELLED",
	},
}

// SendNamed tells an event of this name for the object with this id as it stands, whether or not it happened. With a
// name that is not on the list the object's kind decides, so that unknown events can be tried.
func (l *Ledger) SendNamed(name, id string, now time.Time) *APIError {
	var kind string
	for k, names := range eventNames {
		if slices.Contains(names, name) {
			kind = k
		}
	}
	p, isPayment := l.Payments.Find(id)
	sub, isSubscription := l.Subscriptions.Find(id)
	a, isAuthorization := l.Authorizations.Find(id)
	i, isInstruction := l.Instructions.Find(id)
	fits := func(k string) bool { return kind == "" || kind == k }
	switch {
	case name == "":
		return ErrObject("an event needs a name")
	case isPayment && fits(keyPayment):
		l.emitPayment(now, name, p)
	case isSubscription && fits(keySubscription):
		l.emitSubscription(now, name, sub)
	case isAuthorization && fits(keyAuthorization):
		l.emit(now, name, l.Settings.AuthorizationKey, a.View(Day.slashed, slashedTime))
	case isInstruction && fits(keyInstruction):
		l.emit(now, name, keyInstruction, i.View(Day.slashed))
	default:
		return NotFound()
	}
	return nil
}
