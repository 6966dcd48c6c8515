package payments

import "marquee/modules/payments/unapplied"

// Types of unapplied.
type (
	AutomaticRefunds = unapplied.AutomaticRefunds
	Extender         = unapplied.Extender
	Extension        = unapplied.Extension
)
