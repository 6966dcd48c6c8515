package board

import "marquee/platform/resource"

// Cards is the collection of cards, for tests that run its transactions by hand.
func (s *Service) Cards() *resource.Resource { return s.cards }
