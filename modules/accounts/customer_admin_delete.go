package accounts

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// deleteCustomersTx deletes the customers that exist, and returns their ids.
func (s *Service) deleteCustomersTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) ([]objectid.ID, error) {
	customers, err := s.lockUsersTx(ctx, tx, httpapi.TypeCustomer, ids)
	if err != nil {
		return nil, err
	}
	there := slices.Sorted(maps.Keys(customers))
	for _, id := range there {
		if err := s.eraseUserTx(ctx, tx, id); err != nil {
			return nil, err
		}
		if err := s.EraseAuditTx(ctx, tx, id); err != nil {
			return nil, err
		}
	}
	return there, nil
}
