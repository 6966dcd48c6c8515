package signins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// The methods of accounts.sessions.
const (
	ByLogin        = "login" // name and password
	ByTOTP         = "totp"
	ByRecoveryCode = "recovery_code"
	ByPasskey      = "passkey"
	BySignup       = "signup"
)

const (
	// issuing is longer than it may take to issue tokens for what was checked before a session ended: an ended
	// session is known for so long beyond the end of the last token.
	issuing = time.Hour
	// mostListed bounds a list of sessions.
	mostListed = 200
)

// Deps are what New needs.
type Deps struct {
	Pool  postgres.Pool
	Clock clock.Clock
	// LongestLife is that of the token of a session that lives longest.
	LongestLife time.Duration
}

// Store keeps sessions.
type Store struct {
	deps Deps
	db   *accountsdb.Queries
}

// New makes the room.
func New(d Deps) *Store { return &Store{deps: d, db: accountsdb.New()} }

// Start says how a session begins, or, where its ID is known, goes on.
type Start struct {
	ID     objectid.ID // "" for a new one
	UserID objectid.ID
	Method string
	Issued time.Time // when its tokens are issued
}

// Begin writes a session with the archive token of its sign-in, by one statement, and returns its id. Of one
// that goes on, it notes that tokens are issued; one that is ended stays so.
func (s *Store) Begin(ctx context.Context, db postgres.DB, of Start, archive files.ArchiveToken) (objectid.ID, error) {
	row := s.rowOf(ctx, of)
	err := s.db.SessionBegin(ctx, db, accountsdb.SessionBeginParams{
		ID: row.ID, UserID: row.UserID, Method: row.Method, SecondFactor: row.SecondFactor, Device: row.Device,
		Address: row.Address, IssuedAt: row.IssuedAt, ExpiresAt: row.ExpiresAt, TokenHash: archive.Hash,
		ArchiveExpiresAt: archive.ExpiresAt,
	})
	if err != nil {
		return "", fmt.Errorf("begin session: %w", err)
	}
	return row.ID, nil
}

// BeginShort writes a session of a single token, which lives so long, and returns its id.
func (s *Store) BeginShort(ctx context.Context, db postgres.DB, of Start, life time.Duration) (objectid.ID, error) {
	row := s.rowOf(ctx, of)
	row.ExpiresAt = of.Issued.Add(life)
	if err := s.db.SessionInsert(ctx, db, row); err != nil {
		return "", fmt.Errorf("begin session: %w", err)
	}
	return row.ID, nil
}

// Refresh reads who stands behind a refresh token, live, and notes that tokens are issued for it, by one
// statement; ok is false when they are to have none, and when the session is ended, also at this very moment.
func (s *Store) Refresh(ctx context.Context, claims httpapi.Claims,
	issued time.Time,
) (c accountsdb.SessionTouchRow, id objectid.ID, ok bool, err error) {
	row := s.rowOf(ctx, Start{ID: sessionOf(claims), UserID: claims.UserID, Issued: issued})
	c, err = s.db.SessionTouch(ctx, s.deps.Pool, accountsdb.SessionTouchParams{
		UserID: row.UserID, TokenIssuedAt: claims.IssuedAt, TokenID: claims.TokenID, ID: row.ID.String(),
		Device: row.Device, Address: row.Address, IssuedAt: row.IssuedAt, ExpiresAt: row.ExpiresAt,
	})
	if postgres.IsNoRows(err) {
		return c, "", false, nil
	}
	if err != nil {
		return c, "", false, fmt.Errorf("refresh session: %w", err)
	}
	return c, row.ID, true, nil
}

// rowOf is the session as it is kept for people to see.
func (s *Store) rowOf(ctx context.Context, of Start) accountsdb.SessionInsertParams {
	if of.ID == "" {
		of.ID = objectid.At(of.Issued)
	}
	second := of.Method == ByTOTP || of.Method == ByRecoveryCode || of.Method == ByPasskey
	return accountsdb.SessionInsertParams{
		ID: of.ID, UserID: of.UserID, Method: of.Method, SecondFactor: second,
		Device: httpapi.Device(ctx), Address: httpapi.ClientIP(ctx), IssuedAt: of.Issued,
		ExpiresAt: of.Issued.Add(s.deps.LongestLife),
	}
}

// sessionOf is the session of a refresh token. One of before sessions has that which follows from its own id: however
// often it is refreshed, it is one session, and is refused once that is ended.
func sessionOf(claims httpapi.Claims) objectid.ID {
	if claims.SessionID != "" {
		return claims.SessionID
	}
	sum := sha256.Sum256([]byte("session of " + claims.TokenID))
	return objectid.ID(hex.EncodeToString(sum[:12]))
}

