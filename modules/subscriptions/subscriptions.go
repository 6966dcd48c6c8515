package subscriptions

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/operators"
)

// Config holds the specification's limits as configuration (open-shapes, The
// specification's limits are configuration). The zero value of a field means
// its default.
type Config struct {
	// PixPendingTTL: after it an unpaid PIX makes room for a new subscription. Default 24 h.
	PixPendingTTL time.Duration
	// MaxPaymentFailures in a row suspend. Default 3.
	MaxPaymentFailures int
	// PastDueOnlyCounts keeps gateway B's past_due from suspending at once
	// (PAST_DUE_SUSPENDS=false): it counts as a failure like any other.
	PastDueOnlyCounts bool
	// Zone is REPORT_TZ, in which months and days pass. Default UTC.
	Zone *time.Location
	// RecoveryDelay is when a client whose PIX code is not known yet is told to come
	// again. Default 1 min.
	RecoveryDelay time.Duration
	// WithdrawalDays after the day of its first payment a subscription may be withdrawn
	// from. 0: never.
	WithdrawalDays int
	// RenewPixDays is how many days before its end a manual PIX can be renewed. Default 7.
	RenewPixDays int
	// DunningDays are the days after a failed payment on which the customer is
	// mailed about it, rising. Default 0, 3, 7.
	DunningDays []int
	// PixRetryDays are the days after its due date on which a debit of automatic PIX
	// that failed is taken again: rising, at most three, within seven days. Default 1, 3, 6.
	PixRetryDays []int
	// AlphanumericTaxIDs takes the CNPJ with letters (TAX_ID_ALPHANUMERIC).
	AlphanumericTaxIDs bool
}

func (c Config) withDefaults() Config {
	if c.PixPendingTTL == 0 {
		c.PixPendingTTL = 24 * time.Hour
	}
	if c.MaxPaymentFailures == 0 {
		c.MaxPaymentFailures = 3
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.RecoveryDelay == 0 {
		c.RecoveryDelay = time.Minute
	}
	if c.RenewPixDays == 0 {
		c.RenewPixDays = 7
	}
	if c.DunningDays == nil {
		c.DunningDays = []int{0, 3, 7}
	}
	if c.PixRetryDays == nil {
		c.PixRetryDays = []int{1, 3, 6}
	}
	return c
}

// Settings is what the module asks of the platform's configuration; the module
// settings fills it.
type Settings interface {
	// PixBillingMonths is how many months one PIX payment buys: 1, 3, 6 or 12.
	PixBillingMonths(ctx context.Context) (int, error)
	// PixSubscriptionMode is "manual" or "recurring".
	PixSubscriptionMode(ctx context.Context) (string, error)
}

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Payments *payments.Service
	Settings Settings
	Promos   PromoCodes // nil: there are none
	// Mail and Templates write to customers whose payment failed; without them
	// nobody is written to.
	Mail      mail.Sender
	Templates *mail.Templates
	// Operators hears of what nobody else can mend. Nil: nobody does.
	Operators *operators.Mailer
	Config    Config
}

// Service is the module.
type Service struct {
	pool      *pgxpool.Pool
	jobs      *jobs.Client
	clock     clock.Clock
	log       *slog.Logger
	accounts  *accounts.Service
	payments  *payments.Service
	intents   *intent.Service
	settings  Settings
	promos    PromoCodes
	mail      mail.Sender
	templates *mail.Templates
	operators *operators.Mailer
	cfg       Config
	db        *subscriptionsdb.Queries
}

// New makes the module and registers it with payments as the one that applies
// events about subscriptions.
func New(d Deps) *Service {
	s := &Service{
		pool: d.Pool, jobs: d.Jobs, clock: d.Clock, log: d.Log, accounts: d.Accounts, payments: d.Payments, intents: d.Payments.Intents(),
		settings: d.Settings, promos: d.Promos, mail: d.Mail, templates: d.Templates, operators: d.Operators, cfg: d.Config.withDefaults(), db: subscriptionsdb.New(),
	}
	if s.promos == nil {
		s.promos = noPromoCodes{}
	}
	d.Payments.Register(s)
	s.intents.Register(intent.Subscription, intent.User{Look: s.look})
	s.intents.Register(intent.SubscriptionGone, intent.User{Look: s.lookForGone, WasFound: true})
	s.intents.Register(intent.OpenInvoice, intent.User{Look: s.lookForInvoice})
	s.intents.Register(intent.Debit, intent.User{Look: s.lookAtDebit})
	s.intents.Register(intent.DebitRetry, intent.User{Look: s.lookAtRetry})
	s.intents.Register(intent.Pause, intent.User{Look: s.lookAtPause})
	s.intents.Register(intent.PlanMove, intent.User{Look: s.lookAtPlanMove})
	s.intents.Register(intent.ChargeMove, intent.User{Look: s.lookAtChargeMove})
	s.intents.Register(intent.End, intent.User{Look: s.lookAtEnd})
	s.intents.Register(intent.Resume, intent.User{Look: s.lookAtResume})
	s.intents.Register(intent.RenewalCharge, intent.User{Look: s.lookAtCharge})
	return s
}
