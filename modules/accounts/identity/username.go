package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/passwordlist"
	"marquee/platform/postgres"
)

// Bounds of a username in characters; one that is the user's own e-mail may be
// as long as an e-mail (docs/contract/accounts.md, Logins).
const (
	minUsernameLength = 3
	maxUsernameLength = 50
	MaxEmailLength    = 254
)

// uniqueSkeleton is the constraint that keeps usernames apart for the eye.
const uniqueSkeleton = "username_skeletons_of_one_user"

// reservedUsernames are refused to customers, with all that reads like them.
var reservedUsernames = []string{"root", "admin", "support", "suporte"}

// CheckUsername refuses a new username that is somebody else's e-mail, has the wrong
// length, or could be shown as something that it is not; email is the user's own in
// its stored form.
func CheckUsername(username, email string, loc ...any) error {
	if asciiLower(username) == email {
		return nil
	}
	if strings.TrimSpace(username) != username || strings.ContainsFunc(username, unicode.IsControl) {
		return fault.InvalidAt("may not begin or end with a space, nor contain control characters", loc...)
	}
	if strings.ContainsFunc(username, func(r rune) bool { return unicode.Is(unicode.Zs, r) && r != ' ' }) ||
		strings.Contains(username, "  ") {
		return fault.InvalidAt("may contain only single plain spaces",
			loc...) // or two names would differ by what nobody sees
	}
	if strings.ContainsFunc(username, unseen) {
		return fault.InvalidAt("may not contain invisible characters, nor ones that change the direction of writing",
			loc...)
	}
	normal := norm.NFKC.String(username)
	if strings.Contains(normal, "@") { // a full-width one would read as somebody's e-mail, too
		return fault.InvalidAt("may contain @ only when it is your own e-mail", loc...)
	}
	if n := utf8.RuneCountInString(username); n < minUsernameLength || n > maxUsernameLength {
		return fault.InvalidAt("has to be 3 to 50 characters long", loc...)
	}
	if !oneScript(normal) {
		return fault.InvalidAt("may contain letters of one script only", loc...)
	}
	return nil
}

// mixedScripts are written together (UTS 39, 5.1): Japanese, Chinese with
// Bopomofo, and Korean.
var mixedScripts = [][]*unicode.RangeTable{
	{unicode.Han, unicode.Hiragana, unicode.Katakana}, {unicode.Han, unicode.Bopomofo}, {unicode.Han, unicode.Hangul},
}

// oneScript reports whether all characters belong to one script, or to scripts that
// one language is written in. Digits, punctuation and marks that many scripts share
// go with any.
func oneScript(text string) bool {
	var used []*unicode.RangeTable
	for _, r := range text {
		if unicode.In(r, unicode.Common, unicode.Inherited) ||
			slices.ContainsFunc(used, func(t *unicode.RangeTable) bool { return unicode.Is(t, r) }) {
			continue
		}
		if t := scriptOf(r); t != nil {
			used = append(used, t)
		}
	}
	return len(used) <= 1 || slices.ContainsFunc(mixedScripts, func(together []*unicode.RangeTable) bool {
		return !slices.ContainsFunc(used, func(t *unicode.RangeTable) bool { return !slices.Contains(together, t) })
	})
}

// scriptOf is the script of a character; nil of one that is not assigned.
func scriptOf(r rune) *unicode.RangeTable {
	for _, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return table
		}
	}
	return nil
}

// skeletons are what a username looks like (UTS 39, 4), as it is, in lower and in
// upper case: pauI looks like paul, ADMlN like ADMIN, and PAUL is the same name. One that is an e-mail has
// none: addresses are told apart by whoever delivers to them.
func skeletons(username string) []string {
	if strings.Contains(username, "@") {
		return nil
	}
	of := func(text string) string {
		spaced := strings.Join(strings.Fields(norm.NFKC.String(text)), " ") // names from before may hold two in a row
		return strings.ToLower(confusable.Skeleton(strings.ToLower(spaced)))
	}
	username = strings.Join(strings.Fields(username), " ")
	all := []string{of(username), of(confusable.Skeleton(username)), of(confusable.Skeleton(strings.ToUpper(username)))}
	slices.Sort(all)
	return slices.Compact(all)
}

// Letters that read like others without being confusable by UTS 39: Latin small capitals,
// and the signs and digits that are written for letters.
const (
	likeLetters = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ$5437!"
	letters     = "abcdefghijklmnoprstuvwyzssaeti"
)

var asLetters = func() *strings.Replacer {
	var pairs []string
	plain := []rune(letters)
	for i, like := range []rune(likeLetters) {
		pairs = append(pairs, string(like), string(plain[i]))
	}
	return strings.NewReplacer(pairs...)
}()

var reservedSkeletons = func() (all []string) {
	for _, name := range reservedUsernames {
		all = append(all, skeletons(name)...)
	}
	return all
}()

// isReserved reports whether a username reads like a reserved one, whatever its accents.
func isReserved(username string) bool {
	plain := asLetters.Replace(passwordlist.Bare(passwordlist.Fold(username)))
	return slices.ContainsFunc(append(skeletons(username), skeletons(plain)...),
		func(k string) bool { return slices.Contains(reservedSkeletons, k) })
}

const usernameTaken = "is taken, or reads like one that is"

func errAppearanceTaken() error {
	return fault.Conflict("This username %s.", usernameTaken).WithField("username")
}

// ReserveAppearanceTx is called before or after a new username is written: nobody else's may
// read like it, nor a customer's like a reserved one: 409. Of two who take such names
// at the same instant the later is refused.
func (s *Store) ReserveAppearanceTx(ctx context.Context, tx pgx.Tx, userType, username string,
	userID objectid.ID,
) error {
	readings := skeletons(username)
	if len(readings) == 0 {
		return nil
	}
	if userType == httpapi.TypeCustomer && isReserved(username) {
		return errAppearanceTaken()
	}
	taken, err := s.db.SkeletonIsTaken(ctx, tx, accountsdb.SkeletonIsTakenParams{Skeletons: readings, UserID: userID})
	if err == nil && !taken {
		err = s.db.SkeletonTake(ctx, tx, accountsdb.SkeletonTakeParams{
			UserID: userID, Username: username, Skeletons: readings,
		})
	}
	switch {
	case taken, postgres.Constraint(err) == uniqueSkeleton:
		return errAppearanceTaken()
	case err != nil:
		return fmt.Errorf("compare usernames: %w", err)
	}
	return nil
}

// InsertUserTx writes a new user, unless the username reads like somebody else's.
func (s *Store) InsertUserTx(ctx context.Context, tx pgx.Tx, row accountsdb.UserInsertParams) (accountsdb.User, error) {
	u, err := s.db.UserInsert(ctx, tx, row)
	if err != nil {
		return u, err
	}
	return u, s.ReserveAppearanceTx(ctx, tx, u.UserType, u.Username, u.ID)
}
