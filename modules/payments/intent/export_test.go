package intent

import "context"

// What the tests of this package look by, as Operation and Repeated do.
type (
	Check        = statusCheck
	Looker       = looker
	CheckOutcome = outcome
)

const (
	Settled    = settled
	Waiting    = waiting
	NotThere   = notThere
	FoundAgain = foundAgain
)

func NewUser(l Looker, wasFound bool) User { return User{check: l, wasFound: wasFound} }

func (l *Check) Proved() bool                        { return l.proved }
func (l *Check) CallAgain(ctx context.Context) error { return l.callAgain(ctx) }

func (s *Service) NotKnown(ctx context.Context, r Ref, cause error) error {
	return s.notKnown(ctx, r, cause)
}
