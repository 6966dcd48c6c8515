package sessions

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

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
// validate token." when they are gone, disabled, or have ended tokens of that age or the session. A root user
// without the second factor that MFA_REQUIRED_FOR_ROOT demands comes without root's rights. Where there are replicas, a
// request that writes is noted by the same statement, and one that reads is told how old what it lists may be.
func (s *Sessions) Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	c, err := readCaller(ctx, s, claims)
	if postgres.IsNoRows(err) {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	if err != nil {
		return httpapi.Caller{}, fmt.Errorf("read caller: %w", err)
	}
	caller := httpapi.Caller{
		ID: claims.UserID, Username: c.Username, Type: c.UserType, Root: c.IsRoot, Profiles: identity.IDsOf(c.Profiles),
		Handlers: c.Handlers, MFAMissing: c.MfaMissing, Claims: claims, Written: replica.LSN(c.Written),
	}
	if caller.MFAMissing {
		caller.Root, caller.Handlers = false, []string{}
	}
	if claims.ViewerID != "" {
		return caller, s.checkViewer(ctx, claims)
	}
	return caller, nil
}

func readCaller(ctx context.Context, s *Sessions, of httpapi.Claims) (accountsdb.CallerReadAndLastWriteRow, error) {
	if httpapi.Inside(ctx) && of.SessionID != "" {
		signedOut, err := s.db.SessionGetSignedOut(ctx, s.deps.Pool, of.SessionID)
		if err != nil {
			return accountsdb.CallerReadAndLastWriteRow{}, err
		}
		if signedOut { // which ends nothing that was begun in it
			of.SessionID = ""
		}
	}
	remembered := s.deps.Config.WritesRemembered
	read := accountsdb.CallerReadParams{
		UserID: of.UserID, IssuedAt: of.IssuedAt, TokenID: of.TokenID,
		SessionID:  of.SessionID.String(),
		MfaForRoot: s.deps.Config.MFARequiredForRoot && !httpapi.Inside(ctx), // which was begun with one
	}
	switch {
	case remembered == 0:
		c, err := s.db.CallerRead(ctx, s.deps.Pool, read)
		return withoutWrite(c), err
	case httpapi.Writes(ctx):
		c, err := s.db.CallerReadAndRecordWrite(ctx, s.deps.Pool, accountsdb.CallerReadAndRecordWriteParams(read))
		return withoutWrite(accountsdb.CallerReadRow(c)), err
	}
	return s.db.CallerReadAndLastWrite(ctx, s.deps.Pool, accountsdb.CallerReadAndLastWriteParams{
		UserID: of.UserID, IssuedAt: of.IssuedAt, TokenID: of.TokenID, SessionID: read.SessionID,
		MfaForRoot: read.MfaForRoot, Seconds: remembered.Seconds(),
	})
}

func withoutWrite(c accountsdb.CallerReadRow) accountsdb.CallerReadAndLastWriteRow {
	return accountsdb.CallerReadAndLastWriteRow{
		Username: c.Username, UserType: c.UserType, IsRoot: c.IsRoot, Profiles: c.Profiles, Handlers: c.Handlers,
		MfaMissing: c.MfaMissing,
	}
}

// LockCallerTx locks the row of who calls and returns it; 403 as Caller when their token was ended meanwhile. Whatever
// ends all tokens of a user locks the row, too: it comes before, or finds what the caller writes in the transaction.
func (s *Sessions) LockCallerTx(ctx context.Context, tx pgx.Tx) (accountsdb.User, error) {
	of := httpapi.CallerOf(ctx).Claims
	u, err := s.db.UserLockAny(ctx, tx, of.UserID)
	if err == nil {
		_, err = s.db.CallerRead(ctx, tx, accountsdb.CallerReadParams{
			UserID: of.UserID, IssuedAt: of.IssuedAt, TokenID: of.TokenID, SessionID: of.SessionID.String(),
		})
	}
	if postgres.IsNoRows(err) {
		return u, httpapi.ErrBadToken()
	}
	if err != nil {
		return u, fmt.Errorf("lock caller: %w", err)
	}
	return u, nil
}

// StillWrites notes that a request of the user, which has taken long, still writes.
func (s *Sessions) StillWrites(ctx context.Context, user objectid.ID) error {
	if err := s.db.LastWriteRecord(ctx, s.deps.Pool, user); err != nil {
		return fmt.Errorf("note a write: %w", err)
	}
	return nil
}
