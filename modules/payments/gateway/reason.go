package gateway

import "strings"

// Reason says why an event changed nothing, or nothing yet: the text that the webhook's log
// and its answer show. All are listed here, and told in docs/gateways.md.
type Reason string

// Of any event.
const (
	ReasonNoConsequence          Reason = "no consequence"
	ReasonUnreadable             Reason = "not an event that can be read"
	ReasonImpossible             Reason = "not an event that can be applied"
	ReasonClockSkew              Reason = "clock_skew"
	ReasonUnknownSubject         Reason = "unknown subject"
	ReasonNamesLost              Reason = "it names an id of ours that is not known here"
	ReasonUnconfirmed            Reason = "the gateway does not show what the event tells"
	ReasonToConfirm              Reason = "the gateway is asked for it first"
	ReasonToConfirmPayment       Reason = "the gateway is asked for the payment first"
	ReasonToConfirmRecurrence    Reason = "the gateway is asked for the recurrence first"
	ReasonToConfirmAuthorization Reason = "the gateway is asked for the authorization first"
	ReasonToConfirmInvoice       Reason = "it names nothing: the gateway is asked whether an invoice is behind it"
	ReasonToConfirmAgain         Reason = "the gateway does not find it, and is asked again in an hour"
	ReasonStrayMoney             Reason = "money of a customer of ours that is of no subscription: it is read live, then listed"
	ReasonNamedMoney             Reason = "money that names an id of ours which is not known here: it is read live, then listed"
)

// Of subscriptions.
const (
	ReasonEnded              Reason = "the subscription has ended"
	ReasonOlder              Reason = "older than what is known"
	ReasonOlderPayment       Reason = "older than a failure that counts: booked alone"
	ReasonOthersPayment      Reason = "the payment is booked for something else"
	ReasonOtherGateway       Reason = "the subscription is of the other gateway"
	ReasonNotBooked          Reason = "its payment is not booked yet"
	ReasonOtherAuthorization Reason = "an identifier of another authorization"
	ReasonOtherContract      Reason = "a contract of another subscription"
	ReasonOtherRecurrence    Reason = "another recurrence than the subscription's"
	ReasonRecurrenceUnknown  Reason = "the recurrence is not known here yet"
	ReasonOtherSubscription  Reason = "an identifier of another subscription"
	ReasonUnknownStatus      Reason = "a status without meaning here"
	ReasonRecurrenceEnds     Reason = "its recurrence is to end: nothing is owed"
	ReasonRecurrenceStopped  Reason = "the recurrence was stopped: nothing is owed"
	ReasonCodeUnpaid         Reason = "a code that nobody paid is no failure"
	ReasonFirstFailed        Reason = "a first payment does not count as a failure in a row"
	ReasonPaidSince          Reason = "it has been paid since"
	ReasonExtended           Reason = "an extension gives the time that it would pay: nothing is owed"
	ReasonNotAwaited         Reason = "the subscription does not wait for it"
	ReasonOtherAwaited       Reason = "the subscription waits for another payment"
	ReasonPaused             Reason = "collection is paused"
	ReasonNoDate             Reason = "no date in the event"
	ReasonDayKnown           Reason = "the day is known"
	ReasonEndKnown           Reason = "its end at the gateway is known"
	ReasonSuspendedByDispute Reason = "suspended by a dispute"
	ReasonSuspendedByAdmin   Reason = "suspended by an admin"
	ReasonUnapplied          Reason = "of money that gave nobody anything"
)

// Of orders.
const (
	ReasonOrderNotOpen        Reason = "the order waits for no payment"
	ReasonOrderOtherPayment   Reason = "another payment of the order"
	ReasonOrderOtherGateway   Reason = "the order is of the other gateway"
	ReasonDeletedOtherGateway Reason = "the order was of the other gateway"
	ReasonOrderPart           Reason = "a part of the order's money is back: which tickets it is of is not known, so that it stands on the list of unapplied payments"
	ReasonOrderDeleted        Reason = "the order was deleted with its event"
)

