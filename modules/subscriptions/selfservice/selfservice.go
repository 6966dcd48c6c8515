package selfservice

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/charges"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/withdrawal"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Calls       *calls.Calls
	Plans       *plans.Plans
	Debits      *debits.Debits
	Disputes    *disputes.Disputes
	Settler     *settle.Settler
	Charges     *charges.Charges
	Recovery    *recovery.Recovery
	Reconciler  *reconcile.Reconciler
	Checkout    *checkout.Checkout
	Withdrawals *withdrawal.Withdrawals
}

// SelfService is what customers do with their own subscription.
type SelfService struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *SelfService {
	return &SelfService{deps: d}
}
