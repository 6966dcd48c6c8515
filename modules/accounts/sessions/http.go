package sessions

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"marquee/modules/accounts/identity"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

type tokenInput struct {
	DeviceInput
	RawBody []byte
}

// TokenOutput is the answer to a sign-in.
type TokenOutput struct {
	DeviceOutput
	Body TokenSet
}

// Token answers POST /token.
func (h Handlers) Token(ctx context.Context, in *tokenInput) (*TokenOutput, error) {
	form, err := httpapi.ParseForm(in.RawBody)
	if err != nil {
		return nil, err
	}
	login, password := form.Get("username"), secret.NewText(form.Get("password"))
	if err := checkCredentials(login, password); err != nil {
		return nil, err
	}
	code := secret.NewText(form.Get("totp"))
	if len(code.Reveal()) > maxCodeLength {
		return nil, fault.InvalidAt(fmt.Sprintf("has to be at most %d characters long", maxCodeLength), "body", "totp")
	}
	return h.s.logIn(in.DeviceInput.In(ctx), login, password, code)
}

// maxCodeLength bounds a code of an authenticator, or a recovery code, in bytes.
const maxCodeLength = 64

// checkCredentials refuses what no account can have, before it costs a hash.
func checkCredentials(login string, password secret.Text) error {
	switch {
	case strings.TrimSpace(login) == "":
		return fault.InvalidAt("is required", "body", "username")
	case password.Empty():
		return fault.InvalidAt("is required", "body", "password")
	case len(login) > 4*identity.MaxEmailLength || !utf8.ValidString(login):
		return fault.InvalidAt("is not a username or e-mail", "body", "username")
	case utf8.RuneCountInString(password.Reveal()) > MaxPasswordLength:
		return fault.InvalidAt(fmt.Sprintf("has to be at most %d characters long", MaxPasswordLength), "body",
			"password")
	}
	return nil
}

// currentUser is the contract's token data (docs/contract/accounts.md, Tokens).
type currentUser struct {
	UserID   objectid.ID   `json:"user_id"`
	Username string        `json:"username"`
	TypeUser []objectid.ID `json:"type_user" doc:"Profile ids; empty for customers"`
	TZ       string        `json:"tz"`
}

// CurrentUser answers GET /current-user.
func (h Handlers) CurrentUser(ctx context.Context, _ *struct{}) (*httpapi.Output[currentUser], error) {
	c := httpapi.CallerOf(ctx)
	return httpapi.OK(currentUser{UserID: c.ID, Username: c.Username, TypeUser: c.Profiles, TZ: defaultTZ})
}

type refreshInput struct {
	Body struct {
		RefreshToken secret.Text `json:"refresh_token" maxLength:"8192"`
	}
}

// RefreshToken answers POST /auth/refresh-token.
func (h Handlers) RefreshToken(ctx context.Context, in *refreshInput) (*httpapi.Output[tokenPair], error) {
	pair, err := h.s.refresh(ctx, in.Body.RefreshToken)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(pair)
}

type archiveToken struct {
	ArchiveToken string       `json:"archive_token"`
	Expiration   httpapi.Time `json:"expiration"`
}

// RefreshArchiveToken answers POST /auth/refresh-archive-token.
func (h Handlers) RefreshArchiveToken(ctx context.Context, _ *struct{}) (*httpapi.Output[archiveToken], error) {
	c := httpapi.CallerOf(ctx)
	token, expires, err := h.s.deps.Files.IssueArchiveToken(ctx, h.s.deps.Pool, c.ID, c.Claims.SessionID)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(archiveToken{ArchiveToken: token, Expiration: httpapi.Time(expires)})
}
