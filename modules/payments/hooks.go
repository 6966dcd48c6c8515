package payments

import (
	"maps"

	"marquee/modules/payments/intent"
	"marquee/modules/payments/reconcile"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/unapplied"
	"marquee/modules/payments/webhook"
)

// Hooks are all calls upward: what a module above is told and asked. Any of them may be nil.
type Hooks struct {
	Applier  webhook.Applier         // asked in the order of Connect; the first that does not answer Unclaimed wins
	Together webhook.GroupApplier    // without one each event is applied alone; the last one counts
	Taker    webhook.StrayMoneyTaker // asked in the same order for money that nobody claims
	Follower refund.Follower         // all are told
	Extender unapplied.Extender      // the last one counts
	Intents  map[intent.Kind]intent.Checker
	Record   reconcile.RecordReader // asked in the same order how a record stands, for what is written of repairs
}

// connected are the hooks of all modules, in the order of Connect.
type connected struct {
	appliers  []webhook.Applier
	together  webhook.GroupApplier
	takers    []webhook.StrayMoneyTaker
	followers []refund.Follower
	extender  unapplied.Extender
	records   []reconcile.RecordReader
}

// Connect adds a module's hooks to those of the modules before it. Not safe once the
// server runs.
func (s *Service) Connect(h Hooks) {
	all := &s.connected
	if h.Applier != nil {
		all.appliers = append(all.appliers, h.Applier)
	}
	if h.Together != nil {
		all.together = h.Together
	}
	if h.Taker != nil {
		all.takers = append(all.takers, h.Taker)
	}
	if h.Follower != nil {
		all.followers = append(all.followers, h.Follower)
	}
	if h.Extender != nil {
		all.extender = h.Extender
	}
	if h.Record != nil {
		all.records = append(all.records, h.Record)
	}
	s.webhooks.Connect(all.appliers, all.together, all.takers)
	s.refunds.Connect(all.followers)
	s.unapplied.Connect(all.extender)
	s.reconciler.Connect(all.records)
	s.intents.Connect(intent.Hooks{Checkers: maps.Clone(h.Intents)})
}
