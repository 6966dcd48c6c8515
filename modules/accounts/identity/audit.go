package identity

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/audit"
	"marquee/platform/httpapi"
)

// RecordTx tells the audit trail, which listens to admins, of a change at a user that is none of a field.
func RecordTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, before, after map[string]any) error {
	resource := UsersName
	if u.UserType == httpapi.TypeCustomer {
		resource = CustomersName
	}
	return audit.RecordTx(ctx, tx, audit.Change{Resource: resource, RecordID: u.ID, Before: before, After: after})
}
