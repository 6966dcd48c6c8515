package payments

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
)

// Personal is the door to a person's data: what they are shown of it, and what is erased.
type Personal struct {
	*reader
	s *Service
}

// ErasePersonalDataTx takes the person out of what the gateways reported of their
// payments. The ledger stays: it names nobody but the deleted customer's id.
func (d Personal) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	return d.s.log.ErasePersonalDataTx(ctx, tx, customerID)
}

// ForgetPersonTx has names, addresses and the like taken out of the logged
// webhooks that speak of one of the subjects: ids of subscriptions, orders,
// payments and customers, ours or a gateway's. What moved money, and can be
// applied again, stays. Two jobs do it: one now, one for what gateways still
// report of the end.
func (d Personal) ForgetPersonTx(ctx context.Context, tx pgx.Tx, subjects []string) error {
	return d.s.log.ForgetPersonTx(ctx, tx, subjects)
}
