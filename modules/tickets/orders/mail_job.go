package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// Templates of web/mail.
const (
	MailConfirmation = "ticket-confirmation"
	MailRefund       = "ticket-refund"
	MailPix          = "ticket-pix"          // the code that the answer to a purchase lacked
	MailNotOwed      = "ticket-nothing-owed" // the purchase came to nothing after its answer
)

// MailArgs is the job that writes to the buyer of an order. It names the order;
// the codes of its tickets are signed when the mail is written.
type MailArgs struct {
	OrderID  objectid.ID `json:"order_id"`
	Template string      `json:"template"`
}

// Kind names the job.
func (MailArgs) Kind() string { return "tickets_mail" }

// MailLaterTx has the buyer of an order written once the transaction is committed.
func (s *Store) MailLaterTx(ctx context.Context, tx pgx.Tx, orderID objectid.ID, template string) error {
	err := jobs.InsertLaterTx(ctx, s.deps.Jobs, tx, MailArgs{OrderID: orderID, Template: template},
		&river.InsertOpts{Queue: jobs.QueueMail})
	if err != nil {
		return fmt.Errorf("queue mail: %w", err)
	}
	return nil
}
