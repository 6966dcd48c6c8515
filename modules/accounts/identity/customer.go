package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Customer is what upper modules know of a customer. Empty texts and ids stand
// for what is not known.
type Customer struct {
	ID                    objectid.ID
	Username              string
	Email                 string
	EmailVerified         bool
	FullName              string
	TaxID                 string // 11 (CPF) or 14 (CNPJ) characters
	Phone                 string
	Nationality           string
	Address               *Address
	Language              string // of mails, such as "pt"
	Enabled               bool
	CurrentSubscriptionID objectid.ID
	TrialUsedAt           *time.Time // when the one trial began
	PromoCodeUsed         string     // given at signup
	PromoCodeID           objectid.ID
	GatewayCustomerIDs    map[string]string // by gateway, gwa or gwb
	CreatedAt             time.Time
}

// Address is the contract's address object (docs/contract/accounts.md, Sign-up).
type Address struct {
	Street     string `json:"street" minLength:"3" maxLength:"200"`
	Number     string `json:"number" minLength:"1" maxLength:"20"`
	Complement string `json:"complement" required:"false" maxLength:"100" default:""`
	Locality   string `json:"locality" minLength:"3" maxLength:"100"`
	City       string `json:"city" minLength:"3" maxLength:"100"`
	RegionCode string `json:"region_code" minLength:"2" maxLength:"2"`
	Country    string `json:"country" minLength:"3" maxLength:"3"`
	PostalCode string `json:"postal_code" pattern:"^[0-9]{8}$" patternDescription:"8 digits"`
}

// gateways are those that a customer may have an id at; accounts stands below what speaks to them.
var gateways = []string{"gwa", "gwb"}

// ErrNoCustomer is 404 NOT_FOUND.
func ErrNoCustomer() error { return fault.NotFound("Customer") }

// CustomerByID reads a customer; 404 NOT_FOUND when there is none or they are
// deleted.
func (s *Store) CustomerByID(ctx context.Context, db postgres.DB, id objectid.ID) (Customer, error) {
	u, err := s.db.UserGetCustomer(ctx, db, id)
	return CustomerOf(u, err)
}

// CustomerOfGateway finds whose id at a gateway ("gwa", "gwb") it is; "" when it is
// nobody's.
func (s *Store) CustomerOfGateway(ctx context.Context, db postgres.DB, gateway, gatewayID string) (objectid.ID, error) {
	id, err := s.db.UserGetByGatewayCustomer(ctx, db,
		accountsdb.UserGetByGatewayCustomerParams{Gateway: gateway, GatewayID: gatewayID})
	if postgres.IsNoRows(err) {
		return "", nil
	}
	return id, err
}

// CustomersByID reads customers; who is not there, or deleted, is not in the map.
func (s *Store) CustomersByID(ctx context.Context, db postgres.DB,
	ids []objectid.ID,
) (map[objectid.ID]Customer, error) {
	users, err := s.db.UserListCustomers(ctx, db, objectid.Strings(ids))
	if err != nil {
		return nil, fmt.Errorf("read customers: %w", err)
	}
	all := make(map[objectid.ID]Customer, len(users))
	for _, u := range users {
		if all[u.ID], err = CustomerOf(u, nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// LockCustomerTx locks a customer's row, so that what they start twice at once
// happens one after the other; 404 as CustomerByID.
func (s *Store) LockCustomerTx(ctx context.Context, tx postgres.DB, id objectid.ID) error {
	n, err := s.db.UserHoldCustomer(ctx, tx, id)
	return oneCustomer(n, err, "lock customer")
}

// HoldCustomerTx is LockCustomerTx for those who let pass who is deleted: the lock is taken with the
// transaction's next statement (postgres.Later).
func (s *Store) HoldCustomerTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	_, err := s.db.UserHoldCustomer(ctx, postgres.Later(tx), id)
	return err
}

// LockedCustomerTx locks a customer's row and reads it; 404 as CustomerByID.
func (s *Store) LockedCustomerTx(ctx context.Context, tx pgx.Tx, id objectid.ID) (accountsdb.User, error) {
	u, err := s.db.UserLockCustomer(ctx, tx, id)
	if postgres.IsNoRows(err) {
		return u, ErrNoCustomer()
	}
	if err != nil {
		return u, fmt.Errorf("lock customer: %w", err)
	}
	return u, nil
}

// CustomerDeletedAt is when the customer was deleted; nil of one who was not.
func (s *Store) CustomerDeletedAt(ctx context.Context, db postgres.DB, id objectid.ID) (*time.Time, error) {
	deletion, err := s.db.DeletionGet(ctx, db, id)
	if postgres.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read deletion: %w", err)
	}
	return &deletion.DeletedAt, nil
}

// SetCurrentSubscriptionTx points the customer to a subscription, with the transaction's next statement, and does
// nothing where there is no such customer, or the account is deleted.
func (s *Store) SetCurrentSubscriptionTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID) error {
	_, err := s.db.UserSetCurrentSubscription(ctx, postgres.Later(tx), accountsdb.UserSetCurrentSubscriptionParams{
		ID: customerID, SubscriptionID: &subscriptionID, Now: s.deps.Clock.Now(),
	})
	if err != nil {
		return fmt.Errorf("set current subscription: %w", err)
	}
	return nil
}

