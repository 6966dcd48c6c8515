package payments

import (
	"marquee/modules/payments/refund"
	"marquee/modules/payments/unapplied"
	"marquee/modules/payments/webhook"
)

// Hooks are the calls upward: who of the modules above is told what.
type Hooks struct {
	Appliers  []webhook.Applier         // asked in this order; the first that does not answer Unclaimed wins
	Takers    []webhook.StrayMoneyTaker // asked in this order for money that nobody claims
	Followers []refund.Follower
	Extender  unapplied.Extender // nil: no payment can lengthen anything
}

// Connect fills the hooks. Not safe once the server runs.
func (s *Service) Connect(h Hooks) {
	s.hooks = h
	s.webhooks.Connect(h.Appliers, h.Takers)
	s.refunds.Connect(h.Followers)
	s.unapplied.Connect(h.Extender)
}

// Register connects a module for all that it does, behind those that are registered. Not
// safe once the server runs.
func (s *Service) Register(a webhook.Applier) {
	h := s.hooks
	h.Appliers = append(h.Appliers, a)
	if t, ok := a.(webhook.StrayMoneyTaker); ok {
		h.Takers = append(h.Takers, t)
	}
	if f, ok := a.(refund.Follower); ok {
		h.Followers = append(h.Followers, f)
	}
	if e, ok := a.(unapplied.Extender); ok {
		h.Extender = e
	}
	s.Connect(h)
}
