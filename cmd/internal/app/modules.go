package app

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/board"
	"marquee/modules/catalog"
	"marquee/modules/files"
	"marquee/modules/finance"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/modules/promos"
	"marquee/modules/settings"
	"marquee/modules/subscriptions"
	"marquee/modules/tickets"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/money"
	"marquee/platform/operators"
	"marquee/platform/secret"
	"marquee/web"
)

// modules is every module, built once.
type modules struct {
	operators     *operators.Mailer
	settings      *settings.Service
	files         *files.Service
	accounts      *accounts.Service
	payments      *payments.Service
	tickets       *tickets.Service
	promos        *promos.Service
	subscriptions *subscriptions.Service
	catalog       *catalog.Service
	board         *board.Service
	finance       *finance.Service
	invariants    *finance.InvariantMonitor
}

// core is what every module gets.
type core struct {
	cfg   Config
	pool  *pgxpool.Pool
	reads *pgxpool.Pool // for lists that may lag
	jobs  *jobs.Client
	clock clock.Clock
	log   *slog.Logger
	zone  *time.Location
}

// newModules builds the modules, lower first.
func newModules(c core) (m modules, err error) {
	m.settings = settings.New(settings.Deps{Pool: c.pool, Clock: c.clock})
	m.files = files.New(files.Deps{Pool: c.pool, Clock: c.clock, Log: c.log, Config: files.Config{
		ArchiveTokenTTL: c.cfg.ArchiveTokenTTL, MaxImageBytes: c.cfg.MaxImageBytes,
		MaxAttachmentBytes: c.cfg.MaxAttachmentBytes,
		FileKey:            []byte(c.cfg.FileKey), PublicURL: c.cfg.PublicURL,
	}})
	atSignup := &signupPromos{}
	if m.accounts, err = newAccounts(c, m.files, atSignup); err != nil {
		return m, err
	}
	m.files.SetUsers(m.accounts)
	if m.operators, err = newOperators(c); err != nil {
		return m, err
	}
	if m.payments, err = newPayments(c, m); err != nil {
		return m, err
	}
	if m.tickets, err = newTickets(c, m); err != nil {
		return m, err
	}
	m.promos = promos.New(promos.Deps{
		Pool: c.pool, Reads: c.reads, Clock: c.clock, Log: c.log, Accounts: m.accounts, Files: m.files,
		Tickets: m.tickets,
		Config:  promos.Config{TriesPerMinute: c.cfg.PromoTries, TriesPerAddress: c.cfg.PromoTriesAddress},
	})
	atSignup.promos = m.promos
	if m.subscriptions, err = newSubscriptions(c, m); err != nil {
		return m, err
	}
	shown := c.reads
	if c.cfg.ReplicaURL != "" {
		shown = c.pool // it asks with the page who the caller is and whether they may watch, which may not lag
	}
	m.catalog = catalog.New(catalog.Deps{
		Pool: c.pool, Reads: shown, Clock: c.clock, Log: c.log,
		StreamURLKey: c.cfg.streamURLKey(), StreamURLTTL: c.cfg.StreamURLTTL,
	})
	m.board = board.New(board.Deps{
		Pool: c.pool, Reads: c.reads, Clock: c.clock, Log: c.log, Accounts: m.accounts, Files: m.files,
	})
	m.finance = finance.New(finance.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log, Zone: c.zone, Callers: m.accounts,
		Exports: finance.ExportConfig{
			SyncRows: c.cfg.ExportSyncRows, TTL: c.cfg.ExportTTL, LinkTTL: c.cfg.ExportLinkTTL,
			LinkKey: secret.Derive([]byte(c.cfg.FileKey), "export-link"), PublicURL: c.cfg.PublicURL,
		},
	})
	m.invariants = finance.NewInvariantMonitor(c.pool, c.clock, c.log)
	m.accounts.Connect(accounts.Above{
		Sync: m.subscriptions, Billing: []accounts.Billing{m.subscriptions, m.tickets},
		Purchases: []accounts.Purchases{m.subscriptions, m.tickets},
		Guests:    m.tickets,
		Changes:   []accounts.CustomerChanges{m.tickets},
		Personal: []accounts.PersonalData{
			m.subscriptions, m.subscriptions.Trials(), m.tickets, m.promos, m.payments.Personal(), m.catalog,
		},
	})
	m.files.Register(m.tickets.FileRecords()...)
	m.files.Register(append(m.catalog.FileRecords(), m.accounts.FileRecords(), m.board.FileRecords(),
		m.promos.FileRecords())...)
	return m, nil
}

