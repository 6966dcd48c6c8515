package payments

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Personal is the door to a person's data: what they are shown of it, and what is erased.
type Personal struct{ s *Service }

// PersonalDataName names this module's part of the customer's data.
func (d Personal) PersonalDataName() string {
	return d.s.reader.PersonalDataName()
}

// PersonalData returns the customer's settled payments, refunds and disputes. Of
// orders, which may be a guest's, nothing unless their address is verified.
func (d Personal) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID,
	verified bool,
) (any, error) {
	return d.s.reader.PersonalData(ctx, db, customerID, verified)
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
