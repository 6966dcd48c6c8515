package codes

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/factors"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Config holds the keys and limits of codes; accounts.Config says what each is.
type Config struct {
	MasterKey           []byte // that the keys of codes are derived from
	TTL                 time.Duration
	Cooldown            time.Duration
	Attempts            int
	LogUnsent           bool
	PublicURL           string
	UndoPage            []byte
	ChangeNeedsPassword bool
}

func (c Config) withDefaults() Config {
	c.TTL = cmp.Or(c.TTL, 15*time.Minute)
	c.Cooldown = cmp.Or(c.Cooldown, time.Minute)
	c.Attempts = cmp.Or(c.Attempts, 5)
	return c
}

// Deps are what New needs.
type Deps struct {
	Pool      postgres.Pool
	Jobs      *jobs.Client
	Clock     clock.Clock
	Log       *slog.Logger
	Files     *files.Service
	Mail      mail.Sender
	Templates *mail.Templates
	Identity  *identity.Store
	Hasher    *sessions.Hasher
	Sessions  *sessions.Sessions
	Factors   *factors.Factors
	Config    Config
}

// Codes makes, mails and tries codes, verifies addresses and resets passwords.
type Codes struct {
	deps Deps
	db   *accountsdb.Queries
	keys codeKeys
}

// EmailChanges takes users to a new address, and back by the link in a mail.
type EmailChanges struct {
	deps   Deps
	db     *accountsdb.Queries
	codes  *Codes
	guests GuestPurchases
	keys   codeKeys
}

// New makes the room. It fails when the key is weak.
func New(d Deps) (*Codes, *EmailChanges, error) {
	if len(d.Config.MasterKey) < sessions.MinKeyBytes {
		return nil, nil, fmt.Errorf("the key of codes has to be at least %d bytes long", sessions.MinKeyBytes)
	}
	d.Config = d.Config.withDefaults()
	c := &Codes{deps: d, db: accountsdb.New(), keys: deriveCodeKeys(d.Config.MasterKey)}
	return c, &EmailChanges{deps: d, db: c.db, codes: c, keys: c.keys}, nil
}

// Minutes is how long a code just mailed is good.
func (s *Codes) Minutes() int { return int(math.Ceil(s.deps.Config.TTL.Minutes())) }

// EndTx ends all codes of users: their address is no longer the one that was mailed to, or
// they are gone.
func (s *Codes) EndTx(ctx context.Context, tx pgx.Tx, userIDs ...objectid.ID) error {
	if err := s.db.UserDeleteCodes(ctx, tx, objectid.Strings(userIDs)); err != nil {
		return fmt.Errorf("end codes: %w", err)
	}
	return nil
}

// Handlers answers the routes of codes and of changes of an e-mail.
type Handlers struct {
	codes   *Codes
	changes *EmailChanges
}

// Handlers returns what answers the routes.
func (s *EmailChanges) Handlers() Handlers { return Handlers{codes: s.codes, changes: s} }

// MessageBody is an answer that says no more than what was done.
type MessageBody struct {
	Message string `json:"message"`
}
