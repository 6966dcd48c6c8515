package sessions

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/signins"
	"marquee/modules/accounts/totp"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// Config holds the keys and limits of sessions.
type Config struct {
	TokenKeys       string // "kid:secret,…": the first signs, all verify
	MasterKey       []byte // that the keys of throttles and devices are derived from
	AccessTokenTTL  time.Duration
	RefreshTokenTTL time.Duration
	DeviceTTL       time.Duration
	NoPasswordList  bool // the commonest passwords, and one's own e-mail or name, are taken
	// MFARequiredForRoot: MFA_REQUIRED_FOR_ROOT, root users have root's rights in sessions with a second factor alone
	MFARequiredForRoot bool
	Throttle           ThrottleLimits
	Sync               SyncLimits
	// WritesRemembered is for how long a user who writes lists nothing older than that: longer than a replica may
	// lag. 0: there are no replicas.
	WritesRemembered time.Duration
}

// Deps are what New needs.
type Deps struct {
	Pool     postgres.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Files    *files.Service
	Identity *identity.Store
	Hasher   *Hasher
	Totp     *totp.Store
	SignIns  *signins.Store
	Config   Config
}

// Sessions knows passwords, tokens, devices and who calls.
type Sessions struct {
	Throttles *Throttles // of failures, and quotas
	deps      Deps
	db        *accountsdb.Queries
	tokens    *keyRing
	deviceKey []byte // signs device tokens
	breaker   *gobreaker.CircuitBreaker[struct{}]
	sync      SubscriptionSync
}

// New makes the room. It fails when the keys are missing or weak.
func New(d Deps) (*Sessions, error) {
	ring, err := parseKeyRing(d.Config.TokenKeys, d.Clock)
	if err != nil {
		return nil, err
	}
	d.Config = d.Config.withDefaults()
	throttles := &Throttles{deps: d, db: accountsdb.New(), key: secret.Derive(d.Config.MasterKey, "accounts/throttle")}
	return &Sessions{
		Throttles: throttles, deps: d, db: throttles.db, tokens: ring, breaker: newBreaker(d.Config.Sync.Rest),
		deviceKey: secret.Derive(d.Config.MasterKey, "accounts/device"),
	}, nil
}

// Connect tells who is asked at each login of a subscriber.
func (s *Sessions) Connect(sync SubscriptionSync) { s.sync = sync }

// Handlers answers the routes of sessions.
type Handlers struct{ s *Sessions }

// Handlers returns what answers the routes.
func (s *Sessions) Handlers() Handlers { return Handlers{s} }

func (c Config) withDefaults() Config {
	c.DeviceTTL = cmp.Or(c.DeviceTTL, 90*24*time.Hour)
	c.Throttle, c.Sync = c.Throttle.withDefaults(), c.Sync.withDefaults()
	return c
}