func newAccounts(c core, archive *files.Service, codes accounts.PromoCodes) (*accounts.Service, error) {
	sender, templates, err := newMail(c.cfg)
	if err != nil {
		return nil, err
	}
	return accounts.New(accounts.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log, Files: archive, Mail: sender,
		Templates: templates, Promos: codes,
		Config: accounts.Config{
			TokenKeys: c.cfg.TokenKeys, CodeKey: []byte(c.cfg.FileKey), TrialKey: c.cfg.trialKey(),
			AccessTokenTTL: c.cfg.AccessTokenTTL, RefreshTokenTTL: c.cfg.RefreshTokenTTL,
			CodeTTL: c.cfg.CodeTTL, CodeCooldown: c.cfg.CodeCooldown, CodeAttempts: c.cfg.CodeAttempts,
			DeviceTTL: c.cfg.DeviceTTL,
			PublicURL: c.cfg.PublicURL, UndoPage: web.UndoPage,
			EmailChangeNeedsPassword: c.cfg.EmailChangeNeedsPassword,
			NoPasswordList:           c.cfg.PasswordList == "off",
			LogUnsentCodes:           c.cfg.LogUnsentCodes, TaxIDAlphanumeric: c.cfg.TaxIDAlphanumeric,
			UnverifiedTTL: c.cfg.UnverifiedTTL,
			Throttle: accounts.ThrottleLimits{
				LoginFailures: c.cfg.LoginFailures, CodeFailures: c.cfg.CodeFailures,
				AddressFailures: c.cfg.AddressFailures,
				UnknownResets:   c.cfg.UnknownResets, FirstWait: c.cfg.ThrottleWait, LongestWait: c.cfg.ThrottleWaitMax,
				MailsPerDay: c.cfg.CodeMailsPerDay, Off: c.cfg.NoThrottle,
			},
			Sync: accounts.SyncLimits{Wait: c.cfg.LoginSyncWait, PerMinute: c.cfg.LoginSyncPerMinute},
		},
	})
}

func newTickets(c core, m modules) (*tickets.Service, error) {
	sender, templates, err := newMail(c.cfg)
	if err != nil {
		return nil, err
	}
	return tickets.New(tickets.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log, Accounts: m.accounts,
		Payments: m.payments, Files: m.files,
		Mail: sender, Templates: templates,
		Config: tickets.Config{
			FileKey: []byte(c.cfg.FileKey), MaxQuantity: c.cfg.MaxTickets, PixTTL: c.cfg.TicketPixTTL,
			ScanSkew: c.cfg.ScanSkew, Zone: c.zone,
			AlphanumericTaxIDs: c.cfg.TaxIDAlphanumeric, NoHoldLimits: c.cfg.NoThrottle,
			WithdrawalDays: c.cfg.TicketWithdrawalDays, WithdrawalBefore: c.cfg.TicketWithdrawalBefore,
			RefundsPerSecond: c.cfg.EventRefundsPerSecond,
			PublicURL:        c.cfg.PublicURL, WithdrawalPage: web.WithdrawalPage,
		},
	}), nil
}

func newSubscriptions(c core, m modules) (*subscriptions.Service, error) {
	sender, templates, err := newMail(c.cfg)
	if err != nil {
		return nil, err
	}
	return subscriptions.New(subscriptions.Deps{
		Pool: c.pool, Jobs: c.jobs, Clock: c.clock, Log: c.log, Accounts: m.accounts, Payments: m.payments,
		Settings: m.settings,
		Promos:   subscriptionPromos{m.promos}, Mail: sender, Templates: templates, Operators: m.operators,
		Config: subscriptions.Config{
			WithdrawalDays: c.cfg.WithdrawalDays, PixPendingTTL: c.cfg.PixPendingTTL, RenewPixDays: c.cfg.RenewPixDays,
			MaxPaymentFailures: c.cfg.MaxPaymentFailures, PastDueOnlyCounts: !c.cfg.PastDueSuspends,
			Zone: c.zone, RecoveryDelay: c.cfg.RecoveryDelay, DunningDays: c.cfg.DunningDays,
			PixRetryDays:       c.cfg.PixRetryDays,
			AlphanumericTaxIDs: c.cfg.TaxIDAlphanumeric,
		},
	}), nil
}

// newMail is what the modules write to people with.
func newMail(cfg Config) (mail.Sender, *mail.Templates, error) {
	sender, err := mail.NewSMTP(cfg.SMTPURL, cfg.MailFrom)
	if err != nil {
		return nil, nil, err
	}
	templates, err := mail.ParseTemplates(web.Mail())
	if err != nil {
		return nil, nil, err
	}
	return sender, templates, nil
}

// newOperators is what writes to the people who run the platform.
func newOperators(c core) (*operators.Mailer, error) {
	sender, _, err := newMail(c.cfg)
	if err != nil {
		return nil, err
	}
	return operators.New(c.jobs, sender, c.cfg.OperatorsMail), nil
}

func newPayments(c core, m modules) (*payments.Service, error) {
	sender, templates, err := newMail(c.cfg)
	if err != nil {
		return nil, err
	}
	return payments.New(payments.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log, GWBPublishableKey: c.cfg.GWBPublishable,
		ReconcilePause: c.cfg.ReconcilePause,
		KeepLogMonths:  c.cfg.WebhookLogMonths, Operators: m.operators, RecoveryDelay: c.cfg.RecoveryDelay,
		CallTime: c.cfg.GatewayCallTime,
		Accounts: m.accounts, Mail: sender, Templates: templates,
		Automatic: payments.AutomaticRefunds{
			PerHour: &c.cfg.AutoRefundsPerHour, PerDay: (*money.Cents)(&c.cfg.AutoRefundDailyLimit),
		},
		Adapters: []gateway.Adapter{
			gwa.New(gwa.Config{
				URL: c.cfg.GWAURL, APIKey: c.cfg.GWAAPIKey, WebhookTokens: c.cfg.GWAWebhookToken, Days: c.zone,
				Clock: c.clock, UserAgent: "Marquee/" + Version(),
			}),
			gwb.New(gwb.Config{
				URL: c.cfg.GWBURL, SecretKey: c.cfg.GWBSecretKey, WebhookSecrets: c.cfg.GWBWebhook, Clock: c.clock,
			}),
		},
	}), nil
}
