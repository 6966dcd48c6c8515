package sessions

import (
	"context"
	"fmt"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
)

// Verify checks signature, kind and expiry of an access token, without the
// database.
func (s *Sessions) Verify(token string) (httpapi.Claims, error) {
	return s.tokens.verify(accessKind, token)
}

// Caller reads the user that the claims name; 403 "Access Denied: Could not
// validate token." when they are gone, disabled, or have ended tokens of that age. Where there are replicas, a
// request that writes is noted by the same statement, and one that reads is told how old what it lists may be.
func (s *Sessions) Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	c, err := readCaller(ctx, s, claims)
	if postgres.IsNoRows(err) {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	if err != nil {
		return httpapi.Caller{}, fmt.Errorf("read caller: %w", err)
	}
	return httpapi.Caller{
		ID: claims.UserID, Username: c.Username, Type: c.UserType, Root: c.IsRoot, Profiles: identity.IDsOf(c.Profiles),
		Handlers: c.Handlers, Claims: claims, Written: replica.LSN(c.Written),
	}, nil
}

func readCaller(ctx context.Context, s *Sessions, of httpapi.Claims) (accountsdb.CallerReadAndLastWriteRow, error) {
	remembered := s.deps.Config.WritesRemembered
	switch {
	case remembered == 0:
		c, err := s.db.CallerRead(ctx, s.deps.Pool, accountsdb.CallerReadParams{
			UserID: of.UserID, IssuedAt: of.IssuedAt, TokenID: of.TokenID,
		})
		return withoutWrite(c), err
	case httpapi.Writes(ctx):
		c, err := s.db.CallerReadAndRecordWrite(ctx, s.deps.Pool, accountsdb.CallerReadAndRecordWriteParams{
			UserID: of.UserID, IssuedAt: of.IssuedAt, TokenID: of.TokenID,
		})
		return withoutWrite(accountsdb.CallerReadRow(c)), err
	}
	return s.db.CallerReadAndLastWrite(ctx, s.deps.Pool, accountsdb.CallerReadAndLastWriteParams{
		UserID: of.UserID, IssuedAt: of.IssuedAt, TokenID: of.TokenID, Seconds: remembered.Seconds(),
	})
}

func withoutWrite(c accountsdb.CallerReadRow) accountsdb.CallerReadAndLastWriteRow {
	return accountsdb.CallerReadAndLastWriteRow{
		Username: c.Username, UserType: c.UserType, IsRoot: c.IsRoot, Profiles: c.Profiles, Handlers: c.Handlers,
	}
}

// StillWrites notes that a request of the user, which has taken long, still writes.
func (s *Sessions) StillWrites(ctx context.Context, user objectid.ID) error {
	if err := s.db.LastWriteRecord(ctx, s.deps.Pool, user); err != nil {
		return fmt.Errorf("note a write: %w", err)
	}
	return nil
}
