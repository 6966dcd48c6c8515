package identity

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/postgres"
)

// FillSkeletonsArgs is the job that notes what usernames look like of which it is not
// noted: those from before it was, and those that an older version has written.
type FillSkeletonsArgs struct{}

// Kind names the job.
func (FillSkeletonsArgs) Kind() string { return "accounts_fill_skeletons" }

const skeletonsAtOnce = 500

// FillSkeletons goes on until nothing is missing.
func (s *Store) FillSkeletons(ctx context.Context, _ FillSkeletonsArgs) error {
	for {
		n, err := s.fillSkeletons(ctx)
		if err != nil {
			return fmt.Errorf("fill skeletons: %w", err)
		}
		if n < skeletonsAtOnce {
			return nil
		}
	}
}

// fillSkeletons does so for some users and returns how many. Where names read alike,
// an admin's counts as its owner's before a customer's, and the older before the
// younger; all keep them.
func (s *Store) fillSkeletons(ctx context.Context) (n int, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		missing, err := s.db.SkeletonListMissing(ctx, tx, skeletonsAtOnce)
		if err != nil {
			return err
		}
		n = len(missing)
		for _, u := range missing {
			if err := s.db.SkeletonInsert(ctx, tx, accountsdb.SkeletonInsertParams{
				UserID: u.ID, Username: u.Username, Skeletons: skeletons(u.Username),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
