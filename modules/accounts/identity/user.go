package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/language"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// AddressJSON is the stored form: null, or all eight members.
func AddressJSON(a *Address) (json.RawMessage, error) {
	if a == nil {
		return nil, nil
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("write address: %w", err)
	}
	return raw, nil
}

// CallerOf is what a token says about the user.
func CallerOf(u accountsdb.User) httpapi.Caller {
	return httpapi.Caller{ID: u.ID, Username: u.Username, Type: u.UserType, Root: u.IsRoot, Profiles: IDsOf(u.TypeUser)}
}

// IDsOfRecords are the ids of the records of a write.
func IDsOfRecords(records []*resource.Record) []objectid.ID {
	ids := make([]objectid.ID, len(records))
	for i, rec := range records {
		ids[i] = rec.ID
	}
	return ids
}

// IDsOf are ids that the database keeps as texts.
func IDsOf(texts []string) []objectid.ID {
	ids := make([]objectid.ID, len(texts))
	for i, t := range texts {
		ids[i] = objectid.ID(t)
	}
	return ids
}

// CallerRow reads the customer's record; 404 when they are gone.
func (s *Store) CallerRow(ctx context.Context, id objectid.ID) (accountsdb.User, error) {
	u, err := s.db.UserGetCustomer(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return u, ErrNoCustomer()
	}
	if err != nil {
		return u, fmt.Errorf("read customer: %w", err)
	}
	return u, nil
}

// TokensEnd is the instant before which a user's tokens end now, those of this
// very millisecond among them; never before an earlier one.
func (s *Store) TokensEnd(u accountsdb.User) time.Time {
	return IssuedAt(u, s.deps.Clock.Now().Add(time.Millisecond))
}

// IssuedAt is the instant from which a login's tokens count: before its user was
// read. A password that is reset while it is being checked, or a user disabled
// meanwhile, ends them too. It is never before an earlier ending, whose clock may
// have been ahead.
func IssuedAt(u accountsdb.User, began time.Time) time.Time {
	if u.TokensValidAfter != nil && u.TokensValidAfter.After(began) {
		return *u.TokensValidAfter
	}
	return began
}

// EndTokens ends the user's tokens with the write, the one that changed their
// password among them.
func (s *Store) EndTokens(rec *resource.Record, u accountsdb.User) {
	rec.Set("tokens_valid_after", s.TokensEnd(u))
	rec.Set("kept_token_id", nil)
	rec.Set("kept_token_since", nil)
}

// LockUsersTx reads and locks users of a type in the order of their ids.
func (s *Store) LockUsersTx(ctx context.Context, tx pgx.Tx, userType string,
	ids []objectid.ID,
) (map[objectid.ID]accountsdb.User, error) {
	rows, err := s.db.UserListForChange(ctx, tx,
		accountsdb.UserListForChangeParams{Ids: objectid.Strings(ids), UserType: userType})
	if err != nil {
		return nil, fmt.Errorf("lock users: %w", err)
	}
	users := make(map[objectid.ID]accountsdb.User, len(rows))
	for _, u := range rows {
		users[u.ID] = u
	}
	return users, nil
}

// mailLanguages are those that web/mail has templates in; the first is the
// default.
var mailLanguages = language.NewMatcher([]language.Tag{language.Portuguese, language.English})

// LanguageOf picks the language of a user's mails from a tag or an
// Accept-Language header.
func LanguageOf(preferred string) string {
	tags, _, err := language.ParseAcceptLanguage(preferred)
	if err != nil || len(tags) == 0 {
		return "pt"
	}
	tag, _, _ := mailLanguages.Match(tags...)
	base, _ := tag.Base()
	return base.String()
}
