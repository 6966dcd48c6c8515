package tickets

import (
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/reconcile"
	"marquee/modules/tickets/refunds"
	"marquee/modules/tickets/webhooks"
)

// Base45Decode is for tests of what a door device does.
var Base45Decode = door.Base45Decode

// The rooms that tests of the whole call.

func (s *Service) Events() *events.Store            { return s.events }
func (s *Service) Reconcile() *reconcile.Reconciler { return s.reconcile }
func (s *Service) Webhooks() *webhooks.Applier      { return s.webhooks }
func (s *Service) Refunds() *refunds.Refunds        { return s.refunds }
