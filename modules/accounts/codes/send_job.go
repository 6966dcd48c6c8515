package codes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/riverqueue/river"

	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// SendCodeArgs is the job that mails a code. It names the row; the digits are
// derived when the mail is written.
type SendCodeArgs struct {
	CodeID objectid.ID `json:"code_id"`
}

// Kind names the job.
func (SendCodeArgs) Kind() string { return "accounts_send_code" }

// InsertOpts puts mails into their own queue. The attempts span more than a
// code's life.
func (SendCodeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: jobs.QueueMail, MaxAttempts: 8}
}

const maxGreeting = 30

// codeTemplates are the mails of web/mail, by purpose.
var codeTemplates = map[string]string{
	PurposeVerification: "verification-code", PurposeReset: "password-reset", purposeEmailChange: "email-change",
}

// codeMail is what the templates of web/mail show.
type codeMail struct {
	Name    string // may be empty
	Code    string
	Minutes int
}

// SendCode mails the code unless it was replaced, used or is over meanwhile. Its errors are
// the database's and the mail server's; the job comes again, but for a code of another key.
func (s *Codes) SendCode(ctx context.Context, a SendCodeArgs) error {
	row, err := s.db.CodeGetForMail(ctx, s.deps.Pool, a.CodeID)
	if postgres.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read code: %w", err)
	}
	left := row.ExpiresAt.Sub(s.deps.Clock.Now())
	if left <= 0 {
		return nil
	}
	code := s.keys.code(row.ID)
	if !secret.Equal(row.CodeMac, s.keys.mac(row.ID, code)) {
		return river.JobCancel(errors.New("the key of codes has changed since this code was made"))
	}
	message, err := s.deps.Templates.Render(ctx, codeTemplates[row.Purpose], row.Language, row.Address,
		codeMail{Name: givenName(row.Recipient), Code: code.Reveal(), Minutes: int(math.Ceil(left.Minutes()))})
	if err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	if err := s.deps.Mail.Send(ctx, message); err != nil {
		s.logUnsent(ctx, row.ID, code)
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}

// givenName is the first word of a name, to greet with. It is empty where that is
// no name: whoever signs up with somebody else's address must not be able to send
// them a text or a link of their choice.
func givenName(fullName string) string {
	words := strings.Fields(fullName)
	if len(words) == 0 || utf8.RuneCountInString(words[0]) > maxGreeting {
		return ""
	}
	for _, r := range words[0] {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '-' && r != '\'' && r != '’' {
			return ""
		}
	}
	return words[0]
}

// logUnsent gives the operator a code that could not be mailed, where they asked
// for it (docs/contract/accounts.md, Codes).
func (s *Codes) logUnsent(ctx context.Context, id objectid.ID, code secret.Text) {
	if s.deps.Config.LogUnsent {
		s.deps.Log.WarnContext(ctx, "code not mailed", "code_id", id, "code", code.Reveal())
	}
}
