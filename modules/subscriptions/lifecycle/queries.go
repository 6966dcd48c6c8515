package lifecycle

import (
	"context"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Queries are the module's statements (sql/subscriptions), and the one place where a row becomes a Subscription. The
// zero value is ready.
type Queries struct{ subscriptionsdb.Queries }

func one(r subscriptionsdb.Subscription, err error) (Subscription, error) {
	return Subscription(r), err
}

func all(rows []subscriptionsdb.Subscription, err error) ([]Subscription, error) {
	subs := make([]Subscription, len(rows))
	for i, r := range rows {
		subs[i] = Subscription(r)
	}
	return subs, err
}

// PauseListDisputed lists the suspended subscriptions with a chargeback: first those without a pause.
func (q *Queries) PauseListDisputed(ctx context.Context, db postgres.DB) ([]Subscription, error) {
	return all(q.Queries.PauseListDisputed(ctx, db))
}

// PauseListUnsuspended lists the active subscriptions which followed, by renewals, one with a chargeback that does not
// hold them.
func (q *Queries) PauseListUnsuspended(ctx context.Context, db postgres.DB) ([]Subscription, error) {
	return all(q.Queries.PauseListUnsuspended(ctx, db))
}

// SubscriptionGet reads a subscription.
func (q *Queries) SubscriptionGet(ctx context.Context, db postgres.DB, id objectid.ID) (Subscription, error) {
	return one(q.Queries.SubscriptionGet(ctx, db, id))
}

// SubscriptionGetByAuthorization reads the subscription of an automatic PIX's authorization.
func (q *Queries) SubscriptionGetByAuthorization(ctx context.Context, db postgres.DB,
	gwaPixAuthID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByAuthorization(ctx, db, gwaPixAuthID))
}

// SubscriptionGetByConciliation reads the subscription of a conciliation id.
func (q *Queries) SubscriptionGetByConciliation(ctx context.Context, db postgres.DB,
	pixConciliationID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByConciliation(ctx, db, pixConciliationID))
}

// SubscriptionGetByGWAID reads the subscription of a recurrence at gateway A.
func (q *Queries) SubscriptionGetByGWAID(ctx context.Context, db postgres.DB,
	gwaSubscriptionID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByGWAID(ctx, db, gwaSubscriptionID))
}

// SubscriptionGetByGWBID reads the subscription of a recurrence at gateway B.
func (q *Queries) SubscriptionGetByGWBID(ctx context.Context, db postgres.DB,
	gwbSubscriptionID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByGWBID(ctx, db, gwbSubscriptionID))
}

// SubscriptionGetByPixPayment reads the subscription of a first PIX payment.
func (q *Queries) SubscriptionGetByPixPayment(ctx context.Context, db postgres.DB,
	arg subscriptionsdb.SubscriptionGetByPixPaymentParams,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByPixPayment(ctx, db, arg))
}

// SubscriptionGetLastRenewal reads the subscription, or that of those which followed it by renewals that goes on.
func (q *Queries) SubscriptionGetLastRenewal(ctx context.Context, db postgres.DB,
	id objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetLastRenewal(ctx, db, id))
}

// SubscriptionGetLatestBegun reads the customer's last subscription that has begun.
func (q *Queries) SubscriptionGetLatestBegun(ctx context.Context, db postgres.DB,
	customerID objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetLatestBegun(ctx, db, customerID))
}

// SubscriptionGetLive reads a customer's live subscription; a renewal that waits stands behind the one that it renews.
func (q *Queries) SubscriptionGetLive(ctx context.Context, db postgres.DB,
	customerID objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetLive(ctx, db, customerID))
}

// SubscriptionGetOfGatewayCustomer reads the newest subscription of a gateway's customer.
func (q *Queries) SubscriptionGetOfGatewayCustomer(ctx context.Context, db postgres.DB,
	arg subscriptionsdb.SubscriptionGetOfGatewayCustomerParams,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetOfGatewayCustomer(ctx, db, arg))
}

// SubscriptionGetWaitingRenewal reads the customer's renewal that waits for the gateway to take its card.
func (q *Queries) SubscriptionGetWaitingRenewal(ctx context.Context, db postgres.DB,
	customerID objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetWaitingRenewal(ctx, db, customerID))
}

// SubscriptionInsert inserts a pending subscription.
func (q *Queries) SubscriptionInsert(ctx context.Context, db postgres.DB,
	arg subscriptionsdb.SubscriptionInsertParams,
) (Subscription, error) {
	return one(q.Queries.SubscriptionInsert(ctx, db, arg))
}

// SubscriptionListOverdue lists the live recurrences whose period has ended without news.
func (q *Queries) SubscriptionListOverdue(ctx context.Context, db postgres.DB,
	arg subscriptionsdb.SubscriptionListOverdueParams,
) ([]Subscription, error) {
	return all(q.Queries.SubscriptionListOverdue(ctx, db, arg))
}

// SubscriptionListRenewals lists the subscription and all that it followed by renewals, newest first.
func (q *Queries) SubscriptionListRenewals(ctx context.Context, db postgres.DB,
	id objectid.ID,
) ([]Subscription, error) {
	return all(q.Queries.SubscriptionListRenewals(ctx, db, id))
}

// SubscriptionLock locks a subscription.
func (q *Queries) SubscriptionLock(ctx context.Context, db postgres.DB, id objectid.ID) (Subscription, error) {
	return one(q.Queries.SubscriptionLock(ctx, db, id))
}

// SubscriptionLockRenewals locks what followed the subscription by renewals, oldest first.
func (q *Queries) SubscriptionLockRenewals(ctx context.Context, db postgres.DB,
	id objectid.ID,
) ([]Subscription, error) {
	return all(q.Queries.SubscriptionLockRenewals(ctx, db, id))
}
