package debits

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/postgres"
)

// RetriesOf are the next planned retry of a debit, and the one that is with the bank.
func (s *Debits) RetriesOf(ctx context.Context, db postgres.DB, d lifecycle.Debit) (next, open *lifecycle.Retry, err error) {
	all, err := s.db.ListDebitRetries(ctx, db, subscriptionsdb.ListDebitRetriesParams{SubscriptionID: d.SubscriptionID, Cycle: d.Cycle})
	if err != nil {
		return nil, nil, fmt.Errorf("list retries: %w", err)
	}
	for i := range all {
		switch {
		case all[i].State == state.RetryOrdered:
			open = &all[i]
		case all[i].State == state.RetryPlanned && next == nil:
			next = &all[i]
		}
	}
	return next, open, nil
}

// EndRetry ends one retry and has the next one ordered.
func (s *Debits) EndRetry(ctx context.Context, sub lifecycle.Row, d lifecycle.Debit, day pgtype.Date, to state.Retry, reason string) error {
	return s.WithDebit(ctx, sub, func(tx pgx.Tx) error {
		if err := s.EndRetryTx(ctx, tx, d, day, to, reason); err != nil {
			return err
		}
		return s.ScheduleRetryTx(ctx, tx, d)
	})
}

// DropRetries drops all retries of a debit that are still to come.
func (s *Debits) DropRetries(ctx context.Context, sub lifecycle.Row, d lifecycle.Debit, reason string) error {
	return s.WithDebit(ctx, sub, func(tx pgx.Tx) error { return s.EndRetriesTx(ctx, tx, d, state.RetryDropped, reason) })
}

// WithDebit runs f with the subscription locked, as everybody does who writes its debits.
func (s *Debits) WithDebit(ctx context.Context, sub lifecycle.Row, f func(tx pgx.Tx) error) error {
	err := postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		if _, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID); err != nil {
			return err
		}
		return f(tx)
	})
	if err != nil {
		return fmt.Errorf("note retry of %s: %w", sub.ID, err)
	}
	return nil
}
