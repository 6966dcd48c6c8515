package customers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/platform/secret"
)

// meEdit is what a customer may send about themselves (docs/contract/accounts.md, Customers). The fields of the second
// group are kept by the service and taken without effect, since clients send back what they read; those
// of the third are taken with the value that they have, and others are refused.
type meEdit struct {
	ID       objectid.ID                   `json:"_id,omitempty" required:"false" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	Username httpapi.Opt[string]           `json:"username,omitempty" required:"false" minLength:"3" maxLength:"254"`
	FullName httpapi.Opt[string]           `json:"full_name,omitempty" required:"false" minLength:"3" maxLength:"200"`
	TaxID    httpapi.Opt[string]           `json:"tax_id,omitempty" required:"false" pattern:"^([0-9]{11}|[0-9A-Za-z]{12}[0-9]{2})$" patternDescription:"11 digits (CPF) or 14 characters (CNPJ)"`
	Phone    httpapi.Opt[string]           `json:"phone,omitempty" required:"false" pattern:"^\\+[0-9]{10,15}$" patternDescription:"a plus sign, country code and number"`
	Address  httpapi.Opt[identity.Address] `json:"address,omitempty" required:"false"`
	AvatarID httpapi.Opt[objectid.ID]      `json:"avatar_id,omitempty" required:"false" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	MyList   httpapi.Opt[[]string]         `json:"my_list,omitempty" required:"false" maxItems:"1000"`
	// The age limit and its PIN are changed with the current password; a limit needs a PIN, and null ends both.
	MaxAgeRating    httpapi.Opt[string] `json:"max_age_rating,omitempty" required:"false" enum:"L,10,12,14,16,18" doc:"The highest age_rating that plays without the PIN; null is no limit. A change needs current_password"`
	ParentalPIN     *secret.Text        `json:"parental_pin,omitempty" required:"false" pattern:"^[0-9]{4,6}$" patternDescription:"4 to 6 digits" doc:"Needs current_password, and max_age_rating here or before"`
	CurrentPassword *secret.Text        `json:"current_password,omitempty" required:"false" maxLength:"1024" doc:"400 when wrong; for max_age_rating and parental_pin alone"`

	Email sentField `json:"email,omitempty" required:"false" doc:"Always 400: use POST /customers/me/change-email"`

	identity.ReadOnlyFields

	UserType              json.RawMessage `json:"user_type,omitempty" required:"false" readOnly:"true"`
	Nationality           json.RawMessage `json:"nationality,omitempty" required:"false" readOnly:"true"`
	Enable                json.RawMessage `json:"enable,omitempty" required:"false" readOnly:"true"`
	EmailVerified         json.RawMessage `json:"email_verified,omitempty" required:"false" readOnly:"true"`
	CurrentSubscriptionID json.RawMessage `json:"current_subscription_id,omitempty" required:"false" readOnly:"true"`
	PasswordResetRequired json.RawMessage `json:"password_reset_required,omitempty" required:"false" readOnly:"true"`
	PromoCodeUsed         json.RawMessage `json:"promo_code_used,omitempty" required:"false" readOnly:"true"`
	PromoCodeID           json.RawMessage `json:"promo_code_id,omitempty" required:"false" readOnly:"true"`
	GWBCustomerID         json.RawMessage `json:"gwb_customer_id,omitempty" required:"false" readOnly:"true"`
}

// sentField tells whether a field was in the body, whatever it held.
type sentField bool

// UnmarshalJSON records that the field was there.
func (f *sentField) UnmarshalJSON([]byte) error { *f = true; return nil }

// Schema takes any value.
func (sentField) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// maxListEntry bounds one entry of my_list, in bytes.
const maxListEntry = 200

// editCaller changes the fields that were sent. Errors: 404; 400 for email; 409 for
// a username or tax_id that is taken; 422 naming the field.
func (s *Customers) editCaller(ctx context.Context, id objectid.ID, edit meEdit) (accountsdb.User, error) {
	var after accountsdb.User
	proved, err := s.proveParental(ctx, id, edit)
	if err != nil {
		return after, err
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.deps.Identity.LockedCustomerTx(ctx, tx, id)
		if err != nil {
			return err
		}
		before := u
		if err := s.applyEdit(&u, edit); err != nil {
			return err
		}
		if u.Username != before.Username {
			if err := s.deps.Identity.ReserveAppearanceTx(ctx, tx, u.UserType, u.Username, u.ID); err != nil {
				return err
			}
		}
		permitted, err := s.deps.Identity.MayUsePictureTx(ctx, tx, before, nullable.Value(u.AvatarID))
		if err != nil {
			return err
		}
		if !permitted {
			return fault.InvalidAt(identity.NotUsersPicture, "body", 0, "avatar_id")
		}
		after, err = s.db.UserUpdateCaller(ctx, tx, accountsdb.UserUpdateCallerParams{
			ID: u.ID, Username: u.Username, FullName: u.FullName, TaxID: u.TaxID, Phone: u.Phone,
			Address: u.Address, AvatarID: u.AvatarID, MyList: u.MyList, Now: s.deps.Clock.Now(),
		})
		if err != nil {
			return identity.Duplicate(err, u.Email)
		}
		if edit.changesParental(&before) {
			if !proved { // the limit was another when it was read without the lock
				return errNeedsPassword()
			}
			if after, err = s.changeParentalTx(ctx, tx, after, edit); err != nil {
				return err
			}
		}
		if err := s.deps.Identity.ChangedTx(ctx, tx, after, false); err != nil {
			return err
		}
		if !edit.AvatarID.Set {
			return nil
		}
		return s.deps.Identity.DropOtherAvatarsTx(ctx, tx, u.ID, nullable.Value(u.AvatarID))
	})
	if err != nil {
		return after, fmt.Errorf("edit customer: %w", err)
	}
	return after, nil
}

