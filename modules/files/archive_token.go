package files

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/files/internal/filesdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// IssueArchiveToken makes a token for the user. The token itself is returned
// once and stored nowhere. db may be a transaction of the caller's.
func (s *Service) IssueArchiveToken(ctx context.Context, db postgres.DB,
	userID objectid.ID,
) (token string, expires time.Time, err error) {
	return s.IssueArchiveTokenAt(ctx, db, userID, s.deps.Clock.Now())
}

// IssueArchiveTokenAt is IssueArchiveToken for a user who was read at an earlier
// instant: what has ended their tokens since then ends this one too.
func (s *Service) IssueArchiveTokenAt(ctx context.Context, db postgres.DB, userID objectid.ID,
	now time.Time,
) (token string, expires time.Time, err error) {
	token = secret.Random(32)
	expires = now.Add(s.deps.Config.ArchiveTokenTTL)
	err = s.db.ArchiveTokenInsert(ctx, db, filesdb.ArchiveTokenInsertParams{
		TokenHash: secret.Hash(token), UserID: userID, IssuedAt: now, ExpiresAt: expires,
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("issue archive token: %w", err)
	}
	return token, expires, nil
}

// CallerByArchiveToken returns the user behind an archive token, read live. 403
// FORBIDDEN for an unknown or expired token, and for one of a user who is gone,
// disabled, or has ended tokens of that age.
func (s *Service) CallerByArchiveToken(ctx context.Context, token string) (httpapi.Caller, error) {
	row, err := s.db.ArchiveTokenGet(ctx, s.deps.Pool,
		filesdb.ArchiveTokenGetParams{TokenHash: secret.Hash(token), Now: s.deps.Clock.Now()})
	if postgres.IsNoRows(err) {
		return httpapi.Caller{}, errBadArchiveToken()
	}
	if err != nil {
		return httpapi.Caller{}, fmt.Errorf("read archive token: %w", err)
	}
	caller, err := s.users.Caller(ctx, httpapi.Claims{UserID: row.UserID, IssuedAt: row.IssuedAt})
	if fault.Is(err, fault.KindForbidden) {
		return httpapi.Caller{}, errBadArchiveToken()
	}
	return caller, err
}

func errBadArchiveToken() *fault.Error {
	return fault.Forbidden("The archive token is invalid or expired.")
}
