package customers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// EraseCustomerArgs is the job that finishes a deletion. It is tried until the
// gateways have confirmed.
type EraseCustomerArgs struct {
	CustomerID objectid.ID `json:"customer_id"`
}

// Kind names the job.
func (EraseCustomerArgs) Kind() string { return "accounts_erase_customer" }

// InsertOpts: when the attempts are used up, which takes weeks, the hourly job
// begins anew.
func (EraseCustomerArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue: jobs.QueueGateway, MaxAttempts: 500,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.WaitingStates},
	}
}

type eraseWorker struct {
	river.WorkerDefaults[EraseCustomerArgs]
	s *Customers
}

// NewEraseWorker makes the worker that finishes deletions. Beside jobs.Handle it says when
// they are tried again.
func NewEraseWorker(s *Customers) river.Worker[EraseCustomerArgs] { return &eraseWorker{s: s} }

// Work stops the billing and erases the customer.
func (w *eraseWorker) Work(ctx context.Context, job *river.Job[EraseCustomerArgs]) error {
	return w.s.eraseCustomer(ctx, job.Args.CustomerID)
}

// longestEraseWait lies between two attempts at a gateway that is down.
const longestEraseWait = time.Hour

// NextRetry waits 1 s, 16 s, 81 s and so on, an hour at most.
func (w *eraseWorker) NextRetry(job *river.Job[EraseCustomerArgs]) time.Time {
	n := min(job.Attempt, 10)
	return time.Now().Add(min(time.Duration(n*n*n*n)*time.Second, longestEraseWait))
}

// SweepDeletionsArgs is the job that begins lost erasings anew, and removes
// customers who never verified the address they signed up with.
type SweepDeletionsArgs struct{}

// Kind names the job.
func (SweepDeletionsArgs) Kind() string { return "accounts_sweep_deletions" }

// Purchases tells of customers who have bought something. A module above that
// sells fills it.
type Purchases interface {
	// CustomersWithPurchases returns those of the customers who have bought, or
	// tried to.
	CustomersWithPurchases(ctx context.Context, ids []objectid.ID) ([]objectid.ID, error)
}

// SweepDeletions does both, the second also when the first fails.
func (s *Customers) SweepDeletions(ctx context.Context, _ SweepDeletionsArgs) error {
	return errors.Join(s.resumeDeletions(ctx), s.removeUnverified(ctx))
}

func (s *Customers) resumeDeletions(ctx context.Context) error {
	ids, err := s.db.DeletionListOpen(ctx, s.deps.Pool)
	if err != nil {
		return fmt.Errorf("list deletions: %w", err)
	}
	for _, id := range ids {
		if _, err := s.deps.Jobs.Insert(ctx, EraseCustomerArgs{CustomerID: id}, nil); err != nil {
			return fmt.Errorf("queue erasing: %w", err)
		}
	}
	return nil
}
