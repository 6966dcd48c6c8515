package files

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/files/internal/filesdb"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// ArchiveOwner is the user behind an archive token and when it was issued.
type ArchiveOwner struct {
	UserID   objectid.ID
	IssuedAt time.Time
}

// IssueArchiveToken makes a token for the user. The token itself is returned
// once and stored nowhere. db may be a transaction of the caller's.
func (s *Service) IssueArchiveToken(ctx context.Context, db postgres.DB, userID objectid.ID) (token string, expires time.Time, err error) {
	token = secret.Random(32)
	now := s.clock.Now()
	expires = now.Add(s.cfg.ArchiveTokenTTL)
	err = s.q.ArchiveTokenInsert(ctx, db, filesdb.ArchiveTokenInsertParams{
		TokenHash: secret.Hash(token), UserID: userID, IssuedAt: now, ExpiresAt: expires,
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("issue archive token: %w", err)
	}
	return token, expires, nil
}

// ArchiveTokenOwner returns whose token it is; 403 FORBIDDEN for an unknown or
// expired one.
func (s *Service) ArchiveTokenOwner(ctx context.Context, token string) (ArchiveOwner, error) {
	row, err := s.q.ArchiveTokenGet(ctx, s.pool, filesdb.ArchiveTokenGetParams{TokenHash: secret.Hash(token), Now: s.clock.Now()})
	if postgres.IsNoRows(err) {
		return ArchiveOwner{}, fault.Denied("The archive token is invalid or expired.")
	}
	if err != nil {
		return ArchiveOwner{}, fmt.Errorf("read archive token: %w", err)
	}
	return ArchiveOwner{UserID: row.UserID, IssuedAt: row.IssuedAt.UTC()}, nil
}
