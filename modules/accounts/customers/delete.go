package customers

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// deleteCustomersTx closes the accounts of the customers that exist, and returns
// their ids; jobs do the rest, as for DELETE /customers/me. The trail tells who
// was deleted by their id alone.
func (s *Customers) deleteCustomersTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) ([]objectid.ID, error) {
	customers, err := s.deps.Identity.LockUsersTx(ctx, tx, httpapi.TypeCustomer, ids)
	if err != nil {
		return nil, err
	}
	there := slices.Sorted(maps.Keys(customers))
	for _, id := range there {
		if err := s.DeleteCustomerTx(ctx, tx, id, httpapi.CallerOf(ctx).ID); err != nil {
			return nil, err
		}
	}
	return there, nil
}
