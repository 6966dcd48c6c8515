package accounts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// callerSQL reads the user behind a token, live: no row when he is deleted or
// disabled, or when tokens of that age were ended. It is written by hand because
// it also travels in other modules' batches. $1 user id, $2 instant of issue, $3 token id ("" for archive tokens).
const callerSQL = `
SELECT u.username, u.user_type, u.is_root, u.type_user,
       CASE WHEN u.type_user = '{}' THEN '{}' ELSE ARRAY(
           SELECT DISTINCT h FROM accounts.users_type p, unnest(p.view || p."create" || p."update" || p."delete") h
           WHERE p.id = ANY (u.type_user)) END
FROM accounts.users u
WHERE u.id = $1 AND u.enable AND u.deleted_at IS NULL
  AND (u.tokens_valid_after IS NULL OR $2 >= u.tokens_valid_after
       OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after))`

// Verify checks signature, kind and expiry of an access token, without the
// database.
func (s *Service) Verify(token string) (httpapi.Claims, error) {
	return s.tokens.verify(accessKind, token)
}

// Caller reads the user that the claims name; 403 "Access Denied: Could not
// validate token." when he is gone, disabled, or has ended tokens of that age.
func (s *Service) Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	return scanCaller(s.pool.QueryRow(ctx, callerSQL, claims.UserID, claims.IssuedAt, claims.TokenID), claims)
}

// QueueCaller adds the reading of Caller to a batch, so that a route can check
// the user in the same round trip as its own query. done is called once, when
// the batch's results are read, with what Caller would return.
func (s *Service) QueueCaller(b *pgx.Batch, claims httpapi.Claims, done func(httpapi.Caller, error)) {
	b.Queue(callerSQL, claims.UserID, claims.IssuedAt, claims.TokenID).QueryRow(func(row pgx.Row) error {
		caller, err := scanCaller(row, claims)
		done(caller, err)
		return nil
	})
}

func scanCaller(row pgx.Row, claims httpapi.Claims) (httpapi.Caller, error) {
	c := httpapi.Caller{ID: claims.UserID, Claims: claims}
	var profiles []string
	err := row.Scan(&c.Username, &c.Type, &c.Root, &profiles, &c.Handlers)
	if postgres.IsNoRows(err) {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	if err != nil {
		return httpapi.Caller{}, fmt.Errorf("read caller: %w", err)
	}
	c.Profiles = idsOf(profiles)
	return c, nil
}

func idsOf(texts []string) []objectid.ID {
	ids := make([]objectid.ID, len(texts))
	for i, t := range texts {
		ids[i] = objectid.ID(t)
	}
	return ids
}
