package app

import (
	"context"
	"log/slog"
	"slices"
	"time"

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
	"marquee/platform/objectid"
	"marquee/platform/operators"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/secret"
	"marquee/platform/stream"
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
	pool  postgres.Pool
	lists postgres.Pool // for lists that may not lag
	reads *replica.Set  // for lists that may
	jobs  *jobs.Client
	clock clock.Clock
	log   *slog.Logger
	zone  *time.Location

	observed  observed
	password  accounts.PasswordCost
	streams   *stream.Streams
	sender    mail.Sender
	templates *mail.Templates
}

// newModules builds the modules, lower first.
func newModules(c core) (m modules, err error) {
	m.settings = settings.New(settings.Deps{Pool: c.pool, Clock: c.clock})
	c.templates = c.templates.Branded(m.settings.MailBrand)
	m.files = files.New(files.Deps{Pool: c.pool, Clock: c.clock, Log: c.log, Config: files.Config{
		ArchiveTokenTTL: c.cfg.Files.ArchiveTokenTTL, MaxImageBytes: c.cfg.Files.MaxImageBytes,
		MaxAttachmentBytes: c.cfg.Files.MaxAttachmentBytes,
		FileKey:            []byte(c.cfg.Keys.File), PublicURL: c.cfg.HTTP.PublicURL,
	}})
	if m.accounts, err = newAccounts(c, m.settings, m.files); err != nil {
		return m, err
	}
	m.operators = operators.New(c.jobs, c.sender, c.cfg.Mail.Operators)
	m.payments = newPayments(c, m)
	m.tickets = newTickets(c, m)
	m.promos = promos.New(promos.Deps{
		Pool: c.pool, Reads: c.reads, Clock: c.clock, Log: c.log, Accounts: m.accounts, Files: m.files,
		Tickets: m.tickets,
		Config:  promos.Config{TriesPerMinute: c.cfg.Promos.PerMinute, TriesPerAddress: c.cfg.Promos.PerAddress},
	})
	m.subscriptions = newSubscriptions(c, m)
	m.catalog = catalog.New(catalog.Deps{
		Pool: c.pool, Reads: c.lists, Lists: c.reads, Jobs: c.jobs, Streams: c.streams, Clock: c.clock, Log: c.log,
		Accounts:     m.accounts,
		StreamURLKey: c.cfg.streamURLKey(), StreamURLTTL: c.cfg.Streams.TTL,
	})
	m.board = board.New(board.Deps{
		Pool: c.pool, Reads: c.reads, Clock: c.clock, Log: c.log, Accounts: m.accounts, Files: m.files,
		Streams: c.streams,
	})
	m.finance = finance.New(finance.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log, Zone: c.zone, Callers: m.accounts,
		Streams: c.streams, EndsWithPeriod: endWithPeriod(),
		Exports: finance.ExportConfig{
			SyncRows: c.cfg.Exports.SyncRows, TTL: c.cfg.Exports.TTL, LinkTTL: c.cfg.Exports.LinkTTL,
			LinkKey: secret.Derive([]byte(c.cfg.Keys.File), "export-link"), PublicURL: c.cfg.HTTP.PublicURL,
		},
	})
	m.invariants = finance.NewInvariantMonitor(c.pool, c.clock, c.log)
	m.accounts.Connect(accounts.Above{
		Sync: m.subscriptions, Billing: []accounts.Billing{m.subscriptions, m.tickets},
		Purchases: []accounts.Purchases{m.subscriptions, m.tickets},
		Guests:    m.tickets,
		Changes:   []accounts.CustomerChanges{m.tickets},
		Promos:    m.promos,
		Personal: []accounts.PersonalData{
			m.subscriptions, m.subscriptions.Trials(), m.tickets, m.promos, m.payments, m.catalog,
			m.catalog.Plays,
		},
	})
	m.files.Connect(files.Above{
		Users: m.accounts,
		Records: slices.Concat(m.tickets.FileRecords(), m.catalog.FileRecords(),
			[]files.Records{m.accounts.FileRecords(), m.board.FileRecords(), m.promos.FileRecords()}),
	})
	return m, nil
}

