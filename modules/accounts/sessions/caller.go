package sessions

import (
	"context"
	"fmt"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

// Verify checks signature, kind and expiry of an access token, without the
// database.
func (s *Sessions) Verify(token string) (httpapi.Claims, error) {
	return s.tokens.verify(accessKind, token)
}

// Caller reads the user that the claims name; 403 "Access Denied: Could not
// validate token." when they are gone, disabled, or have ended tokens of that age or the session. A root user
// without the second factor that MFA_REQUIRED_FOR_ROOT demands comes without root's rights.
func (s *Sessions) Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	c, err := s.db.CallerRead(ctx, s.deps.Pool, accountsdb.CallerReadParams{
		UserID: claims.UserID, IssuedAt: claims.IssuedAt, TokenID: claims.TokenID,
		SessionID: claims.SessionID.String(), MfaForRoot: s.deps.Config.MFARequiredForRoot,
	})
	if postgres.IsNoRows(err) {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	if err != nil {
		return httpapi.Caller{}, fmt.Errorf("read caller: %w", err)
	}
	caller := httpapi.Caller{
		ID: claims.UserID, Username: c.Username, Type: c.UserType, Root: c.IsRoot, Profiles: identity.IDsOf(c.Profiles),
		Handlers: c.Handlers, MFAMissing: c.MfaMissing, Claims: claims,
	}
	if caller.MFAMissing {
		caller.Root, caller.Handlers = false, []string{}
	}
	return caller, nil
}
