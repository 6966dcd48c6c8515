package lifecycle

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Queries are the module's statements (sql/subscriptions), and where a row becomes what rules are asked of: a
// Subscription, a Debit, a RenewalCharge, a Plan. An error but pgx.ErrNoRows is the database's. The zero value is
// ready.
type Queries struct{ subscriptionsdb.Queries }

// one makes a read row a Subscription; its error stays.
func one(r subscriptionsdb.Subscription, err error) (Subscription, error) {
	return Subscription(r), err
}

// all makes read rows Subscriptions; their error stays.
func all(rows []subscriptionsdb.Subscription, err error) ([]Subscription, error) {
	subs := make([]Subscription, len(rows))
	for i, r := range rows {
		subs[i] = Subscription(r)
	}
	return subs, err
}

// debits makes read rows Debits; their error stays.
func debits(rows []subscriptionsdb.Debit, err error) ([]Debit, error) {
	found := make([]Debit, len(rows))
	for i, r := range rows {
		found[i] = Debit(r)
	}
	return found, err
}

// PauseListDisputed lists the suspended subscriptions with a chargeback: first those without a pause. None is
// no error; an error is the database's.
func (q *Queries) PauseListDisputed(ctx context.Context, db postgres.DB) ([]Subscription, error) {
	return all(q.Queries.PauseListDisputed(ctx, db))
}

// PauseListUnsuspended lists the active subscriptions which followed, by renewals, one with a chargeback that does not
// hold them. None is no error; an error is the database's.
func (q *Queries) PauseListUnsuspended(ctx context.Context, db postgres.DB) ([]Subscription, error) {
	return all(q.Queries.PauseListUnsuspended(ctx, db))
}

// SubscriptionCheckAbsent says what a subscription and its ledger have nothing of that an event about a payment of it
// may need. There is always a row; an error is the database's.
func (q *Queries) SubscriptionCheckAbsent(ctx context.Context, db postgres.DB, sub Subscription, paymentID string,
	e gateway.Event,
) (subscriptionsdb.SubscriptionCheckAbsentRow, error) {
	return q.Queries.SubscriptionCheckAbsent(ctx, db, subscriptionsdb.SubscriptionCheckAbsentParams{
		Gateway: string(e.Gateway), PaymentID: paymentID, SubscriptionID: sub.ID, CustomerID: sub.CustomerID,
		Reference: e.Reference.String(), Since: e.CreatedAt,
	})
}

// Located is a locked subscription that an event is about, whose place it has.
type Located struct {
	Place        int
	Subscription Subscription
	Absent       subscriptionsdb.SubscriptionCheckAbsentRow // as of SubscriptionCheckAbsent
}

// SubscriptionLockMany locks the customers of gateway B's recurrences that events name, and then the subscriptions,
// without those that somebody else holds, and without those of deleted customers. None: an empty list. An error is the
// database's.
func (q *Queries) SubscriptionLockMany(ctx context.Context, db postgres.DB, events []gateway.Event) ([]Located, error) {
	p := subscriptionsdb.SubscriptionLockManyByGWBIDParams{}
	for place, e := range events {
		p.Places = append(p.Places, int32(place)) //nolint:gosec // a batch is small
		p.GwbSubscriptionIds = append(p.GwbSubscriptionIds, e.SubscriptionID)
		p.PaymentIds, p.Refs = append(p.PaymentIds, e.PaymentID()), append(p.Refs, e.Reference.String())
		p.Sinces = append(p.Sinces, e.CreatedAt)
	}
	rows, err := q.SubscriptionLockManyByGWBID(ctx, db, p)
	if err != nil {
		return nil, err
	}
	all := make([]Located, len(rows))
	for i, r := range rows {
		all[i] = Located{
			Place: int(r.Place), Subscription: Subscription(r.Subscription),
			Absent: subscriptionsdb.SubscriptionCheckAbsentRow{
				Payment: r.Payment, Others: r.Others, Failures: r.Failures, Charge: r.Charge, Pauses: r.Pauses,
				ChargeMoves: r.ChargeMoves, Deletion: true, // or the customer would not be held
			},
		}
	}
	return all, nil
}

// SubscriptionGet reads a subscription. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGet(ctx context.Context, db postgres.DB, id objectid.ID) (Subscription, error) {
	return one(q.Queries.SubscriptionGet(ctx, db, id))
}

// SubscriptionGetByAuthorization reads the subscription of an automatic PIX's authorization. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetByAuthorization(ctx context.Context, db postgres.DB,
	gwaPixAuthID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByAuthorization(ctx, db, gwaPixAuthID))
}

// SubscriptionGetByConciliation reads the subscription of a conciliation id. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetByConciliation(ctx context.Context, db postgres.DB,
	pixConciliationID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByConciliation(ctx, db, pixConciliationID))
}

// SubscriptionGetByGWAID reads the subscription of a recurrence at gateway A. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetByGWAID(ctx context.Context, db postgres.DB,
	gwaSubscriptionID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByGWAID(ctx, db, gwaSubscriptionID))
}

