package signup

import (
	"context"
	"fmt"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

type availabilityInput struct {
	Email string `query:"email" doc:"E-mail address"`
	TaxID string `query:"tax_id" maxLength:"14"`
}

type availabilityBody struct {
	EmailAvailable *bool `json:"email_available" doc:"null: not asked"`
	TaxIDAvailable *bool `json:"tax_id_available" doc:"null: not asked"`
}

// CheckAvailability answers GET /customers/check-availability.
func (h Handlers) CheckAvailability(ctx context.Context,
	in *availabilityInput,
) (*httpapi.Output[availabilityBody], error) {
	if in.Email == "" && in.TaxID == "" {
		return nil, fault.BadRequest("email or tax_id is required, or both.").WithField("email")
	}
	body := availabilityBody{}
	var err error
	if in.Email != "" {
		if body.EmailAvailable, err = h.s.emailAvailable(ctx, in.Email); err != nil {
			return nil, err
		}
	}
	if in.TaxID != "" {
		if body.TaxIDAvailable, err = h.s.taxIDAvailable(ctx, in.TaxID); err != nil {
			return nil, err
		}
	}
	return httpapi.OK(body)
}

// emailAvailable reports whether nobody's username or e-mail is this address;
// 422 when it is none.
func (s *Signup) emailAvailable(ctx context.Context, email string) (*bool, error) {
	email, err := identity.NormalEmail(email, "query", "email")
	if err != nil {
		return nil, err
	}
	taken, err := s.db.UserLoginExists(ctx, s.deps.Pool, accountsdb.UserLoginExistsParams{Login: email})
	if err != nil {
		return nil, fmt.Errorf("look up e-mail: %w", err)
	}
	free := !taken
	return &free, nil
}

// taxIDAvailable reports whether no customer has this CPF or CNPJ; 422 when it
// has not the form of one.
func (s *Signup) taxIDAvailable(ctx context.Context, taxID string) (*bool, error) {
	taxID, err := s.deps.Identity.NormalTaxID(taxID, "query", "tax_id")
	if err != nil {
		return nil, err
	}
	taken, err := s.db.UserTaxIDExists(ctx, s.deps.Pool, &taxID)
	if err != nil {
		return nil, fmt.Errorf("look up tax_id: %w", err)
	}
	free := !taken
	return &free, nil
}
