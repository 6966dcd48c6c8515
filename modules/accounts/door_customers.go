package accounts

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/files"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// What the modules above know of customers is the business of room identity.
type (
	// Customer is what upper modules know of a customer.
	Customer = identity.Customer
	// Address is the contract's address object (docs/contract/accounts.md, Sign-up).
	Address = identity.Address
	// CustomerChanges is a module above that keeps names or addresses of customers.
	CustomerChanges = identity.CustomerChanges
	// UsedTrial is when a customer's one trial began.
	UsedTrial = identity.UsedTrial
)

// Mailbox is the form of an e-mail by which limits count: without case and +tag.
func Mailbox(email string) string { return identity.Mailbox(email) }

// CustomerByID reads a customer; 404 NOT_FOUND when there is none or they are deleted.
func (s *Service) CustomerByID(ctx context.Context, db postgres.DB, id objectid.ID) (Customer, error) {
	return s.identity.CustomerByID(ctx, db, id)
}

// CustomersByID reads customers; who is not there, or deleted, is not in the map.
func (s *Service) CustomersByID(ctx context.Context, db postgres.DB,
	ids []objectid.ID,
) (map[objectid.ID]Customer, error) {
	return s.identity.CustomersByID(ctx, db, ids)
}

// CustomerOfGateway finds whose id at a gateway ("gwa", "gwb") it is; "" when it is nobody's.
func (s *Service) CustomerOfGateway(ctx context.Context, db postgres.DB,
	gateway, gatewayID string,
) (objectid.ID, error) {
	return s.identity.CustomerOfGateway(ctx, db, gateway, gatewayID)
}

// ProveParentalPin compares the PIN of a user who has an age limit: 403 PIN_REQUIRED when it is wrong, 429 after five
// wrong ones in a row.
func (s *Service) ProveParentalPin(ctx context.Context, user objectid.ID, pin secret.Text) error {
	return s.customers.ProveParentalPin(ctx, user, pin)
}

// LockCustomerTx locks a customer's row; 404 as CustomerByID.
func (s *Service) LockCustomerTx(ctx context.Context, tx postgres.DB, id objectid.ID) error {
	return s.identity.LockCustomerTx(ctx, tx, id)
}

// HoldCustomerTx is LockCustomerTx for those who let pass who is deleted: the lock is taken with the
// transaction's next statement (postgres.Later).
func (s *Service) HoldCustomerTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	return s.identity.HoldCustomerTx(ctx, tx, id)
}

// CustomerDeletedAt is when the customer was deleted; nil of one who was not.
func (s *Service) CustomerDeletedAt(ctx context.Context, db postgres.DB, id objectid.ID) (*time.Time, error) {
	return s.identity.CustomerDeletedAt(ctx, db, id)
}

// SetCurrentSubscriptionTx points the customer to a subscription, with the transaction's next statement, and does
// nothing where there is no such customer, or the account is deleted.
func (s *Service) SetCurrentSubscriptionTx(ctx context.Context, tx pgx.Tx,
	customerID, subscriptionID objectid.ID,
) error {
	return s.identity.SetCurrentSubscriptionTx(ctx, tx, customerID, subscriptionID)
}

// ClearCurrentSubscriptionTx clears current_subscription_id where it still points to the
// subscription.
func (s *Service) ClearCurrentSubscriptionTx(ctx context.Context, tx pgx.Tx,
	customerID, subscriptionID objectid.ID,
) error {
	return s.identity.ClearCurrentSubscriptionTx(ctx, tx, customerID, subscriptionID)
}

// SetGatewayCustomer records the customer's id at a gateway (gwa or gwb) and returns the one
// that holds: the first that was recorded.
func (s *Service) SetGatewayCustomer(ctx context.Context, db postgres.DB, customerID objectid.ID,
	gateway, gatewayID string,
) (string, error) {
	return s.identity.SetGatewayCustomer(ctx, db, customerID, gateway, gatewayID)
}

// SetTaxID records the customer's CPF or CNPJ; 409 CONFLICT when another customer has it, 422
// when it has not the form of one.
func (s *Service) SetTaxID(ctx context.Context, db postgres.DB, customerID objectid.ID, taxID string) error {
	return s.identity.SetTaxID(ctx, db, customerID, taxID)
}

// TaxIDMAC stands for a tax id where it is to be known again once the account is deleted.
func (s *Service) TaxIDMAC(taxID string) []byte { return s.identity.TaxIDMAC(taxID) }

// TrialsSince lists the next customers after an id who have begun their trial since.
func (s *Service) TrialsSince(ctx context.Context, since time.Time, after objectid.ID) ([]UsedTrial, error) {
	return s.identity.TrialsSince(ctx, since, after)
}

// MarkTrialUsedTx records that the customer's one trial begins now; used is true when they had
// it before.
func (s *Service) MarkTrialUsedTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) (used bool, err error) {
	return s.identity.MarkTrialUsedTx(ctx, tx, customerID)
}

// FileRecords tells files what there is to know about files of users.
func (s *Service) FileRecords() files.Records { return s.identity.FileRecords() }
