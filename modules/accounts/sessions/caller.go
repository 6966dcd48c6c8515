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
// validate token." when they are gone, disabled, or have ended tokens of that age.
func (s *Sessions) Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	c, err := s.db.CallerRead(ctx, s.deps.Pool, accountsdb.CallerReadParams{
		UserID: claims.UserID, IssuedAt: claims.IssuedAt, TokenID: claims.TokenID,
	})
	if postgres.IsNoRows(err) {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	if err != nil {
		return httpapi.Caller{}, fmt.Errorf("read caller: %w", err)
	}
	return httpapi.Caller{
		ID: claims.UserID, Username: c.Username, Type: c.UserType, Root: c.IsRoot, Profiles: identity.IDsOf(c.Profiles),
		Handlers: c.Handlers, Claims: claims,
	}, nil
}
