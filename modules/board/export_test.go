package board

import "marquee/platform/collection"

// Cards is the collection of cards, for tests that run its transactions by hand.
func (s *Service) Cards() *collection.Resource { return s.cards }
