package sessions

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/signins"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// TokenSet is the contract's login response (docs/contract/accounts.md, Tokens).
type TokenSet struct {
	AccessToken           string       `json:"access_token"`
	RefreshToken          string       `json:"refresh_token"`
	ArchiveToken          string       `json:"archive_token" doc:"Opens stored files without an Authorization header"`
	TokenType             string       `json:"token_type" enum:"bearer"`
	IDToken               objectid.ID  `json:"id_token" doc:"Id of the user"`
	Expiration            httpapi.Time `json:"expiration" doc:"When the access token ends"`
	PasswordResetRequired bool         `json:"password_reset_required,omitempty"`
	Message               string       `json:"message,omitempty"`
}

// tokenPair is what a refresh gives.
type tokenPair struct {
	AccessToken  string       `json:"access_token"`
	RefreshToken string       `json:"refresh_token"`
	TokenType    string       `json:"token_type" enum:"bearer"`
	IDToken      objectid.ID  `json:"id_token" doc:"Id of the user"`
	Expiration   httpapi.Time `json:"expiration" doc:"When the access token ends"`
}

// logIn checks a username or e-mail with its password, and the code of a second factor where the user has one
// (docs/contract/accounts.md, Tokens). Errors: 401 INVALID_CREDENTIALS, 401 MFA_REQUIRED without that code, 401
// PASSWORD_RESET_REQUIRED for an imported user without a password of their own, 403 FORBIDDEN for a disabled one.
func (s *Sessions) logIn(ctx context.Context, login string, password, code secret.Text) (*TokenOutput, error) {
	began := s.deps.Clock.Now()
	u, method, err := s.authenticate(ctx, login, password, code)
	if err != nil {
		return nil, err
	}
	return s.SignIn(ctx, u, began, method)
}

// SignIn begins a session of a user who has proved who they are, by a method of accounts.sessions. began is
// an instant before the user was read: what has ended their tokens since then ends these, too. Errors: 403
// FORBIDDEN for a disabled user.
func (s *Sessions) SignIn(ctx context.Context, u accountsdb.User, began time.Time,
	method string,
) (*TokenOutput, error) {
	if !u.Enable {
		return nil, errDisabled()
	}
	issued := identity.IssuedAt(u, began)
	set, err := s.newSession(ctx, s.deps.Pool, u, signins.Start{UserID: u.ID, Method: method, Issued: issued})
	if err != nil {
		return nil, err
	}
	s.syncAtLogin(ctx, u)
	if u.PasswordResetRequired {
		set.PasswordResetRequired = true
		set.Message = "Please choose a new password."
	}
	return &TokenOutput{DeviceOutput: s.deviceOutput(ctx, s.provedDevice(ctx, u, issued)), Body: set}, nil
}

// newSession makes the tokens of a session.
func (s *Sessions) newSession(ctx context.Context, db postgres.DB, u accountsdb.User,
	begins signins.Start,
) (TokenSet, error) {
	archive := s.deps.Files.NewArchiveToken(begins.Issued)
	id, err := s.deps.SignIns.Begin(ctx, db, begins, archive)
	if err != nil {
		return TokenSet{}, err
	}
	pair, err := s.issuePair(identity.CallerOf(u), id, begins.Issued)
	if err != nil {
		return TokenSet{}, err
	}
	return TokenSet{
		AccessToken: pair.AccessToken, RefreshToken: pair.RefreshToken, ArchiveToken: archive.Token,
		TokenType: TokenType, IDToken: u.ID, Expiration: pair.Expiration,
	}, nil
}

