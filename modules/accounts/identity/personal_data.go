package identity

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PersonalData is what a module above keeps about users; of admins there may be
// some as well, such as what they watched.
type PersonalData interface {
	// PersonalDataName names its part of GET /customers/me/data, such as
	// "subscriptions".
	PersonalDataName() string
	// PersonalData returns all of it that concerns the customer, fit for JSON and
	// without secrets. db is a transaction that sees one instant. Unless their address
	// is verified, what guests bought under it is left out (docs/contract/accounts.md, Customers).
	PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, verified bool) (any, error)
	// ErasePersonalDataTx removes it. Money records stay, without what tells who
	// the user was.
	ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) error
}
