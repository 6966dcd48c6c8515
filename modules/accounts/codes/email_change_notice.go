package codes

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// undoTime is how long who had an address may get it back; as long nobody else can
// take it.
const undoTime = 7 * day

// idLength is that of the id with which a token begins.
const idLength = 24

// UndoPath is the page to which the mails link, and the route that it posts to. The
// token stands behind a #, so that no log and no referrer holds it.
const UndoPath = "/auth/undo-email-change"

// undoToken is what the mailed link carries; it is derived anew when the mail is
// written.
func (k codeKeys) undoToken(id objectid.ID) secret.Text {
	return secret.NewText(id.String() + base64.RawURLEncoding.EncodeToString(secret.MAC(k.undo, id.String())))
}

// undoOf is the change that a token undoes; false for a token that was not made here.
func (k codeKeys) undoOf(token secret.Text) (objectid.ID, bool) {
	text := token.Reveal()
	if len(text) < idLength {
		return "", false
	}
	id := objectid.ID(text[:idLength])
	return id, secret.Equal([]byte(text), []byte(k.undoToken(id).Reveal()))
}

// changesPerDay bounds how often one account's address changes, or is asked to, in a day:
// each is told to the old address once or twice.
const changesPerDay = 10

// TakeChange takes one of the changes of an address that an account has a day; 429 when
// it has had them all. What is undone by a link takes none.
func (s *EmailChanges) TakeChange(ctx context.Context, db postgres.DB, userID objectid.ID) error {
	if s.deps.Sessions.Throttles.Limits().Off {
		return nil
	}
	ok, err := s.deps.Sessions.Throttles.TakeQuota(ctx, db, "changes of an e-mail", userID.String(), changesPerDay, day)
	if err != nil || ok {
		return err
	}
	now := s.deps.Clock.Now()
	wait := now.Truncate(day).Add(day).Sub(now)
	return fault.TooManyRequests(wait, "Your e-mail was changed too often today. Wait %s.", fault.Seconds(wait))
}

// requestTx notes that the user asks for a new address, and has the present one told.
func (s *EmailChanges) requestTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, email string) error {
	id, _, err := s.openChangeTx(ctx, tx, u, email)
	if err != nil {
		return err
	}
	return s.notifyChangeTx(ctx, tx, SendEmailNoticeArgs{ChangeID: id})
}

// MadeChangeTx notes that the address of u is changed, and has the old one told. u is
// the user before it.
func (s *EmailChanges) MadeChangeTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, email, username string) error {
	id, until, err := s.openChangeTx(ctx, tx, u, email)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	if err := s.db.EmailChangeMake(ctx, tx,
		accountsdb.EmailChangeMakeParams{ID: id, Now: &now, ExpiresAt: until}); err != nil {
		return fmt.Errorf("note change of e-mail: %w", err)
	}
	return s.notifyChangeTx(ctx, tx, SendEmailNoticeArgs{ChangeID: id, Changed: true, Username: username})
}

// openChangeTx notes a change, and until when it can be undone. An address that nobody has
// proved, and one that came by a change which can still be undone itself, are told and get
// no link: neither may take the account from who had it before.
func (s *EmailChanges) openChangeTx(ctx context.Context, tx pgx.Tx, u accountsdb.User,
	email string,
) (objectid.ID, time.Time, error) {
	now := s.deps.Clock.Now()
	until := now.Add(undoTime)
	_, undoable, err := s.UndoableUntil(ctx, tx, u.ID)
	if err != nil {
		return "", until, err
	}
	if undoable || u.UserType == httpapi.TypeCustomer && !u.EmailVerified {
		until = now
	}
	id, err := s.db.EmailChangeRequest(ctx, tx, accountsdb.EmailChangeRequestParams{
		ID: objectid.At(now), UserID: u.ID, OldEmail: u.Email, OldUsername: u.Username, OldUnproved: u.UnprovedSignup,
		NewEmail: email, Now: now, ExpiresAt: until,
	})
	if err != nil {
		return "", until, fmt.Errorf("note change of e-mail: %w", err)
	}
	return id, until, nil
}

// UndoableUntil is until when a change of the user's address can be undone; false when
// none can.
func (s *EmailChanges) UndoableUntil(ctx context.Context, db postgres.DB, userID objectid.ID) (time.Time, bool, error) {
	until, err := s.db.EmailChangeGetUndoableUntil(ctx, db,
		accountsdb.EmailChangeGetUndoableUntilParams{UserID: userID, Now: s.deps.Clock.Now()})
	if postgres.IsNoRows(err) {
		return until, false, nil
	}
	if err != nil {
		return until, false, fmt.Errorf("read changes of e-mail: %w", err)
	}
	return until, true, nil
}