// Reasons are all of them in the order of docs/gateways.md, with what each means.
var Reasons = []struct {
	Reason Reason
	Means  string
}{
	{
		ReasonNoConsequence,
		"The event changes nothing here: its type means nothing, it is the echo of one of our calls, or what it reports is so already.",
	},
	{ReasonUnreadable, "The body is no event object, or has no id or no type. It is only logged."},
	{
		ReasonImpossible,
		"It reports what no ledger holds, such as a negative amount, named after a colon. It is only logged.",
	},
	{
		ReasonClockSkew,
		"A right signature, made 5 minutes to 24 hours before or after our time: the call is refused, and its log says so.",
	},
	{
		ReasonUnknownSubject,
		"It is about no subscription, order or payment here. It waits, and is applied once there is one.",
	},
	{
		ReasonNamesLost,
		"It names a row that was committed before the gateway was told of it: the restore of a database has lost it. It waits.",
	},
	{ReasonUnconfirmed, "The gateway was asked, as often as its answers may lag, and shows something else."},
	{ReasonToConfirm, "Nothing but the event says so, and nothing signs it: a job reads what it is about."},
	{ReasonToConfirmPayment, "As before, of money: a job reads the payment."},
	{ReasonToConfirmRecurrence, "As before, of a recurrence: a job reads it."},
	{ReasonToConfirmAuthorization, "As before, of an automatic PIX: a job reads it."},
	{ReasonToConfirmInvoice, "Money of one of our customers at gateway B: an invoice would itself say what it is for."},
	{ReasonToConfirmAgain, "One look that finds nothing proves nothing."},
	{ReasonStrayMoney, "It is booked for the customer and stands on the list of unapplied payments."},
	{ReasonNamedMoney, "As before, of a row that a restore has lost."},
	{ReasonEnded, "Nothing opens it again but money that is its own."},
	{ReasonOlder, "A newer report of the gateway has been applied."},
	{ReasonOlderPayment, "An invoice that was paid before another one failed says nothing of that one."},
	{ReasonOthersPayment, "It pays only that, whoever reports it."},
	{ReasonOtherGateway, "The event names a subscription that its gateway does not charge."},
	{ReasonNotBooked, "A refund or a dispute overtook the payment. It waits."},
	{ReasonOtherAuthorization, "The subscription has another automatic PIX; money of it is listed."},
	{ReasonOtherContract, "The authorization names another subscription than the one that has its id."},
	{ReasonOtherRecurrence, "The subscription was charged once more: the money is listed, and the recurrence ended."},
	{ReasonRecurrenceUnknown, "The answer to the call that made it is not settled. It waits."},
	{ReasonOtherSubscription, "Another subscription has the id that the event tells."},
	{ReasonUnknownStatus, "The gateway's status is in none of our tables."},
	{ReasonRecurrenceEnds, "The subscription was cancelled, and the gateway has not ended it yet."},
	{ReasonRecurrenceStopped, "It was stopped here, and its charges are not owed."},
	{ReasonCodeUnpaid, "A PIX that runs out is no attempt to pay ([the contract](contract/figures.md#attempts))."},
	{ReasonFirstFailed, "The answer to the customer said so."},
	{ReasonPaidSince, "A failure of what is paid by now."},
	{ReasonExtended, "Its period was given by an admin."},
	{ReasonNotAwaited, "Only a subscription that waits for its code can lose it."},
	{ReasonOtherAwaited, "Another code of the subscription was lost."},
	{ReasonPaused, "The echo of our own pause."},
	{ReasonNoDate, "A recurrence was changed, and the event does not say to which day."},
	{ReasonDayKnown, "The event reports the day that is known here."},
	{ReasonEndKnown, "The recurrence was seen to have ended."},
	{ReasonSuspendedByDispute, "That a recurrence runs opens nothing while its money is disputed."},
	{ReasonSuspendedByAdmin, "That a recurrence runs opens nothing that an admin closed."},
	{ReasonUnapplied, "The disputed payment stands on the list of unapplied payments."},
	{ReasonOrderNotOpen, "It is paid or given back already."},
	{ReasonOrderOtherPayment, "The order waits for another one."},
	{ReasonOrderOtherGateway, "The event names an order that its gateway does not charge; money of it is listed."},
	{ReasonDeletedOtherGateway, "As before, of an order that was deleted."},
	{ReasonOrderPart, "A refund that nobody here asked for: people decide. The event is applied anyway."},
	{ReasonOrderDeleted, "Money that comes for it is booked and given back."},
}

// With is the reason with what it is about: only ReasonImpossible is told so.
func (r Reason) With(detail string) Reason { return r + ": " + Reason(detail) }

// Listed is the reason without what it is about, as Reasons has it.
func (r Reason) Listed() Reason {
	if strings.HasPrefix(string(r), string(ReasonImpossible)) {
		return ReasonImpossible
	}
	return r
}