// authenticate returns the user with this login and password, and by what they proved it. One look-up
// serves usernames and e-mails: they share one name space.
func (s *Sessions) authenticate(ctx context.Context, login string,
	password, code secret.Text,
) (u accountsdb.User, method string, err error) {
	row, err := s.db.UserGetForLogin(ctx, s.deps.Pool, login)
	if err != nil && !postgres.IsNoRows(err) {
		return u, "", fmt.Errorf("read user: %w", err)
	}
	u, method = row.User, signins.ByLogin
	var second func(context.Context) (bool, error)
	if row.HasTotp {
		second = s.secondFactor(u, code, &method)
	}
	ok, stale, err := s.prove(ctx, u, login, password, second)
	switch {
	case err != nil:
		return u, "", err
	case u.PasswordResetRequired && u.PasswordHash == nil:
		return u, "", &fault.Error{
			Kind: fault.KindUnauthenticated, Code: fault.CodeResetRequired,
			Message: "Choose a new password: ask for a code at /auth/forgot-password.",
		}
	case !ok:
		return u, "", &fault.Error{
			Kind: fault.KindUnauthenticated, Code: fault.CodeInvalidCredentials, Message: "Wrong username or password.",
		}
	case !u.Enable:
		return u, "", errDisabled()
	}
	if stale {
		s.rehash(ctx, u, password)
	}
	return u, method, nil
}

func errDisabled() error { return fault.Forbidden("This account is disabled.") }

// rehash brings a hash made with other parameters to the present ones. The login
// does not depend on it.
func (s *Sessions) rehash(ctx context.Context, u accountsdb.User, password secret.Text) {
	hash, err := s.deps.Hasher.Hash(ctx, password)
	if err == nil {
		err = s.db.UserRehash(ctx, s.deps.Pool, accountsdb.UserRehashParams{
			ID: u.ID, NewHash: &hash, OldHash: *u.PasswordHash,
		})
	}
	if err != nil {
		s.deps.Log.WarnContext(ctx, "password not rehashed", "user_id", u.ID, "error", err)
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (s *Sessions) issuePair(c httpapi.Caller, session objectid.ID, now time.Time) (tokenPair, error) {
	access, expires, err := s.tokens.sign(accessKind, c, session, now, s.deps.Config.AccessTokenTTL)
	if err != nil {
		return tokenPair{}, err
	}
	refresh, _, err := s.tokens.sign(refreshKind, c, session, now, s.deps.Config.RefreshTokenTTL)
	if err != nil {
		return tokenPair{}, err
	}
	return tokenPair{
		AccessToken: access, RefreshToken: refresh, TokenType: TokenType, IDToken: c.ID,
		Expiration: httpapi.Time(expires),
	}, nil
}

// refresh gives a new pair of the same session for a refresh token, which itself stays good until it
// expires; 403 "Access Denied: Could not validate token." for any other, and of a session that is ended, also at the same
// moment.
func (s *Sessions) refresh(ctx context.Context, token secret.Text) (tokenPair, error) {
	began := s.deps.Clock.Now()
	claims, err := s.tokens.verify(refreshKind, token.Reveal())
	if err != nil {
		return tokenPair{}, httpapi.ErrBadToken()
	}
	issued := latest(began, claims.IssuedAt)
	c, session, ok, err := s.deps.SignIns.Refresh(ctx, claims, issued)
	if err != nil {
		return tokenPair{}, err
	}
	if !ok {
		return tokenPair{}, httpapi.ErrBadToken()
	}
	return s.issuePair(httpapi.Caller{
		ID: claims.UserID, Username: c.Username, Type: c.UserType, Root: c.IsRoot, Profiles: identity.IDsOf(c.Profiles),
	}, session, issued)
}

// Access is a session of an access token alone.
type Access struct {
	Token     string
	ExpiresAt time.Time
	SessionID objectid.ID
}

// SignUp begins a session of a user who has proved who they are by signing up, with an access token alone.
func (s *Sessions) SignUp(ctx context.Context, u accountsdb.User) (a Access, err error) {
	begins := signins.Start{
		UserID: u.ID, Method: signins.BySignup, Issued: identity.IssuedAt(u, s.deps.Clock.Now()),
	}
	a.SessionID, err = s.deps.SignIns.BeginShort(ctx, s.deps.Pool, begins, s.deps.Config.AccessTokenTTL)
	if err != nil {
		return a, err
	}
	a.Token, a.ExpiresAt, err = s.tokens.sign(accessKind, identity.CallerOf(u), a.SessionID, begins.Issued,
		s.deps.Config.AccessTokenTTL)
	return a, err
}