// SubscriptionGetByGWBID reads the subscription of a recurrence at gateway B. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetByGWBID(ctx context.Context, db postgres.DB,
	gwbSubscriptionID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByGWBID(ctx, db, gwbSubscriptionID))
}

// SubscriptionGetByPixPayment reads the subscription of a first PIX payment. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetByPixPayment(ctx context.Context, db postgres.DB, gw gateway.Name,
	paymentID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetByPixPayment(ctx, db, gw, paymentID))
}

// SubscriptionGetLastRenewal reads the subscription, or that of those which followed it by renewals that goes on.
// None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetLastRenewal(ctx context.Context, db postgres.DB,
	id objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetLastRenewal(ctx, db, id))
}

// SubscriptionGetLatestBegun reads the customer's last subscription that has begun. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetLatestBegun(ctx context.Context, db postgres.DB,
	customerID objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetLatestBegun(ctx, db, customerID))
}

// SubscriptionGetLive reads a customer's live subscription; a renewal that waits stands behind the one that it renews.
// None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetLive(ctx context.Context, db postgres.DB,
	customerID objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetLive(ctx, db, customerID))
}

// SubscriptionGetOfGatewayCustomer reads the newest subscription of a gateway's customer. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetOfGatewayCustomer(ctx context.Context, db postgres.DB, gw gateway.Name,
	customerID string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetOfGatewayCustomer(ctx, db, gw, customerID))
}

// SubscriptionGetWaitingRenewal reads the customer's renewal that waits for the gateway to take its card. None:
// pgx.ErrNoRows.
func (q *Queries) SubscriptionGetWaitingRenewal(ctx context.Context, db postgres.DB,
	customerID objectid.ID,
) (Subscription, error) {
	return one(q.Queries.SubscriptionGetWaitingRenewal(ctx, db, customerID))
}

// SubscriptionListOverdue lists the live recurrences whose period has ended without news. None is no error; an error is
// the database's.
func (q *Queries) SubscriptionListOverdue(ctx context.Context, db postgres.DB, since, before time.Time,
	most int32,
) ([]Subscription, error) {
	return all(q.Queries.SubscriptionListOverdue(ctx, db,
		subscriptionsdb.SubscriptionListOverdueParams{Since: &since, Before: &before, Most: most}))
}

// SubscriptionListRenewals lists the subscription and all that it followed by renewals, newest first. An unknown one is
// an empty list and no error; an error is the database's.
func (q *Queries) SubscriptionListRenewals(ctx context.Context, db postgres.DB,
	id objectid.ID,
) ([]Subscription, error) {
	return all(q.Queries.SubscriptionListRenewals(ctx, db, id))
}

// SubscriptionLock locks a subscription. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionLock(ctx context.Context, db postgres.DB, id objectid.ID) (Subscription, error) {
	return one(q.Queries.SubscriptionLock(ctx, db, id))
}

// SubscriptionLockByGWAID locks the customer of a recurrence at gateway A, who may be deleted, and then the
// subscription. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionLockByGWAID(ctx context.Context, db postgres.DB,
	gwaSubscriptionID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionLockByGWAID(ctx, db, gwaSubscriptionID))
}

// SubscriptionLockByGWBID is SubscriptionLockByGWAID for gateway B. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionLockByGWBID(ctx context.Context, db postgres.DB,
	gwbSubscriptionID *string,
) (Subscription, error) {
	return one(q.Queries.SubscriptionLockByGWBID(ctx, db, gwbSubscriptionID))
}

// SubscriptionLockRenewals locks what followed the subscription by renewals, oldest first. None is no error; an error
// is the database's.
func (q *Queries) SubscriptionLockRenewals(ctx context.Context, db postgres.DB,
	id objectid.ID,
) ([]Subscription, error) {
	return all(q.Queries.SubscriptionLockRenewals(ctx, db, id))
}

// DebitClaim writes the debit of a cycle, or takes up one that nobody has ordered: none when somebody
// has, or has just set about it. None is pgx.ErrNoRows.
func (q *Queries) DebitClaim(ctx context.Context, db postgres.DB, arg subscriptionsdb.DebitClaimParams) (Debit, error) {
	r, err := q.Queries.DebitClaim(ctx, db, arg)
	return Debit(r), err
}

// DebitGet reads the debit of a cycle. None: pgx.ErrNoRows.
func (q *Queries) DebitGet(ctx context.Context, db postgres.DB, id objectid.ID, cycle pgtype.Date) (Debit, error) {
	r, err := q.Queries.DebitGet(ctx, db, id, cycle)
	return Debit(r), err
}

// DebitGetByPayment reads the debit that a payment pays. None: pgx.ErrNoRows.
func (q *Queries) DebitGetByPayment(ctx context.Context, db postgres.DB, paymentID *string) (Debit, error) {
	r, err := q.Queries.DebitGetByPayment(ctx, db, paymentID)
	return Debit(r), err
}

