package files

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/files/internal/filesdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// ArchiveToken is a token that has been made. The token itself stands nowhere.
type ArchiveToken struct {
	Token     string
	Hash      string // by which it is known again
	ExpiresAt time.Time
}

// NewArchiveToken makes a token of that instant, for files.issue_archive_token to write: a caller's
// statement does so together with what is its own.
func (s *Service) NewArchiveToken(issued time.Time) ArchiveToken {
	token := secret.Random(32)
	return ArchiveToken{Token: token, Hash: secret.Hash(token), ExpiresAt: issued.Add(s.deps.Config.ArchiveTokenTTL)}
}

// IssueArchiveToken makes a token for the user, which ends with the session; "" is none. The token itself is
// returned once and stored nowhere. db may be a transaction of the caller's.
func (s *Service) IssueArchiveToken(ctx context.Context, db postgres.DB,
	userID, sessionID objectid.ID,
) (token string, expires time.Time, err error) {
	now := s.deps.Clock.Now()
	made := s.NewArchiveToken(now)
	err = s.db.ArchiveTokenInsert(ctx, db, filesdb.ArchiveTokenInsertParams{
		TokenHash: made.Hash, UserID: userID, SessionID: nullable.Ptr(sessionID), IssuedAt: now,
		ExpiresAt: made.ExpiresAt,
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("issue archive token: %w", err)
	}
	return made.Token, made.ExpiresAt, nil
}

// CallerByArchiveToken returns the user behind an archive token, read live. 403
// FORBIDDEN for an unknown or expired token, and for one of a user who is gone,
// disabled, or has ended tokens of that age, or the session.
func (s *Service) CallerByArchiveToken(ctx context.Context, token string) (httpapi.Caller, error) {
	row, err := s.db.ArchiveTokenGet(ctx, s.deps.Pool,
		filesdb.ArchiveTokenGetParams{TokenHash: secret.Hash(token), Now: s.deps.Clock.Now()})
	if postgres.IsNoRows(err) {
		return httpapi.Caller{}, errBadArchiveToken()
	}
	if err != nil {
		return httpapi.Caller{}, fmt.Errorf("read archive token: %w", err)
	}
	caller, err := s.users.Caller(ctx, httpapi.Claims{
		UserID: row.UserID, IssuedAt: row.IssuedAt, SessionID: nullable.Value(row.SessionID),
	})
	if fault.Is(err, fault.KindForbidden) {
		return httpapi.Caller{}, errBadArchiveToken()
	}
	return caller, err
}

func errBadArchiveToken() *fault.Error {
	return fault.Forbidden("The archive token is invalid or expired.")
}
