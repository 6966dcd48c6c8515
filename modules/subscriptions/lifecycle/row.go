package lifecycle

import (
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/nullable"
)

// Recurs reports whether a recurrence at the gateway charges the card of the row by
// itself, and goes on to.
func Recurs(sub Row) bool {
	return sub.PaymentMethod == gateway.MethodCard && RemoteID(sub) != "" && sub.GatewayDeletedAt == nil &&
		!Stopped(sub)
}

// PaysOnce reports whether each period is paid by a code of its own.
func PaysOnce(sub Row) bool {
	return sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic
}

// Collects reports whether something at a gateway charges a subscription by itself.
func Collects(sub Row) bool {
	return RemoteID(sub) != "" || sub.PixAutomatic && sub.GwaPixAuthID != nil
}

// debit and retry are an automatic PIX's debit of a cycle, and one day on which it is
// taken again, as the database holds them.
type (
	Debit = subscriptionsdb.SubscriptionsDebit
	Retry = subscriptionsdb.SubscriptionsDebitRetry
)

// HasNoRecurrence reports whether no recurrence charges the card of a row, now or when it
// is made.
func HasNoRecurrence(sub Row) bool {
	return sub.PaymentMethod == gateway.MethodCard &&
		(RemoteID(sub) == "" && !sub.IntentOpen || sub.GatewayDeletedAt != nil)
}

// HasNoAuthorization reports whether a row's automatic PIX has no authorization at the
// gateway, and none may still turn up there.
func HasNoAuthorization(sub Row) bool {
	return sub.PixAutomatic && (sub.GwaPixAuthID == nil && !sub.IntentOpen || sub.GatewayDeletedAt != nil)
}

// AuthorizationRef names the row's automatic PIX at gateway A.
func AuthorizationRef(sub Row) gateway.AuthorizationRef {
	return gateway.AuthorizationRef{
		ID: nullable.Value(sub.GwaPixAuthID), SubscriptionID: sub.ID,
		CustomerGatewayID: nullable.Value(sub.GwaCustomerID),
	}
}

// SetAuthorization keeps what the gateway tells of an authorization.
func SetAuthorization(r *Row, a *gateway.PixAuthorization) {
	if a == nil {
		return
	}
	SetOnce(&r.GwaPixAuthID, a.ID)
	SetOnce(&r.GwaCustomerID, a.CustomerID)
	SetOnce(&r.PixConciliationID, a.ConciliationID)
	SetOnce(&r.PixPayload, a.Payload)
	SetOnce(&r.PixImage, a.EncodedImage)
	if a.ExpiresAt != nil {
		r.PixExpiresAt = a.ExpiresAt
	}
}

// StandIn is the row as if it were in the state: what a customer is shown while
// the gateway is being asked.
func StandIn(sub Row, as state.Status) Row {
	sub.Status = as
	return sub
}

// Running reports whether a subscription at its gateway gives access.
func Running(status gateway.RemoteStatus) bool {
	return status == gateway.RemoteActive || status == gateway.RemoteTrialing
}

// IsMissing reports whether the error says that there is no such thing.
func IsMissing(err error) bool { return fault.Is(err, fault.KindNotFound) }

// RunsThere reports whether a subscription that has ended here is not known to have ended
// at its gateway.
func RunsThere(sub Row) bool {
	return sub.Status.Ended() && KnownAtGateway(sub) && sub.GatewayEndedAt == nil
}

func earlierOf(t, other time.Time) time.Time {
	if other.Before(t) {
		return other
	}
	return t
}

// Latest is the gateway's word where there is one.
func Latest(known, reported *time.Time) *time.Time {
	if reported != nil {
		return reported
	}
	return known
}

// Stopped reports whether we had the recurrence deleted, or will, so that nothing
// reported of its charges moves a date or counts.
func Stopped(sub Row) bool {
	return sub.CancelAtPeriodEnd && !TraitsOf(sub).EndsWithPeriod || EndsThere(sub)
}

// Stops reports whether something at gateway A, or at either when the subscription was
// opened again, would go on charging a subscription that ends with its paid time.
func Stops(sub Row) bool {
	if sub.Status.Ended() || sub.GatewayDeletedAt != nil {
		return false
	}
	runs := sub.GwaSubscriptionID != nil || sub.GwaPixAuthID != nil
	return sub.GatewayEndOpenSince != nil || runs && sub.CancelAtPeriodEnd && sub.ExpiresAt != nil
}