func (s *Customers) applyEdit(u *accountsdb.User, edit meEdit) error {
	if err := s.checkEdit(u, edit); err != nil {
		return err
	}
	u.Username = edit.Username.Or(u.Username)
	u.FullName = edited(edit.FullName, u.FullName)
	if edit.TaxID.Set && !edit.TaxID.Null {
		taxID, err := s.deps.Identity.NormalTaxID(edit.TaxID.Value, "body", 0, "tax_id")
		if err != nil {
			return err
		}
		edit.TaxID.Value = taxID
	}
	u.TaxID = edited(edit.TaxID, u.TaxID)
	u.Phone = edited(edit.Phone, u.Phone)
	u.AvatarID = edited(edit.AvatarID, u.AvatarID)
	if u.AvatarID != nil {
		*u.AvatarID = objectid.ID(strings.ToLower(u.AvatarID.String()))
	}
	u.MyList = edit.MyList.Or(u.MyList)
	if !edit.Address.Set {
		return nil
	}
	var address *identity.Address
	if !edit.Address.Null {
		address = &edit.Address.Value
	}
	var err error
	u.Address, err = identity.AddressJSON(address)
	return err
}

// edited is the column's new value: unchanged, null or what was sent.
func edited[T any](o httpapi.Opt[T], present *T) *T {
	switch {
	case !o.Set:
		return present
	case o.Null:
		return nil
	}
	return &o.Value
}

// checkEdit refuses what the schema cannot tell.
func (s *Customers) checkEdit(u *accountsdb.User, edit meEdit) error {
	if edit.Email {
		return fault.BadRequest("The e-mail is changed at POST /customers/me/change-email.").WithField("email")
	}
	if edit.ID != "" && !strings.EqualFold(edit.ID.String(), u.ID.String()) {
		return fault.InvalidAt("has to be your own id", "body", 0, "_id")
	}
	if err := edit.checkRepeated(u); err != nil {
		return err
	}
	switch {
	case edit.Username.Null:
		return errNull("username")
	case edit.FullName.Null:
		return errNull("full_name")
	case edit.Phone.Null && u.Phone != nil:
		return errNull("phone")
	case edit.MyList.Null:
		return errNull("my_list")
	}
	if edit.Username.Set && edit.Username.Value != u.Username {
		if err := identity.CheckUsername(edit.Username.Value, u.Email, "body", 0, "username"); err != nil {
			return err
		}
	}
	if edit.FullName.Set && edit.FullName.Value != nullable.Value(u.FullName) {
		if err := identity.CheckPersonName(edit.FullName.Value, "body", 0, "full_name"); err != nil {
			return err
		}
	}
	for i, entry := range edit.MyList.Value {
		if len(entry) > maxListEntry {
			return fault.InvalidAt("is too long", "body", 0, "my_list", i)
		}
	}
	return nil
}

// checkRepeated refuses privileged fields with another value than the record shows.
func (e meEdit) checkRepeated(u *accountsdb.User) error {
	doc, err := identity.CustomerDocOf(*u)
	if err != nil {
		return err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		sent json.RawMessage
	}{
		{"user_type", e.UserType},
		{"nationality", e.Nationality},
		{"enable", e.Enable},
		{"email_verified", e.EmailVerified},
		{"current_subscription_id", e.CurrentSubscriptionID},
		{"password_reset_required", e.PasswordResetRequired},
		{"promo_code_used", e.PromoCodeUsed},
		{"promo_code_id", e.PromoCodeID},
		{"gwb_customer_id", e.GWBCustomerID},
	} {
		if f.sent != nil && !resource.SameJSON(f.sent, fields[f.name]) {
			return fault.InvalidAt("may not be set", "body", 0, f.name)
		}
	}
	return nil
}

func errNull(field string) error { return fault.InvalidAt("may not be null", "body", 0, field) }

// GetMe answers GET /customers/me.
func (h Handlers) GetMe(ctx context.Context, _ *struct{}) (*httpapi.EnvelopeOutput[identity.CustomerDoc], error) {
	u, err := h.s.deps.Identity.CallerRow(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return identity.CustomerEnvelope(ctx, u, nil)
}

type putMeInput struct {
	Body []meEdit `minItems:"1" maxItems:"1"`
}

// PutMe answers PUT /customers/me.
func (h Handlers) PutMe(ctx context.Context, in *putMeInput) (*httpapi.EnvelopeOutput[identity.CustomerDoc], error) {
	u, err := h.s.editCaller(ctx, httpapi.CallerOf(ctx).ID, in.Body[0])
	if err != nil {
		return nil, err
	}
	return identity.CustomerEnvelope(ctx, u, nil)
}
