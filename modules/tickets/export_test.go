package tickets

import (
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/events"
)

// Base45Decode is for tests of what a door device does.
var Base45Decode = door.Base45Decode

// Events is the room.
func (s *Service) Events() *events.Store { return s.events }