func newAccounts(c core, platform *settings.Service, archive *files.Service) (*accounts.Service, error) {
	cfg, codeCfg, throttle := c.cfg.Accounts, c.cfg.Codes, c.cfg.Throttle
	domain, origins := c.cfg.passkeySite()
	return accounts.New(accounts.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log, Files: archive, Mail: c.sender,
		Templates: c.templates, PlatformName: platform.Name,
		Config: accounts.Config{
			TokenKeys: c.cfg.Keys.Tokens, CodeKey: []byte(c.cfg.Keys.File), TrialKey: c.cfg.trialKey(),
			AccessTokenTTL: cfg.AccessTokenTTL, RefreshTokenTTL: cfg.RefreshTokenTTL, DeviceTTL: cfg.DeviceTTL,
			CodeTTL: codeCfg.TTL, CodeCooldown: codeCfg.Cooldown, CodeAttempts: codeCfg.Attempts,
			PublicURL: c.cfg.HTTP.PublicURL, UndoPage: web.UndoPage,
			EmailChangeNeedsPassword: cfg.EmailChangeNeedsPassword,
			WritesRemembered:         c.cfg.Database.writesRemembered(),
			MFARequiredForRoot:       cfg.MFARequiredForRoot,
			PasskeyRPID:              domain,
			PasskeyOrigins:           origins,
			NoPasswordList:           cfg.PasswordList == "off",
			LogUnsentCodes:           cfg.LogUnsentCodes, TaxIDAlphanumeric: c.cfg.Platform.TaxIDAlphanumeric,
			UnverifiedTTL: cfg.UnverifiedTTL, Password: c.password, RequestsInFlight: c.cfg.HTTP.InFlight,
			Throttle: accounts.ThrottleLimits{
				LoginFailures: throttle.LoginFailures, CodeFailures: codeCfg.Failures,
				AddressFailures: throttle.AddressFailures, UnknownResets: throttle.UnknownResets,
				FirstWait: throttle.Wait, LongestWait: throttle.WaitMax,
				MailsPerDay: codeCfg.MailsPerDay, Off: throttle.Off,
			},
			Sync: accounts.SyncLimits{Wait: c.cfg.LoginSync.Wait, PerMinute: c.cfg.LoginSync.PerMinute},
		},
	})
}

func newTickets(c core, m modules) *tickets.Service {
	cfg := c.cfg.Tickets
	return tickets.New(tickets.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log, Accounts: m.accounts,
		Payments: m.payments, Files: m.files,
		Mail: c.sender, Templates: c.templates,
		Config: tickets.Config{
			FileKey: []byte(c.cfg.Keys.File), MaxQuantity: cfg.MaxPerOrder, PixTTL: cfg.PixTTL,
			ScanSkew: cfg.ScanSkew, ReadmitWithin: cfg.ReadmitWithin, Zone: c.zone,
			AlphanumericTaxIDs: c.cfg.Platform.TaxIDAlphanumeric, NoHoldLimits: c.cfg.Throttle.Off,
			WithdrawalDays: cfg.WithdrawalDays, WithdrawalBefore: cfg.WithdrawalBefore,
			RefundsPerSecond: cfg.RefundsPerSecond,
			PublicURL:        c.cfg.HTTP.PublicURL, WithdrawalPage: web.WithdrawalPage,
		},
	})
}

