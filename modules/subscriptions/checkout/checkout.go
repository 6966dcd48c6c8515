package checkout

import (
	"context"

	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Settings lifecycle.Settings
	Calls    *calls.Calls
	Plans    *plans.Plans
	Settler  *settle.Settler
	Recovery *recovery.Recovery
}

// Checkout sells subscriptions.
type Checkout struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Checkout {
	return &Checkout{deps: d}
}

// Handlers are the room's operations.
type Handlers struct{ service *Checkout }

// Handlers returns the room's operations, for the module's list of routes.
func (s *Checkout) Handlers() Handlers { return Handlers{service: s} }

// Subscribe always refuses: the gateways have routes of their own
// (docs/contract/README.md, Versions).
func (Handlers) Subscribe(context.Context, *struct{}) (*httpapi.Output[struct{}], error) {
	return nil, &fault.Error{
		Kind:    fault.KindUnimplemented,
		Message: "Subscribe with POST /gwa/subscribe, POST /gwa/subscribe/pix or POST /gwb/subscribe.",
	}
}
