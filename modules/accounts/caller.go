package accounts

import (
	"context"
	"fmt"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// callerSQL reads the user behind a token, live: no row when he is deleted or
// disabled, or when tokens of that age were ended. It is written by hand because
// it also travels in other modules' statements. $1 user id, $2 instant of issue, $3 token id ("" for archive tokens).
const callerSQL = `
SELECT u.username, u.user_type, u.is_root, u.type_user,
       CASE WHEN u.type_user = '{}' THEN '{}' ELSE accounts.rights_of(u.type_user) END AS handlers
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
	var caller httpapi.Caller
	var refused error
	part := s.CallerPart(claims, func(c httpapi.Caller, err error) { caller, refused = c, err })
	if err := (postgres.Parts{part}).Ask(ctx, s.pool); err != nil {
		return httpapi.Caller{}, fmt.Errorf("read caller: %w", err)
	}
	return caller, refused
}

// CallerPart reads the same as Caller in a statement with others, so that a route
// can check the user in the same round trip as its own query. done is called once
// the statement is read, with the caller or the 403 to answer with.
func (s *Service) CallerPart(claims httpapi.Claims, done func(httpapi.Caller, error)) postgres.Part {
	c := httpapi.Caller{ID: claims.UserID, Claims: claims}
	var username, userType *string
	var root *bool
	var profiles []string
	return postgres.Part{
		SQL: callerSQL, Args: []any{claims.UserID, claims.IssuedAt, claims.TokenID},
		Targets: []any{&username, &userType, &root, &profiles, &c.Handlers},
		Done: func() {
			if username == nil {
				done(httpapi.Caller{}, httpapi.ErrBadToken())
				return
			}
			c.Username, c.Type, c.Root, c.Profiles = *username, *userType, *root, idsOf(profiles)
			done(c, nil)
		},
	}
}

func idsOf(texts []string) []objectid.ID {
	ids := make([]objectid.ID, len(texts))
	for i, t := range texts {
		ids[i] = objectid.ID(t)
	}
	return ids
}