func newSubscriptions(c core, m modules) *subscriptions.Service {
	cfg := c.cfg.Subscriptions
	return subscriptions.New(subscriptions.Deps{
		Pool: c.pool, Jobs: c.jobs, Clock: c.clock, Log: c.log, Accounts: m.accounts, Payments: m.payments,
		Settings: m.settings,
		Promos:   subscriptionPromos{m.promos}, Mail: c.sender, Templates: c.templates, Operators: m.operators,
		Config: subscriptions.Config{
			WithdrawalDays: cfg.WithdrawalDays, PixPendingTTL: cfg.PixPendingTTL, RenewPixDays: cfg.RenewPixDays,
			MaxPaymentFailures: cfg.MaxPaymentFailures, PastDueOnlyCounts: !cfg.PastDueSuspends,
			Zone: c.zone, RecoveryDelay: c.cfg.Payments.RecoveryDelay, DunningDays: cfg.DunningDays,
			PixRetryDays:       cfg.PixRetryDays,
			AlphanumericTaxIDs: c.cfg.Platform.TaxIDAlphanumeric,
		},
	})
}

// newMail is what the modules write to people with.
func newMail(c Config, observed observed) (mail.Sender, *mail.Templates, error) {
	sender, err := mail.NewSMTP(c.Mail.SMTPURL, c.Mail.From)
	if err != nil {
		return nil, nil, err
	}
	templates, err := mail.ParseTemplates(web.Mail())
	return observed.sender(sender), templates, err
}

func newPayments(c core, m modules) *payments.Service {
	cfg := c.cfg.Payments
	a, b := c.cfg.GatewayA.adapter(), c.cfg.GatewayB.adapter()
	a.Days, a.Clock, a.UserAgent = c.zone, c.clock, "Marquee/"+Version()
	a.Transport = c.observed.transport(string(gateway.GWA))
	b.Clock, b.Transport = c.clock, c.observed.transport(string(gateway.GWB))
	return payments.New(payments.Deps{
		Pool: c.pool, Reads: c.reads, Jobs: c.jobs, Clock: c.clock, Log: c.log,
		GWBPublishableKey: c.cfg.GatewayB.PublishableKey,
		ReconcilePause:    cfg.ReconcilePause, KeepLogMonths: cfg.WebhookLogMonths, Operators: m.operators,
		RecoveryDelay: cfg.RecoveryDelay, CallTime: cfg.CallTime,
		Accounts: m.accounts, Mail: c.sender, Templates: c.templates,
		Automatic: payments.AutomaticRefunds{
			PerHour: &cfg.AutoRefundsPerHour, PerDay: (*money.Cents)(&cfg.AutoRefundDailyLimit),
		},
		Adapters: []gateway.Adapter{gwa.New(a), gwb.New(b)},
	})
}

// subscriptionPromos is the module promos as subscriptions see it.
type subscriptionPromos struct{ *promos.Service }

// FirstMonth is that of promos.
func (p subscriptionPromos) FirstMonth(ctx context.Context, customerID objectid.ID,
	code string,
) (subscriptions.PromoDiscount, bool, error) {
	d, ok, err := p.Service.FirstMonth(ctx, customerID, code)
	return subscriptions.PromoDiscount{Code: d.Code, FirstMonth: d.FirstMonth}, ok, err
}

// adapter is what the configuration says of gateway A's.
func (a GatewayA) adapter() gwa.Config {
	return gwa.Config{URL: a.URL, APIKey: a.APIKey, WebhookTokens: a.WebhookTokens}
}

// adapter is what the configuration says of gateway B's.
func (b GatewayB) adapter() gwb.Config {
	return gwb.Config{URL: b.URL, SecretKey: b.SecretKey, WebhookSecrets: b.WebhookSecrets}
}

// testMode are the gateways that take no real money, by name.
func (c Config) testMode() []string {
	names := []string{}
	if c.GatewayA.adapter().TestMode() {
		names = append(names, string(gateway.GWA))
	}
	if c.GatewayB.adapter().TestMode() {
		names = append(names, string(gateway.GWB))
	}
	return names
}

// endWithPeriod are the gateways that let a recurrence run to the end of its period, by name.
func endWithPeriod() []string {
	var names []string
	for _, name := range gateway.Names() {
		if name.Traits().EndsWithPeriod {
			names = append(names, string(name))
		}
	}
	return names
}
