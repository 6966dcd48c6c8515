package signup

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/sessions"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

type signupInput struct {
	AcceptLanguage string       `header:"Accept-Language"`
	Body           []signupBody `minItems:"1" maxItems:"1"`
}

type signupBody struct {
	Username         string                        `json:"username" minLength:"3" maxLength:"254" doc:"3 to 50 characters, or your own e-mail"`
	Email            string                        `json:"email" doc:"E-mail address, at most 254 characters"`
	Password         secret.Text                   `json:"password" minLength:"8" maxLength:"1024"`
	FullName         string                        `json:"full_name" minLength:"3" maxLength:"200"`
	Phone            string                        `json:"phone" pattern:"^\\+[0-9]{10,15}$" patternDescription:"a plus sign, country code and number"`
	TaxID            *string                       `json:"tax_id,omitempty" required:"false" pattern:"^([0-9]{11}|[0-9A-Za-z]{12}[0-9]{2})?$" patternDescription:"11 digits (CPF) or 14 characters (CNPJ)" doc:"Letters are stored in capitals"`
	Nationality      *string                       `json:"nationality,omitempty" required:"false" pattern:"^([A-Za-z]{2,3})?$" patternDescription:"2 or 3 letters of ISO 3166-1"`
	Address          httpapi.Opt[identity.Address] `json:"address,omitempty" required:"false"`
	PromoCode        *string                       `json:"promo_code,omitempty" required:"false" maxLength:"50"`
	VerifyEmailNow   *bool                         `json:"verify_email_now,omitempty" required:"false" default:"true"`
	VerificationCode *secret.Text                  `json:"verification_code,omitempty" required:"false" pattern:"^[0-9]{6}$" patternDescription:"exactly 6 digits"`

	ID json.RawMessage `json:"_id,omitempty" required:"false" readOnly:"true"`
	identity.ReadOnlyFields
}

// signupStarted is the answer of mode A without a code.
type signupStarted struct {
	CustomerID       objectid.ID `json:"customer_id"`
	Email            string      `json:"email"`
	Message          string      `json:"message"`
	ExpiresInMinutes int         `json:"expires_in_minutes"`
}

// signupPending is the answer of mode B.
type signupPending struct {
	CustomerID               objectid.ID   `json:"customer_id"`
	Email                    string        `json:"email"`
	EmailVerificationPending bool          `json:"email_verification_pending"`
	Message                  string        `json:"message"`
	ExpiresInMinutes         int           `json:"expires_in_minutes"`
	Auth                     signupSession `json:"auth"`
}

// Confirmed is info in the answer of mode A with the code.
type Confirmed struct {
	Auth     confirmedAuth `json:"auth"`
	Message  string        `json:"message"`
	NextStep string        `json:"next_step"`
}

type confirmedAuth struct {
	AccessToken string       `json:"access_token"`
	TokenType   string       `json:"token_type" enum:"bearer"`
	Expiration  httpapi.Time `json:"expiration"`
}

type signupOutput struct{ Body any }

// Responses describes the three shapes of the answer.
func Responses(api *httpapi.API) httpapi.Option {
	registry := api.OpenAPI().Components.Schemas
	var shapes []*huma.Schema
	for _, t := range []reflect.Type{
		reflect.TypeFor[signupStarted](), reflect.TypeFor[signupPending](),
		reflect.TypeFor[httpapi.Envelope[identity.CustomerDoc]](),
	} {
		shapes = append(shapes, registry.Schema(t, true, t.Name()))
	}
	return httpapi.ResponseSchema(&huma.Schema{OneOf: shapes})
}

// SignUp answers POST /customers/signup, both steps of mode A and mode B.
func (h Handlers) SignUp(ctx context.Context, in *signupInput) (*signupOutput, error) {
	b := in.Body[0]
	n := request{
		promoCode: strings.TrimSpace(nullable.Value(b.PromoCode)),
		later:     b.VerifyEmailNow != nil && !*b.VerifyEmailNow, user: NewUser{
			Type: httpapi.TypeCustomer, Username: b.Username, Email: b.Email, Password: b.Password,
			FullName: b.FullName,
			TaxID:    nullable.Value(b.TaxID), Phone: b.Phone, Nationality: nullable.Value(b.Nationality),
			Language: in.AcceptLanguage,
		},
	}
	if b.Address.Set && !b.Address.Null {
		n.user.Address = &b.Address.Value
	}
	if b.VerificationCode != nil {
		return h.confirmSignup(ctx, n, *b.VerificationCode)
	}
	u, err := h.s.signUp(ctx, n)
	if err != nil {
		return nil, err
	}
	minutes := h.s.deps.Codes.Minutes()
	if !n.later {
		return &signupOutput{Body: signupStarted{
			CustomerID: u.ID, Email: u.Email, ExpiresInMinutes: minutes,
			Message: "A verification code is on its way. Send the same payload with verification_code.",
		}}, nil
	}
	session, err := h.s.startSession(ctx, u)
	if err != nil {
		return nil, err
	}
	return &signupOutput{Body: signupPending{
		CustomerID: u.ID, Email: u.Email, EmailVerificationPending: true, ExpiresInMinutes: minutes, Auth: session,
		Message: "Welcome. A verification code is on its way; send it to /customers/me/verify-email.",
	}}, nil
}

func (h Handlers) confirmSignup(ctx context.Context, n request, code secret.Text) (*signupOutput, error) {
	u, err := h.s.confirmSignup(ctx, n, code)
	if err != nil {
		return nil, err
	}
	access, err := h.s.deps.Sessions.SignUp(ctx, u)
	if err != nil {
		return nil, err
	}
	out, err := identity.CustomerEnvelope(ctx, u, Confirmed{
		Auth: confirmedAuth{
			AccessToken: access.Token, TokenType: sessions.TokenType, Expiration: httpapi.Time(access.ExpiresAt),
		},
		Message: "E-mail verified.", NextStep: "Choose a plan at GET /plans and subscribe.",
	})
	if err != nil {
		return nil, err
	}
	return &signupOutput{Body: out.Body}, nil
}
