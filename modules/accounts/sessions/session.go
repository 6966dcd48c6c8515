package sessions

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// tokenSet is the contract's login response (docs/contract/accounts.md, Tokens).
type tokenSet struct {
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

// logIn checks a username or e-mail with its password (docs/contract/accounts.md, Tokens). Errors: 401
// INVALID_CREDENTIALS, 401 PASSWORD_RESET_REQUIRED for an imported user without a password of their own, 403 FORBIDDEN
// for a disabled one. The second result is the token of the device.
func (s *Sessions) logIn(ctx context.Context, login string, password secret.Text) (tokenSet, string, error) {
	began := s.deps.Clock.Now()
	u, err := s.authenticate(ctx, login, password)
	if err != nil {
		return tokenSet{}, "", err
	}
	issued := identity.IssuedAt(u, began)
	set, err := s.newSession(ctx, s.deps.Pool, u, issued)
	if err != nil {
		return tokenSet{}, "", err
	}
	s.syncAtLogin(ctx, u)
	if u.PasswordResetRequired {
		set.PasswordResetRequired = true
		set.Message = "Please choose a new password."
	}
	return set, s.provedDevice(ctx, u, issued), nil
}

// newSession makes the tokens of a session that counts from issued.
func (s *Sessions) newSession(ctx context.Context, db postgres.DB, u accountsdb.User,
	issued time.Time,
) (tokenSet, error) {
	archive, _, err := s.deps.Files.IssueArchiveTokenAt(ctx, db, u.ID, issued)
	if err != nil {
		return tokenSet{}, err
	}
	pair, err := s.issuePair(identity.CallerOf(u), issued)
	if err != nil {
		return tokenSet{}, err
	}
	return tokenSet{
		AccessToken: pair.AccessToken, RefreshToken: pair.RefreshToken, ArchiveToken: archive,
		TokenType: TokenType, IDToken: u.ID, Expiration: pair.Expiration,
	}, nil
}

// authenticate returns the user with this login and password. One look-up
// serves usernames and e-mails: they share one name space.
func (s *Sessions) authenticate(ctx context.Context, login string, password secret.Text) (accountsdb.User, error) {
	u, err := s.db.UserGetByLogin(ctx, s.deps.Pool, login)
	if err != nil && !postgres.IsNoRows(err) {
		return u, fmt.Errorf("read user: %w", err)
	}
	ok, stale, err := s.ProvePassword(ctx, u, login, password)
	switch {
	case err != nil:
		return u, err
	case u.PasswordResetRequired && u.PasswordHash == nil:
		return u, &fault.Error{
			Kind: fault.KindUnauthenticated, Code: fault.CodeResetRequired,
			Message: "Choose a new password: ask for a code at /auth/forgot-password.",
		}
	case !ok:
		return u, &fault.Error{
			Kind: fault.KindUnauthenticated, Code: fault.CodeInvalidCredentials, Message: "Wrong username or password.",
		}
	case !u.Enable:
		return u, fault.Forbidden("This account is disabled.")
	}
	if stale {
		s.rehash(ctx, u, password)
	}
	return u, nil
}

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

func (s *Sessions) issuePair(c httpapi.Caller, now time.Time) (tokenPair, error) {
	access, expires, err := s.tokens.sign(accessKind, c, now, s.deps.Config.AccessTokenTTL)
	if err != nil {
		return tokenPair{}, err
	}
	refresh, _, err := s.tokens.sign(refreshKind, c, now, s.deps.Config.RefreshTokenTTL)
	if err != nil {
		return tokenPair{}, err
	}
	return tokenPair{
		AccessToken: access, RefreshToken: refresh, TokenType: TokenType, IDToken: c.ID,
		Expiration: httpapi.Time(expires),
	}, nil
}

// refresh gives a new pair for a refresh token, which itself stays good until it
// expires; 403 "Access Denied: Could not validate token." for any other.
func (s *Sessions) refresh(ctx context.Context, token secret.Text) (tokenPair, error) {
	began := s.deps.Clock.Now()
	claims, err := s.tokens.verify(refreshKind, token.Reveal())
	if err != nil {
		return tokenPair{}, httpapi.ErrBadToken()
	}
	caller, err := s.Caller(ctx, claims)
	if err != nil {
		return tokenPair{}, err
	}
	return s.issuePair(caller, latest(began, claims.IssuedAt))
}

// AccessToken makes an access token for a user who has proved who they are some
// other way, such as by a mailed code.
func (s *Sessions) AccessToken(u accountsdb.User) (token string, expires time.Time, err error) {
	return s.tokens.sign(accessKind, identity.CallerOf(u), identity.IssuedAt(u, s.deps.Clock.Now()),
		s.deps.Config.AccessTokenTTL)
}