// ClearCurrentSubscriptionTx clears current_subscription_id where it still points
// to the subscription, and does nothing where it does not.
func (s *Store) ClearCurrentSubscriptionTx(ctx context.Context, tx pgx.Tx,
	customerID, subscriptionID objectid.ID,
) error {
	_, err := s.db.UserClearCurrentSubscription(ctx, tx, accountsdb.UserClearCurrentSubscriptionParams{
		ID: customerID, SubscriptionID: &subscriptionID, Now: s.deps.Clock.Now(),
	})
	if err != nil {
		return fmt.Errorf("clear current subscription: %w", err)
	}
	return nil
}

// SetGatewayCustomer records the customer's id at a gateway (gwa or gwb) and
// returns the one that holds: the first that was recorded.
func (s *Store) SetGatewayCustomer(ctx context.Context, db postgres.DB, customerID objectid.ID,
	gateway, gatewayID string,
) (string, error) {
	if !slices.Contains(gateways, gateway) {
		return "", fmt.Errorf("set gateway customer: unknown gateway %q", gateway)
	}
	holding, err := s.db.UserSetGatewayCustomer(ctx, db, accountsdb.UserSetGatewayCustomerParams{
		ID: customerID, Gateway: gateway, GatewayID: &gatewayID, Now: s.deps.Clock.Now(),
	})
	if postgres.IsNoRows(err) {
		return "", ErrNoCustomer()
	}
	if err != nil {
		return "", fmt.Errorf("set gateway customer: %w", err)
	}
	return holding, nil
}

// SetTaxID records the customer's CPF or CNPJ; 409 CONFLICT when another
// customer has it, 422 when it has not the form of one.
func (s *Store) SetTaxID(ctx context.Context, db postgres.DB, customerID objectid.ID, taxID string) error {
	taxID, err := s.NormalTaxID(taxID, "body", "tax_id")
	if err != nil {
		return err
	}
	n, err := s.db.UserSetTaxID(ctx, db, accountsdb.UserSetTaxIDParams{
		ID: customerID, TaxID: &taxID, Now: s.deps.Clock.Now(),
	})
	if postgres.Constraint(err) == UniqueTaxID {
		return ErrTaxIDTaken()
	}
	return oneCustomer(n, err, "set tax id")
}

func oneCustomer(n int64, err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if n == 0 {
		return ErrNoCustomer()
	}
	return nil
}

// CustomerOf is the customer of a row that was just read; 404 where that found none.
func CustomerOf(u accountsdb.User, err error) (Customer, error) {
	if postgres.IsNoRows(err) {
		return Customer{}, ErrNoCustomer()
	}
	if err != nil {
		return Customer{}, fmt.Errorf("read customer: %w", err)
	}
	c := Customer{
		ID: u.ID, Username: u.Username, Email: u.Email, EmailVerified: u.EmailVerified,
		FullName: nullable.Value(u.FullName), TaxID: nullable.Value(u.TaxID), Phone: nullable.Value(u.Phone),
		Nationality: u.Nationality,
		Language:    u.Language, Enabled: u.Enable, CurrentSubscriptionID: nullable.Value(u.CurrentSubscriptionID),
		TrialUsedAt: u.TrialUsedAt, PromoCodeUsed: nullable.Value(u.PromoCodeUsed),
		PromoCodeID:        nullable.Value(u.PromoCodeID),
		GatewayCustomerIDs: map[string]string{}, CreatedAt: u.CreatedAt.UTC(),
	}
	for i, id := range []*string{u.GwaCustomerID, u.GwbCustomerID} { // as in gateways
		if id != nil {
			c.GatewayCustomerIDs[gateways[i]] = *id
		}
	}
	c.Address, err = AddressOf(u.Address)
	return c, err
}

// AddressOf reads the stored form of an address; nil for none.
func AddressOf(raw json.RawMessage) (*Address, error) {
	if raw == nil {
		return nil, nil //nolint:nilnil // no address is a customer's normal state
	}
	a := new(Address)
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	return a, nil
}
