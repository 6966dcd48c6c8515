package lifecycle

import (
	"marquee/modules/payments/gateway"
	"marquee/platform/money"
)

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
	*customer = Filled(id)
	return r.GwaCustomerID, r.GwbCustomerID
}

// RemoteCustomer is the payer's id at the subscription's gateway, "" while it is not known.
func RemoteCustomer(sub Row) string {
	_, customer := idColumns(&sub)
	return Text(*customer)
}

// LearnRecurrence keeps the gateway's id of the subscription.
func LearnRecurrence(r *Row, id string) {
	subscription, _ := idColumns(r)
	Learn(subscription, id)
}

// LeastPix is the smallest amount that can be paid by a PIX code.
func LeastPix(gw gateway.Name) money.Cents {
	return max(gw.Traits().LeastPix, gw.Traits().LeastCharge)
}
