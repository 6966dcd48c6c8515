package subscriptions

import (
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
)

// accessSQL finds the active subscription of a customer. There is at most one
// live subscription a customer, and it is the one that his
// current_subscription_id names. The date is looked at itself, so that a late
// expiry job grants nothing.
const accessSQL = `SELECT EXISTS (
    SELECT 1 FROM subscriptions.subscriptions
    WHERE customer_id = $1 AND status = 'active' AND (expires_at IS NULL OR expires_at > $2))`

// QueueAccess asks, in the caller's batch, whether the customer may watch now
// (specification, Access rule for videos). Done is called while the batch's
// results are read.
func (s *Service) QueueAccess(b *pgx.Batch, customerID objectid.ID, now time.Time, done func(ok bool, err error)) {
	b.Queue(accessSQL, customerID, now).QueryRow(func(r pgx.Row) error {
		var ok bool
		err := r.Scan(&ok)
		done(ok, err)
		return err
	})
}
