package identity

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// CustomerDoc is a customer as the API shows them (docs/contract/accounts.md, Customers).
type CustomerDoc struct {
	ID                    objectid.ID   `json:"_id"`
	UserType              string        `json:"user_type" enum:"customer"`
	Username              string        `json:"username"`
	Email                 string        `json:"email"`
	FullName              string        `json:"full_name"`
	TaxID                 *string       `json:"tax_id"`
	Phone                 *string       `json:"phone"`
	Nationality           string        `json:"nationality" doc:"Empty when not given"`
	Address               addressDoc    `json:"address"`
	AvatarID              *objectid.ID  `json:"avatar_id"`
	MyList                []string      `json:"my_list"`
	MaxAgeRating          *string       `json:"max_age_rating" enum:"L,10,12,14,16,18" doc:"The highest age_rating that plays without the PIN; null is no limit"`
	Enable                bool          `json:"enable"`
	EmailVerified         bool          `json:"email_verified"`
	EmailVerifiedAt       *httpapi.Time `json:"email_verified_at" nullable:"true"`
	CurrentSubscriptionID *objectid.ID  `json:"current_subscription_id"`
	PasswordResetRequired bool          `json:"password_reset_required"`
	PromoCodeUsed         *string       `json:"promo_code_used,omitempty"`
	PromoCodeID           *objectid.ID  `json:"promo_code_id,omitempty"`
	GWBCustomerID         *string       `json:"gwb_customer_id,omitempty"`
	CreatedAt             httpapi.Time  `json:"created_at"`
	UpdatedAt             httpapi.Time  `json:"updated_at"`
	DocumentCreatedByID   *objectid.ID  `json:"document_created_by_id"`
	RegisterDate          httpapi.Time  `json:"register_date"`
	RegisterUpdateDate    httpapi.Time  `json:"register_update_date"`
}

// ReadOnlyFields are kept by the service and ignored in what clients send.
type ReadOnlyFields struct {
	CreatedAt           json.RawMessage `json:"created_at,omitempty" required:"false" readOnly:"true"`
	UpdatedAt           json.RawMessage `json:"updated_at,omitempty" required:"false" readOnly:"true"`
	EmailVerifiedAt     json.RawMessage `json:"email_verified_at,omitempty" required:"false" readOnly:"true"`
	DocumentCreatedByID json.RawMessage `json:"document_created_by_id,omitempty" required:"false" readOnly:"true"`
	RegisterDate        json.RawMessage `json:"register_date,omitempty" required:"false" readOnly:"true"`
	RegisterUpdateDate  json.RawMessage `json:"register_update_date,omitempty" required:"false" readOnly:"true"`
}

// addressDoc is an address or null.
type addressDoc struct{ address *Address }

// MarshalJSON writes the address, or null.
func (a addressDoc) MarshalJSON() ([]byte, error) { return json.Marshal(a.address) }

// Schema is the address's, nullable.
func (addressDoc) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[Address]())
	s.Nullable = true
	return &s
}

// CustomerDocOf is a row as the API shows it.
func CustomerDocOf(u accountsdb.User) (CustomerDoc, error) {
	address, err := AddressOf(u.Address)
	created, updated := httpapi.Time(u.CreatedAt), httpapi.Time(u.UpdatedAt)
	return CustomerDoc{
		ID: u.ID, UserType: u.UserType, Username: u.Username, Email: u.Email, FullName: nullable.Value(u.FullName),
		TaxID: u.TaxID, Phone: u.Phone, Nationality: u.Nationality, Address: addressDoc{address}, AvatarID: u.AvatarID,
		MyList: u.MyList, MaxAgeRating: u.MaxAgeRating,
		Enable: u.Enable, EmailVerified: u.EmailVerified, EmailVerifiedAt: httpapi.TimePtr(u.EmailVerifiedAt),
		CurrentSubscriptionID: u.CurrentSubscriptionID, PasswordResetRequired: u.PasswordResetRequired,
		PromoCodeUsed: u.PromoCodeUsed, PromoCodeID: u.PromoCodeID, GWBCustomerID: u.GwbCustomerID,
		CreatedAt: created, UpdatedAt: updated,
		DocumentCreatedByID: u.DocumentCreatedByID, RegisterDate: created, RegisterUpdateDate: updated,
	}, err
}

// CustomerEnvelope answers with one customer, and with info beside them.
func CustomerEnvelope(ctx context.Context, u accountsdb.User, info any) (*httpapi.EnvelopeOutput[CustomerDoc], error) {
	doc, err := CustomerDocOf(u)
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, doc, info), nil
}