// DebitGetFailed reads the last debit that failed and is not paid. None: pgx.ErrNoRows.
func (q *Queries) DebitGetFailed(ctx context.Context, db postgres.DB, id objectid.ID,
	passedOver *string,
) (Debit, error) {
	r, err := q.Queries.DebitGetFailed(ctx, db, id, passedOver)
	return Debit(r), err
}

// DebitListSince lists the debits of the cycles from a day on. None is no error; an error is the database's.
func (q *Queries) DebitListSince(ctx context.Context, db postgres.DB, id objectid.ID,
	since pgtype.Date,
) ([]Debit, error) {
	return debits(q.Queries.DebitListSince(ctx, db, id, since))
}

// DebitListUnpaid lists the debits that nobody has paid. None is no error; an error is the database's.
func (q *Queries) DebitListUnpaid(ctx context.Context, db postgres.DB, id objectid.ID) ([]Debit, error) {
	return debits(q.Queries.DebitListUnpaid(ctx, db, id))
}

// PlanFind reads a plan by its id or its plan_id. None: pgx.ErrNoRows.
func (q *Queries) PlanFind(ctx context.Context, db postgres.DB, key string) (Plan, error) {
	r, err := q.Queries.PlanFind(ctx, db, key)
	return Plan(r), err
}

// PlanGetByPlanID reads a plan. None: pgx.ErrNoRows.
func (q *Queries) PlanGetByPlanID(ctx context.Context, db postgres.DB, planID string) (Plan, error) {
	r, err := q.Queries.PlanGetByPlanID(ctx, db, planID)
	return Plan(r), err
}

// RenewalChargeFind reads the renewal charge that an event is about, by our own id or the payment's. None:
// pgx.ErrNoRows.
func (q *Queries) RenewalChargeFind(ctx context.Context, db postgres.DB, e gateway.Event) (RenewalCharge, error) {
	r, err := q.Queries.RenewalChargeFind(ctx, db, subscriptionsdb.RenewalChargeFindParams{
		ID: e.Reference, Gateway: e.Gateway, GatewayPaymentID: nullable.Ptr(e.PaymentID()),
	})
	return RenewalCharge(r), err
}

// RenewalChargeGet reads a renewal charge. None: pgx.ErrNoRows.
func (q *Queries) RenewalChargeGet(ctx context.Context, db postgres.DB, id objectid.ID) (RenewalCharge, error) {
	r, err := q.Queries.RenewalChargeGet(ctx, db, id)
	return RenewalCharge(r), err
}

// RenewalChargeGetByPayment reads the renewal charge that a payment pays. None: pgx.ErrNoRows.
func (q *Queries) RenewalChargeGetByPayment(ctx context.Context, db postgres.DB,
	gw gateway.Name, paymentID *string,
) (RenewalCharge, error) {
	r, err := q.Queries.RenewalChargeGetByPayment(ctx, db, gw, paymentID)
	return RenewalCharge(r), err
}

// RenewalChargeGetOpen reads the renewal charge of a subscription that is open. None: pgx.ErrNoRows.
func (q *Queries) RenewalChargeGetOpen(ctx context.Context, db postgres.DB, id objectid.ID) (RenewalCharge, error) {
	r, err := q.Queries.RenewalChargeGetOpen(ctx, db, id)
	return RenewalCharge(r), err
}

// RenewalChargeGetOpenOf reads that of a cycle. None: pgx.ErrNoRows.
func (q *Queries) RenewalChargeGetOpenOf(ctx context.Context, db postgres.DB,
	id objectid.ID, cycle pgtype.Date,
) (RenewalCharge, error) {
	r, err := q.Queries.RenewalChargeGetOpenOf(ctx, db, id, cycle)
	return RenewalCharge(r), err
}

// RenewalChargeLock locks a renewal charge. None: pgx.ErrNoRows.
func (q *Queries) RenewalChargeLock(ctx context.Context, db postgres.DB, id objectid.ID) (RenewalCharge, error) {
	r, err := q.Queries.RenewalChargeLock(ctx, db, id)
	return RenewalCharge(r), err
}

// Deciding is the subscription that decides whether a customer may watch, with its last move.
type Deciding struct {
	Subscription Subscription
	Reason       state.Reason
	Source       state.Source
	MovedAt      time.Time
}

// SubscriptionGetDeciding reads the subscription that decides whether the customer may watch at an instant: the one
// that lets them, else a live one, else the last. None: pgx.ErrNoRows.
func (q *Queries) SubscriptionGetDeciding(ctx context.Context, db postgres.DB,
	customerID objectid.ID, at time.Time,
) (Deciding, error) {
	r, err := q.Queries.SubscriptionGetDeciding(ctx, db, customerID, at)
	return Deciding{
		Subscription: Subscription(r.Subscription), Reason: r.MoveReason, Source: r.MoveSource, MovedAt: r.MovedAt,
	}, err
}
