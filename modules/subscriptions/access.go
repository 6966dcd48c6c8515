package subscriptions

import (
	"time"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// accessSQL finds the active subscription of a customer. There is at most one
// live subscription a customer, and it is the one that his
// current_subscription_id names. The date is looked at itself, so that a late
// expiry job grants nothing.
const accessSQL = `SELECT EXISTS (
    SELECT 1 FROM subscriptions.subscriptions
    WHERE customer_id = $1 AND status = 'active' AND (expires_at IS NULL OR expires_at > $2)) AS active`

// AccessPart asks, in a statement with others, whether the customer may watch now
// (specification, Access rule for videos). done is called once it is read.
func (s *Service) AccessPart(customerID objectid.ID, now time.Time, done func(active bool)) postgres.Part {
	var active bool
	return postgres.Part{SQL: accessSQL, Args: []any{customerID, now}, Targets: []any{&active}, Done: func() { done(active) }}
}
