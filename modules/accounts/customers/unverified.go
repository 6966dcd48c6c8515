package customers

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// unverifiedPage is how many accounts one step of the sweep looks at.
const unverifiedPage = 200

// removeUnverified removes customers who signed up to verify their address at
// once, never did, and bought nothing (docs/contract/accounts.md, Sign-up):
// nobody keeps somebody else's address occupied.
func (s *Customers) removeUnverified(ctx context.Context) error {
	before := s.deps.Clock.Now().Add(-s.deps.UnverifiedTTL)
	for after := objectid.ID(""); ; {
		ids, err := s.db.CustomerListUnverified(ctx, s.deps.Pool, accountsdb.CustomerListUnverifiedParams{
			Before: before, After: after.String(), PageSize: unverifiedPage,
		})
		if err != nil {
			return fmt.Errorf("list unverified customers: %w", err)
		}
		if len(ids) == 0 {
			return nil
		}
		after = ids[len(ids)-1]
		buyers, err := s.buyersAmong(ctx, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if slices.Contains(buyers, id) {
				continue
			}
			if err := s.removeIfUnverified(ctx, id); err != nil {
				return err
			}
		}
	}
}

func (s *Customers) buyersAmong(ctx context.Context, ids []objectid.ID) ([]objectid.ID, error) {
	var all []objectid.ID
	for _, p := range s.above.Purchases {
		buyers, err := p.CustomersWithPurchases(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("look for purchases: %w", err)
		}
		all = append(all, buyers...)
	}
	return all, nil
}

// removeIfUnverified looks again under a lock: they may have verified their address
// since the list was made.
func (s *Customers) removeIfUnverified(ctx context.Context, id objectid.ID) error {
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.db.UserLockCustomer(ctx, tx, id)
		if postgres.IsNoRows(err) || (err == nil && u.EmailVerified) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.DeleteCustomerTx(ctx, tx, id, "")
	})
	if err != nil {
		return fmt.Errorf("remove unverified customer: %w", err)
	}
	return nil
}
