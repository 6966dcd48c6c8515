package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// CaseMailArgs tells the payer that an unapplied payment was given back.
type CaseMailArgs struct {
	ID objectid.ID `json:"id"`
}

// Kind names the job.
func (CaseMailArgs) Kind() string { return "payments_unapplied_mail" }

// CaseArgs looks at an unapplied payment: what may be refunded by itself is.
type CaseArgs struct {
	ID objectid.ID `json:"id"`
}

// Kind names the job.
func (CaseArgs) Kind() string { return "payments_unapplied" }

func (s *Cases) insertJobTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, CaseArgs{ID: id}, &river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return fmt.Errorf("queue unapplied payment: %w", err)
	}
	return nil
}
