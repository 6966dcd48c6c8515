package lifecycle

import (
	"time"

	"marquee/platform/objectid"
)

// PauseArgs asks the gateway for a pause, or for its end.
type PauseArgs struct {
	PauseID objectid.ID `json:"pause_id"`
	At      time.Time   `json:"at"` // tells the tries of one pause apart
}

// Kind names the job.
func (PauseArgs) Kind() string { return "subscriptions_pause" }

// RenewalChargeArgs does what is due for an open renewal charge.
type RenewalChargeArgs struct {
	ChargeID objectid.ID `json:"charge_id"`
	At       time.Time   `json:"at"` // tells the looks at one charge apart
}

// Kind names the job.
func (RenewalChargeArgs) Kind() string { return "subscriptions_renewal_charge" }

// ExpireArgs ends access when expires_at is reached.
type ExpireArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (ExpireArgs) Kind() string { return "subscriptions_expire" }

// DropPixArgs gives up a PIX that nobody paid in time.
type DropPixArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (DropPixArgs) Kind() string { return "subscriptions_drop_pix" }

// DebitArgs orders the next debit of an automatic PIX.
type DebitArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (DebitArgs) Kind() string { return "subscriptions_debit" }

// EndArgs ends at the gateway what has ended here.
type EndArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	Told           bool        `json:"told,omitempty"` // the gateway said by an event that it has ended there: a look may be enough
}

// Kind names the job.
func (EndArgs) Kind() string { return "subscriptions_end_at_gateway" }

// AdoptAfter is when a row whose outcome is open has to have an intent of its own: the
// release before the schedule of looks makes rows without, and recovers by recovery_at,
// which lies so far ahead that it leaves the rows of this one alone.
const AdoptAfter = 10 * time.Minute

// StopArgs ends at gateway A a recurrence or authorization whose subscription goes
// on until the end of its paid time.
type StopArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
}

// Kind names the job.
func (StopArgs) Kind() string { return "subscriptions_stop_recurrence" }

// GiveBackArgs gives the money of a withdrawn subscription back.
type GiveBackArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
}

// Kind names the job.
func (GiveBackArgs) Kind() string { return "subscriptions_give_back" }
