package accounts

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/customers"
	"marquee/modules/accounts/factors"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/passkeys"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/signins"
	"marquee/modules/accounts/signup"
	"marquee/modules/accounts/totp"
	"marquee/modules/accounts/trail"
	"marquee/modules/accounts/users"
	"marquee/modules/accounts/views"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
	"marquee/platform/secret"
)

// Service is the module: its door. Its methods pass on to the rooms. It is the
// httpapi.Authenticator.
type Service struct {
	perMinute int
	crud      resource.Routes
	identity  *identity.Store
	trail     *trail.Trail
	hasher    *sessions.Hasher
	signIns   *signins.Store
	sessions  *sessions.Sessions
	passkeys  *passkeys.Passkeys
	views     *views.Views
	factors   *factors.Factors
	codes     *codes.Codes
	changes   *codes.EmailChanges
	signup    *signup.Signup
	customers *customers.Customers
	users     *users.Users
}

// Config holds the module's keys and limits; the zero value of a limit means the contract's (docs/contract/README.md,
// Limits are configuration).
type Config struct {
	TokenKeys         string        // TOKEN_KEYS, "kid:secret,…": the first signs, all verify
	CodeKey           []byte        // master key that the keys of codes are derived from
	TrialKey          []byte        // TRIAL_KEY, of the hashes of tax ids that have had a trial; default: from CodeKey
	AccessTokenTTL    time.Duration // default 12 h
	RefreshTokenTTL   time.Duration // default 30 days
	CodeTTL           time.Duration // default 15 min
	CodeCooldown      time.Duration // default 60 s, for each address and purpose
	CodeAttempts      int           // default 5
	DeviceTTL         time.Duration // DEVICE_TTL; default 90 days
	LogUnsentCodes    bool          // LOG_UNSENT_CODES: a code that could not be mailed is logged
	TaxIDAlphanumeric bool          // TAX_ID_ALPHANUMERIC: CNPJ with letters, in force since July 2026
	PerMinute         int           // calls a minute and client address of token, signup and resend; default 20
	PublicURL         string        // PUBLIC_URL, the scheme and host to which mails link
	UndoPage          []byte        // HTML that the link opens which undoes a change of an e-mail
	// EMAIL_CHANGE_NEEDS_PASSWORD: nobody changes their own e-mail without the current password
	EmailChangeNeedsPassword bool
	// MFA_REQUIRED_FOR_ROOT: root's rights are had in sessions with a second factor alone
	MFARequiredForRoot bool
	PasskeyRPID        string   // PASSKEY_RP_ID, the domain that passkeys belong to; "" for none, and no passkeys
	PasskeyOrigins     []string // PASSKEY_ORIGINS, of the pages that may use them
	// PASSWORD_LIST=off: the commonest passwords, and one's own e-mail or name, are taken
	NoPasswordList bool
	Password       sessions.PasswordCost // default: argon2id, 2 passes over 19 MiB
	// REQUESTS_IN_FLIGHT: of those the half at most sign in, or wait for it
	RequestsInFlight int
	// UNVERIFIED_TTL: an account that was to be verified at once is removed after it; default 30 days
	UnverifiedTTL time.Duration
	Throttle      sessions.ThrottleLimits
	Sync          sessions.SyncLimits
	// WritesRemembered is as in sessions.Config
	WritesRemembered time.Duration
}

// PromoCodes is what is asked about the promo code that a customer gives at signup, and what
// keeps its promise. The module promos fills it.
type PromoCodes interface {
	signup.PromoCodes
	identity.Promises
}

// Deps is what New needs.
type Deps struct {
	Pool      postgres.Pool
	Reads     *replica.Set // serves the lists, with resource.StatementTimeout; nil means Pool
	Jobs      *jobs.Client
	Clock     clock.Clock
	Log       *slog.Logger
	Config    Config
	Files     *files.Service
	Mail      mail.Sender
	Templates *mail.Templates
	// PlatformName is what the platform is called, for authenticators; nil means Marquee.
	PlatformName func(ctx context.Context) (string, error)
}

// Above is what the modules above do for accounts. Any part may be empty.
type Above struct {
	Sync      sessions.SubscriptionSync  // asked at each login of a subscriber
	Billing   []Billing                  // stopped before a customer is erased
	Purchases []Purchases                // keep an unverified account from being removed
	Guests    codes.GuestPurchases       // keep an unverified account at its address
	Personal  []PersonalData             // told to the customer, and erased with them
	Changes   []identity.CustomerChanges // told of a customer's new name, e-mail or verification
	Promos    PromoCodes                 // nil: there are no promo codes, so none is found
}

// Connect tells accounts of the modules above. It is called while the platform is
// put together, before the first request.
func (s *Service) Connect(above Above) {
	s.identity.Connect(identity.Above{Changes: above.Changes, Promises: above.Promos})
	s.signup.Connect(above.Promos)
	s.sessions.Connect(above.Sync)
	s.changes.Connect(above.Guests)
	s.customers.Connect(customers.Above{Billing: above.Billing, Purchases: above.Purchases, Personal: above.Personal})
	s.users.Connect(above.Personal)
}