// EndTx ends what can still be undone of users whose address somebody else has set.
func (s *EmailChanges) EndTx(ctx context.Context, tx pgx.Tx, userIDs ...objectid.ID) error {
	if err := s.db.EmailChangeEnd(ctx, tx, accountsdb.EmailChangeEndParams{
		UserIds: objectid.Strings(userIDs), Now: s.deps.Clock.Now(),
	}); err != nil {
		return fmt.Errorf("end links that undo: %w", err)
	}
	return nil
}

// ForgetTx removes the changes of a user who is deleted.
func (s *EmailChanges) ForgetTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) error {
	if err := s.db.EmailChangeDelete(ctx, tx, userID); err != nil {
		return fmt.Errorf("end changes of the address: %w", err)
	}
	return nil
}

func (s *EmailChanges) notifyChangeTx(ctx context.Context, tx pgx.Tx, notice SendEmailNoticeArgs) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, notice, nil)
}

// SendEmailNoticeArgs is the job that tells an address that another is to take its
// place, or has taken it.
type SendEmailNoticeArgs struct {
	ChangeID objectid.ID `json:"change_id"`
	Changed  bool        `json:"changed"`
	Username string      `json:"username,omitempty"` // one of the words below
}

// What becomes of the username where the address changes.
const (
	UsernameIsAddress = ""        // it becomes the new address, too
	UsernameStays     = "stays"   // or another was given before
	UsernameChanges   = "changes" // to something else, in the same change
)

// Kind names the job.
func (SendEmailNoticeArgs) Kind() string { return "accounts_send_email_notice" }

// InsertOpts puts mails into their own queue.
func (SendEmailNoticeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: jobs.QueueMail}
}

// emailNotice is what the templates of web/mail show.
type emailNotice struct {
	Name    string // may be empty
	New     string // with little of what stands before the @
	Changed bool
	// Of the username: that it becomes the new address, too; that it becomes another.
	WithUsername, OtherUsername bool

	Days int
	Link string // empty: it cannot be undone from there
}

// SendNotice mails the notice unless the change was undone or is over.
func (s *EmailChanges) SendNotice(ctx context.Context, a SendEmailNoticeArgs) error {
	c, err := s.db.EmailChangeGet(ctx, s.deps.Pool, a.ChangeID)
	if postgres.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read change of e-mail: %w", err)
	}
	left := c.ExpiresAt.Sub(s.deps.Clock.Now())
	hasLink := c.ExpiresAt.After(c.RequestedAt)
	if c.UndoneAt != nil || hasLink && left <= 0 {
		return nil
	}
	u, err := s.db.UserGet(ctx, s.deps.Pool, c.UserID)
	if postgres.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read user: %w", err)
	}
	notice := emailNotice{
		Name: givenName(nullable.Value(u.FullName)), New: maskedAddress(c.NewEmail), Changed: a.Changed,
		Days:         int(left.Round(day) / day),
		WithUsername: a.Username == UsernameIsAddress, OtherUsername: a.Username == UsernameChanges,
	}
	if hasLink {
		notice.Link = s.deps.Config.PublicURL + httpapi.Prefix + UndoPath + "#" + s.keys.undoToken(c.ID).Reveal()
	}
	message, err := s.deps.Templates.Render(ctx, "email-notice", u.Language, c.OldEmail, notice)
	if err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	if err := s.deps.Mail.Send(ctx, message); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}

// maskedAddress is an address by which its owner knows it: n…@example.com.
func maskedAddress(email string) string {
	local, domain, _ := strings.Cut(email, "@")
	return local[:min(1, len(local))] + "…@" + domain
}

// EmailChangeRecord is a change of an address in what a customer is told.
type EmailChangeRecord struct {
	OldEmail    string        `json:"old_email"`
	NewEmail    string        `json:"new_email"`
	RequestedAt httpapi.Time  `json:"requested_at"`
	ChangedAt   *httpapi.Time `json:"changed_at"`
	UndoneAt    *httpapi.Time `json:"undone_at"`
	KeptUntil   httpapi.Time  `json:"kept_until"`
}

// RecordsOf are the changes that are kept of a user.
func (s *EmailChanges) RecordsOf(ctx context.Context, db postgres.DB, id objectid.ID) ([]EmailChangeRecord, error) {
	rows, err := s.db.EmailChangeList(ctx, db, id)
	if err != nil {
		return nil, err
	}
	records := make([]EmailChangeRecord, len(rows))
	for i, c := range rows {
		records[i] = EmailChangeRecord{
			OldEmail: c.OldEmail, NewEmail: c.NewEmail, RequestedAt: httpapi.Time(c.RequestedAt),
			ChangedAt: httpapi.TimePtr(c.ChangedAt),
			UndoneAt:  httpapi.TimePtr(c.UndoneAt), KeptUntil: httpapi.Time(c.ExpiresAt),
		}
	}
	return records, nil
}
