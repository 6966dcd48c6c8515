package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
)

// ReplayArgs applies the events that wait for one of the subjects.
type ReplayArgs struct {
	Gateway  gateway.Name `json:"gateway"`
	Subjects []string     `json:"subjects"`
}

// Kind names the job.
func (ReplayArgs) Kind() string { return "payments_events_replay" }

// ReplayWaitingTx has the events applied that came before anybody knew their
// subject. Call it in the transaction that makes ids known: the gateway's
// subscription, authorization or payment id, the local id. It inserts a job;
// subjects that are empty are left out.
func (s *Ledger) ReplayWaitingTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subjects ...string) error {
	known := []string{}
	for _, id := range subjects {
		if id != "" {
			known = append(known, id)
		}
	}
	return s.InsertReplayTx(ctx, tx, gateway, known)
}

// InsertReplayTx has the events applied that wait for one of the subjects.
func (s *Ledger) InsertReplayTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	_, err := s.deps.Jobs.InsertTx(ctx, tx, ReplayArgs{Gateway: gateway, Subjects: subjects}, nil)
	return err
}