// New makes the service. It fails when the keys are missing or weak.
func New(d Deps) (*Service, error) {
	cfg := d.Config.withDefaults()
	if d.PlatformName == nil {
		d.PlatformName = func(context.Context) (string, error) { return "Marquee", nil }
	}
	s := &Service{
		perMinute: cfg.PerMinute, crud: resource.Routes{Pool: d.Pool, Reads: d.Reads, Clock: d.Clock, Log: d.Log},
	}
	s.identity = identity.New(identity.Deps{
		Pool: d.Pool, Clock: d.Clock, Files: d.Files, TaxIDAlphanumeric: cfg.TaxIDAlphanumeric,
		TrialKey: cfg.TrialKey,
	})
	s.trail = trail.New(trail.Deps{Pool: d.Pool, Clock: d.Clock})
	s.hasher = sessions.NewHasher(cfg.Password, httpapi.RequestsAtOnce(cfg.RequestsInFlight))
	var err error
	s.signIns = signins.New(signins.Deps{
		Pool: d.Pool, Clock: d.Clock, LongestLife: max(cfg.AccessTokenTTL, cfg.RefreshTokenTTL),
	})
	factor := totp.New(totp.Deps{Clock: d.Clock, MasterKey: cfg.CodeKey})
	s.sessions, err = sessions.New(sessions.Deps{
		Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Files: d.Files, Identity: s.identity, Hasher: s.hasher,
		Totp: factor, SignIns: s.signIns, Config: sessions.Config{
			TokenKeys: cfg.TokenKeys, MasterKey: cfg.CodeKey, AccessTokenTTL: cfg.AccessTokenTTL,
			RefreshTokenTTL: cfg.RefreshTokenTTL, DeviceTTL: cfg.DeviceTTL,
			NoPasswordList: cfg.NoPasswordList, Throttle: cfg.Throttle, Sync: cfg.Sync,
			WritesRemembered: cfg.WritesRemembered, MFARequiredForRoot: cfg.MFARequiredForRoot,
		},
	})
	if err != nil {
		return nil, err
	}
	s.views = views.New(views.Deps{Pool: d.Pool, Clock: d.Clock})
	s.passkeys, err = passkeys.New(passkeys.Deps{
		Pool: d.Pool, Clock: d.Clock, Log: d.Log, Sessions: s.sessions, Totp: factor,
		Config:       passkeys.Config{RPID: cfg.PasskeyRPID, Origins: cfg.PasskeyOrigins},
		PlatformName: d.PlatformName,
	})
	if err != nil {
		return nil, err
	}
	s.factors = factors.New(factors.Deps{
		Pool: d.Pool, Clock: d.Clock, Identity: s.identity, SignIns: s.signIns, Sessions: s.sessions, Totp: factor,
		Passkeys: s.passkeys, PlatformName: d.PlatformName,
		Config: factors.Config{RequiredForRoot: cfg.MFARequiredForRoot},
	})
	s.codes, s.changes, err = codes.New(codes.Deps{
		Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Files: d.Files, Mail: d.Mail, Templates: d.Templates,
		Identity: s.identity, Hasher: s.hasher, Sessions: s.sessions, Factors: s.factors, Config: codes.Config{
			MasterKey: cfg.CodeKey, TTL: cfg.CodeTTL, Cooldown: cfg.CodeCooldown, Attempts: cfg.CodeAttempts,
			LogUnsent: cfg.LogUnsentCodes,
			PublicURL: cfg.PublicURL, UndoPage: cfg.UndoPage, ChangeNeedsPassword: cfg.EmailChangeNeedsPassword,
		},
	})
	if err != nil {
		return nil, err
	}
	s.signup = signup.New(signup.Deps{
		Pool: d.Pool, Clock: d.Clock, Files: d.Files, Identity: s.identity, Hasher: s.hasher,
		Sessions: s.sessions, Totp: factor, Codes: s.codes,
	})
	s.customers = customers.New(customers.Deps{
		Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Files: d.Files, Identity: s.identity, Trail: s.trail,
		SignIns: s.signIns, Factors: s.factors, Codes: s.codes, Changes: s.changes, UnverifiedTTL: cfg.UnverifiedTTL,
		Sessions: s.sessions, MasterKey: cfg.CodeKey,
	})
	s.users = users.New(users.Deps{
		Pool: d.Pool, Clock: d.Clock, Files: d.Files, Identity: s.identity, Hasher: s.hasher, Sessions: s.sessions,
		Factors: s.factors, Codes: s.codes,
		Changes: s.changes, Routes: s.crud, EmailChangeNeedsPassword: cfg.EmailChangeNeedsPassword,
	})
	return s, nil
}

func (c Config) withDefaults() Config {
	c.AccessTokenTTL = cmp.Or(c.AccessTokenTTL, 12*time.Hour)
	c.RefreshTokenTTL = cmp.Or(c.RefreshTokenTTL, 30*24*time.Hour)
	if c.PerMinute == 0 {
		c.PerMinute = 20
	}
	if c.TrialKey == nil {
		c.TrialKey = secret.Derive(c.CodeKey, "accounts/trials by tax id")
	}
	return c
}