// Session is a sign-in as its owner sees it.
type Session struct {
	ID           objectid.ID  `json:"_id"`
	Method       string       `json:"method" enum:"login,totp,recovery_code,passkey,signup,earlier" doc:"By what it was begun; login: name and password; earlier: a token of before sessions"`
	SecondFactor bool         `json:"second_factor" doc:"Whether a second factor was proved in it"`
	Device       string       `json:"device" doc:"User-Agent of the last sign-in or refresh, at most 300 characters; empty for none"`
	Address      string       `json:"address" doc:"IP address of the same"`
	StartedAt    httpapi.Time `json:"started_at"`
	RefreshedAt  httpapi.Time `json:"refreshed_at" doc:"When its last tokens were issued"`
	ExpiresAt    httpapi.Time `json:"expires_at" doc:"When the last of its tokens ends, unless it is refreshed"`
	Current      bool         `json:"current" doc:"true of the session that asks"`
}

// list is the user's sessions that go on, the last used first, 200 at most.
func (s *Store) list(ctx context.Context, userID objectid.ID) ([]Session, error) {
	rows, err := s.db.SessionListOfUser(ctx, s.deps.Pool, accountsdb.SessionListOfUserParams{
		UserID: userID, Now: s.deps.Clock.Now(), PageSize: mostListed,
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	current, all := httpapi.CallerOf(ctx).Claims.SessionID, make([]Session, len(rows))
	for i, row := range rows {
		all[i] = sessionFrom(row)
		all[i].Current = row.ID == current
	}
	return all, nil
}

func sessionFrom(row accountsdb.AccountsSession) Session {
	return Session{
		ID: row.ID, Method: row.Method, SecondFactor: row.SecondFactor, Device: row.Device, Address: row.Address,
		StartedAt: httpapi.Time(row.StartedAt), RefreshedAt: httpapi.Time(row.RefreshedAt),
		ExpiresAt: httpapi.Time(row.ExpiresAt),
	}
}

// Record is a sign-in in the file of what is held about somebody.
type Record struct {
	Session
	EndedAt *httpapi.Time `json:"ended_at"`
}

// RecordsOf are all sessions of the user that are known, those that are over, too.
func (s *Store) RecordsOf(ctx context.Context, db postgres.DB, userID objectid.ID) ([]Record, error) {
	rows, err := s.db.SessionListPersonal(ctx, db, userID)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	all := make([]Record, len(rows))
	for i, row := range rows {
		all[i] = Record{Session: sessionFrom(row), EndedAt: httpapi.TimePtr(row.EndedAt)}
	}
	return all, nil
}

// endTx ends one session of the user; false when there is no such one that goes on. The session that asks signs out.
func (s *Store) endTx(ctx context.Context, tx pgx.Tx, userID, id objectid.ID) (bool, error) {
	now := s.deps.Clock.Now()
	n, err := s.db.SessionEnd(ctx, tx, accountsdb.SessionEndParams{
		ID: id, UserID: userID, Now: &now, RefusedUntil: now.Add(s.deps.LongestLife + issuing),
		SignedOut: id == httpapi.CallerOf(ctx).Claims.SessionID,
	})
	if err != nil {
		return false, fmt.Errorf("end session: %w", err)
	}
	return n > 0, nil
}

// endOthersTx ends all sessions of the user but one, "" for all, and returns how many.
func (s *Store) endOthersTx(ctx context.Context, tx pgx.Tx, userID, except objectid.ID) (int, error) {
	now := s.deps.Clock.Now()
	n, err := s.db.SessionEndOthers(ctx, tx, accountsdb.SessionEndOthersParams{
		UserID: userID, ExceptID: except.String(), Now: &now, RefusedUntil: now.Add(s.deps.LongestLife + issuing),
	})
	if err != nil {
		return 0, fmt.Errorf("end sessions: %w", err)
	}
	return int(n), nil
}

// SecondFactorProvedTx notes that the caller has just proved a second factor in their session.
func (s *Store) SecondFactorProvedTx(ctx context.Context, tx pgx.Tx, c httpapi.Caller) error {
	return s.db.SessionMarkSecondFactor(ctx, tx, accountsdb.SessionMarkSecondFactorParams{
		ID: c.Claims.SessionID.String(), UserID: c.ID,
	})
}

// ForgetTx removes the sessions of a user whose account is gone.
func (s *Store) ForgetTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) error {
	if err := s.db.SessionDeleteOfUser(ctx, tx, userID); err != nil {
		return fmt.Errorf("forget sessions: %w", err)
	}
	return nil
}

// Sweep removes sessions whose last token is over.
func (s *Store) Sweep(ctx context.Context, db postgres.DB) error {
	_, err := s.db.SessionDeleteOver(ctx, db, s.deps.Clock.Now())
	return err
}
