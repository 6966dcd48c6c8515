package sessions

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/nullable"
	"marquee/platform/passwordlist"
	"marquee/platform/secret"
)

// Bounds of a password, in characters. The contract gives the lower one (docs/contract/accounts.md, Passwords);
// the upper one keeps a request from buying more than its share of hashing.
const (
	MinPasswordLength = 8
	MaxPasswordLength = 1024
)

const (
	commonPassword   = "is one of the passwords that are tried first; choose another"
	personalPassword = "may not be your own e-mail or name"
)

// PasswordFlaw says why a password that is long enough is too easy to guess: it is
// among the commonest, or the e-mail or name of its owner. Empty: it is not, or
// PASSWORD_LIST is off.
func (s *Sessions) PasswordFlaw(password secret.Text, personal ...string) string {
	switch {
	case s.deps.Config.NoPasswordList:
		return ""
	case passwordlist.Holds(password.Reveal()):
		return commonPassword
	case isPersonal(password.Reveal(), personal):
		return personalPassword
	}
	return ""
}

// isPersonal reports whether the password is one of the owner's texts, an e-mail without its
// +tag, the part of one before the @, or one word of a name, whatever the case, accents,
// spaces and punctuation.
func isPersonal(password string, personal []string) bool {
	bare := bareText(password)
	for _, text := range personal {
		local, domain, _ := strings.Cut(text, "@")
		mailbox, _, _ := strings.Cut(local, "+")
		for _, part := range append(strings.Fields(text), text, local, mailbox, mailbox+"@"+domain) {
			if part != "" && bareText(part) == bare {
				return true
			}
		}
	}
	return false
}

// bareText is a text's letters and digits in one case and without accents; the text itself
// where it has none.
func bareText(text string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, passwordlist.Bare(passwordlist.Fold(text)))
	if bare == "" {
		return text
	}
	return bare
}

// PersonalTexts are what a user is known by.
func PersonalTexts(u accountsdb.User) []string {
	return []string{u.Email, u.Username, nullable.Value(u.FullName), nullable.Value(u.Name)}
}

// CheckPassword refuses a password of a new user: 422.
func (s *Sessions) CheckPassword(password secret.Text, personal []string, loc ...any) error {
	if n := utf8.RuneCountInString(password.Reveal()); n < MinPasswordLength || n > MaxPasswordLength {
		return fault.InvalidAt("has to be 8 to 1024 characters long", loc...)
	}
	if flaw := s.PasswordFlaw(password, personal...); flaw != "" {
		return fault.InvalidAt(flaw, loc...)
	}
	return nil
}

// CheckNewPassword is 400 where signup's rule is 422 (docs/contract/accounts.md, Passwords).
func (s *Sessions) CheckNewPassword(password secret.Text, personal ...string) error {
	if utf8.RuneCountInString(password.Reveal()) < MinPasswordLength {
		return fault.BadRequest("The new password has to be at least %s long.",
			fault.Count(MinPasswordLength, "character")).WithField("new_password")
	}
	if flaw := s.PasswordFlaw(password, personal...); flaw != "" {
		return fault.BadRequest("The new password %s.", flaw).WithField("new_password")
	}
	return nil
}
