package payments

import (
	"maps"
	"slices"

	"marquee/modules/payments/intent"
	"marquee/modules/payments/reconcile"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/unapplied"
	"marquee/modules/payments/webhook"
)

// Hooks are all calls upward: what a module above is told and asked.
type Hooks struct {
	Appliers  []webhook.Applier         // asked in the order of Connect; the first that does not answer Unclaimed wins
	Together  webhook.GroupApplier      // nil: each event is applied alone; the last one counts
	Takers    []webhook.StrayMoneyTaker // asked in the same order for money that nobody claims
	Followers []refund.Follower         // all are told
	Extender  unapplied.Extender        // nil: none; the last one counts
	Intents   map[intent.Kind]intent.Checker
	Records   []reconcile.RecordReader // asked in the same order how a record stands, for what is written of repairs
}

// Connect adds a module's hooks to those of the modules before it. Not safe once the
// server runs.
func (s *Service) Connect(h Hooks) {
	s.hooks.Appliers = slices.Concat(s.hooks.Appliers, h.Appliers)
	s.hooks.Takers = slices.Concat(s.hooks.Takers, h.Takers)
	s.hooks.Records = slices.Concat(s.hooks.Records, h.Records)
	s.hooks.Followers = slices.Concat(s.hooks.Followers, h.Followers)
	if h.Extender != nil {
		s.hooks.Extender = h.Extender
	}
	if h.Together != nil {
		s.hooks.Together = h.Together
	}
	s.webhooks.Connect(s.hooks.Appliers, s.hooks.Together, s.hooks.Takers)
	s.refunds.Connect(s.hooks.Followers)
	s.unapplied.Connect(s.hooks.Extender)
	s.reconciler.Connect(s.hooks.Records)
	s.intents.Connect(intent.Hooks{Checkers: maps.Clone(h.Intents)})
}
