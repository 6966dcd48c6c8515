package orders

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// RefundArgs gives back money for which there is no place.
type RefundArgs struct {
	OrderID   objectid.ID `json:"order_id"`
	PaymentID string      `json:"payment_id"`
	// After is the refund whose failing asks for this one, "" for the first.
	After objectid.ID `json:"after,omitempty"`
}

// Kind names the job.
func (RefundArgs) Kind() string { return "tickets_refund" }

// RefundLaterTx has a payment given back once the transaction is committed, by one
// job however often it is asked for.
func (s *Store) RefundLaterTx(ctx context.Context, tx pgx.Tx, o Order, paymentID string) error {
	return s.insertRefundTx(ctx, tx, RefundArgs{OrderID: o.ID, PaymentID: paymentID}, river.UniqueOpts{ByArgs: true})
}

// insertRefundTx queues a refund: once, or by what unique says.
func (s *Store) insertRefundTx(ctx context.Context, tx pgx.Tx, args RefundArgs, unique river.UniqueOpts) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, args, &river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: unique})
}

// SharesArgs gives back again the shares of tickets whose refund failed after it was
// believed done.
type SharesArgs struct {
	OrderID   objectid.ID   `json:"order_id"`
	TicketIDs []objectid.ID `json:"ticket_ids"`
}

// Kind names the job.
func (SharesArgs) Kind() string { return "tickets_refund_shares" }