// daysBetween counts the days from one date to another, each as its own zone names it.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)).Hours() / 24)
}

// IsPendingRenewal reports whether the row is a renewal that stands beside the subscription that
// it will replace.
func IsPendingRenewal(sub Row) bool { return sub.Status == state.Pending && sub.RenewsID != nil }

// EndsThere reports whether what charged a living subscription has ended at the gateway,
// or was opened again while its end was not confirmed: nothing that it charges, or fails
// to charge, is owed.
func EndsThere(sub Row) bool {
	return !sub.Status.Ended() &&
		(sub.GatewayEndOpenSince != nil || sub.GatewayDeletedAt != nil && sub.ExpiresAt != nil)
}

// Resumable reports whether a subscription that was to end with its paid time can
// simply go on: gateway B takes the end back, and a period that was paid once has
// nothing that would have to be taken back. Gateway A cannot undo a deletion.
func Resumable(sub Row) bool {
	once := sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic
	return sub.Status == state.Active && sub.CancelAtPeriodEnd &&
		(once || TraitsOf(sub).EndsWithPeriod && !EndsThere(sub))
}

// StartsFree reports whether the first charge lies ahead: a trial, or a promo code
// that gives the first month away.
func StartsFree(sub Row) bool {
	return sub.TrialDays > 0 || sub.FirstAmountCents != nil && *sub.FirstAmountCents == 0
}

// LatestOf is the later instant; other may be nil.
func LatestOf(t time.Time, other *time.Time) time.Time {
	if other != nil && other.After(t) {
		return *other
	}
	return t
}

// SetPix keeps what the gateway tells of a PIX code.
func SetPix(r *Row, pix *gateway.PixCharge) {
	if pix == nil {
		return
	}
	SetOnce(&r.PixPaymentID, pix.Payment.ID)
	SetOnce(&r.PixPayload, pix.Payload)
	SetOnce(&r.PixImage, pix.EncodedImage)
	if pix.ExpiresAt != nil {
		r.PixExpiresAt = pix.ExpiresAt
	}
}

// TraitsOf are what the subscription's gateway does in a way of its own.
func TraitsOf(sub Row) gateway.Traits { return sub.Gateway.Traits() }

// idColumns are the columns that keep the row's ids at its gateway: each has its own, so
// that a row which moves to the other keeps both.
func idColumns(r *Row) (subscription, customer **string) {
	if r.Gateway == gateway.GWA {
		return &r.GwaSubscriptionID, &r.GwaCustomerID
	}
	return &r.GwbSubscriptionID, &r.GwbCustomerID
}

// CustomerColumns puts a payer's id in the column of their gateway; the other is nil.
func CustomerColumns(gw gateway.Name, id string) (atA, atB *string) {
	r := Row{Gateway: gw}
	_, customer := idColumns(&r)
	*customer = nullable.Ptr(id)
	return r.GwaCustomerID, r.GwbCustomerID
}

// RemoteCustomer is the payer's id at the subscription's gateway, "" while it is not known.
func RemoteCustomer(sub Row) string {
	_, customer := idColumns(&sub)
	return nullable.Value(*customer)
}

// SetRecurrence keeps the gateway's id of the subscription.
func SetRecurrence(r *Row, id string) {
	subscription, _ := idColumns(r)
	SetOnce(subscription, id)
}

// RemoteID is the subscription's id at its gateway, "" while it is not known.
func RemoteID(sub Row) string {
	subscription, _ := idColumns(&sub)
	return nullable.Value(*subscription)
}

// RunningID is what runs, or ran, of the subscription at its gateway: recurrence,
// authorization or a code that could be paid. "" for a period that is paid.
func RunningID(sub Row) string {
	switch {
	case RemoteID(sub) != "":
		return RemoteID(sub)
	case sub.GwaPixAuthID != nil:
		return *sub.GwaPixAuthID
	case sub.LastPaymentAt == nil:
		return nullable.Value(sub.PixPaymentID)
	}
	return ""
}

// KnownAtGateway reports whether the gateway has something of the subscription.
func KnownAtGateway(sub Row) bool {
	return RemoteID(sub) != "" || sub.PixPaymentID != nil || sub.GwaPixAuthID != nil
}
