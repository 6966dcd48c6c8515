package intent

import "context"

// What the tests of this package check by, as Operation and Repeat do.
type (
	Check   = check
	Finding = finding
)

const (
	Settled    = settled
	Waiting    = waiting
	NotThere   = notThere
	FoundAgain = foundAgain
)

func NewChecker(check func(context.Context, *Check) (Finding, error), wasFound bool) Checker {
	return Checker{check: check, wasFound: wasFound}
}

func (c *Check) Proved() bool                        { return c.proved }
func (c *Check) CallAgain(ctx context.Context) error { return c.callAgain(ctx) }
