package tickets

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/files"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/checkout"
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/mails"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/reconcile"
	"marquee/modules/tickets/refunds"
	"marquee/modules/tickets/webhooks"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
)

// Config holds the module's key and limits; the zero value of a limit means its
// default.
type Config struct {
	// FileKey is FILE_KEY, the master key that the signing key of QR codes and the
	// key of card fingerprints are derived from.
	FileKey []byte
	// OldFileKeys are former master keys whose QR codes still open doors.
	OldFileKeys [][]byte
	// MaxQuantity is how many tickets one order may have. Default 10.
	MaxQuantity int
	// PixTTL is how long an unpaid PIX holds its places. Default 30 min.
	PixTTL time.Duration
	// CardTTL is how long places wait for a card payment that the gateway is still
	// thinking about. Default 24 h.
	CardTTL time.Duration
	// ScanSkew is SCAN_SKEW, how far a door device's clock may be off. Default 5 min.
	ScanSkew time.Duration
	// ReadmitWithin is READMIT_WITHIN, for how long a scan may be undone. Default 30 min.
	ReadmitWithin time.Duration
	// Zone is REPORT_TZ, in which a payment's due day is told. Default UTC.
	Zone *time.Location
	// AlphanumericTaxIDs takes the CNPJ with letters (TAX_ID_ALPHANUMERIC).
	AlphanumericTaxIDs bool
	// DeclineWindow is how far back declines count. Default 1 h.
	DeclineWindow time.Duration
	// DeclinesPerAddress, PerCard and PerBuyer refuse further cards. Defaults 20, 5, 5.
	DeclinesPerAddress, DeclinesPerCard, DeclinesPerBuyer int
	// PerMinute bounds purchases a minute, client address and route. Default 600: a whole
	// cinema may buy behind one address. What one person may hold is bounded by event.
	PerMinute int
	// RefundsPerSecond bounds how many orders the job gives back a second, of all called off
	// events together (EVENT_REFUNDS_PER_SECOND). Default 5.
	RefundsPerSecond int
	// WithdrawalDays is TICKET_WITHDRAWAL_DAYS, on how many days after that of its payment an
	// order may be withdrawn from; 0: not offered.
	WithdrawalDays int
	// WithdrawalBefore is TICKET_WITHDRAWAL_BEFORE, how long before its event that ends; 0: when it begins.
	WithdrawalBefore time.Duration
	// PublicURL is PUBLIC_URL, scheme and host of the links in mails.
	PublicURL string
	// WithdrawalPage is the HTML that such a link opens.
	WithdrawalPage []byte
	// NoHoldLimits lifts the limits of unpaid places, and of card payments under way (NO_THROTTLE).
	NoHoldLimits bool
}

func (c Config) withDefaults() Config {
	c.MaxQuantity = cmp.Or(c.MaxQuantity, 10)
	c.PixTTL = cmp.Or(c.PixTTL, 30*time.Minute)
	c.CardTTL = cmp.Or(c.CardTTL, 24*time.Hour)
	c.ScanSkew = cmp.Or(c.ScanSkew, 5*time.Minute)
	c.ReadmitWithin = cmp.Or(c.ReadmitWithin, 30*time.Minute)
	c.Zone = cmp.Or(c.Zone, time.UTC)
	c.DeclineWindow = cmp.Or(c.DeclineWindow, time.Hour)
	c.DeclinesPerAddress = cmp.Or(c.DeclinesPerAddress, 20)
	c.DeclinesPerCard = cmp.Or(c.DeclinesPerCard, 5)
	c.DeclinesPerBuyer = cmp.Or(c.DeclinesPerBuyer, 5)
	c.PerMinute = cmp.Or(c.PerMinute, 600)
	c.RefundsPerSecond = cmp.Or(c.RefundsPerSecond, 5)
	return c
}

// Deps is what New needs.
type Deps struct {
	Pool postgres.Pool
	// Reads serves the lists, with resource.StatementTimeout; nil means Pool.
	Reads     *replica.Set
	Jobs      *jobs.Client
	Clock     clock.Clock
	Log       *slog.Logger
	Accounts  *accounts.Service
	Payments  *payments.Service
	Files     *files.Service
	Mail      mail.Sender
	Templates *mail.Templates
	Config    Config
}

// Service is the module. Its methods pass on to the rooms.
type Service struct {
	deps         Deps
	db           *ticketsdb.Queries
	crud         resource.Routes
	events       *events.Store
	door         *door.Door
	orders       *orders.Store
	callerOrders *orders.CallerOrders
	links        *orders.Links
	reconcile    *reconcile.Reconciler
	webhooks     *webhooks.Applier
	refunds      *refunds.Refunds
	mails        *mails.Mails
	checkout     *checkout.Checkout
}

// New makes the module and connects it with payments as the one that applies
// events about orders.
func New(d Deps) *Service {
	if d.Reads == nil {
		d.Reads = replica.Only(d.Pool)
	}
	cfg := d.Config.withDefaults()
	d.Config = cfg
	s := &Service{
		deps: d, db: ticketsdb.New(), crud: resource.Routes{Pool: d.Pool, Reads: d.Reads, Clock: d.Clock, Log: d.Log},
	}
	base := events.Base{
		Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Accounts: d.Accounts, Payments: d.Payments,
	}
	s.events = events.New(events.Deps{Base: base, Lists: d.Reads, Files: d.Files, Routes: s.crud})
	s.door = door.New(door.Deps{
		Base: base, Events: s.events,
		Config: door.Config{
			FileKey: cfg.FileKey, OldFileKeys: cfg.OldFileKeys, ScanSkew: cfg.ScanSkew,
			ReadmitWithin: cfg.ReadmitWithin,
		},
	})
	s.orders = orders.New(orders.Deps{
		Base: base, Events: s.events,
		Config: orders.Config{
			Zone: cfg.Zone, PixTTL: cfg.PixTTL, WithdrawalDays: cfg.WithdrawalDays,
			WithdrawalBefore: cfg.WithdrawalBefore,
		},
	})
	s.callerOrders = orders.NewCallerOrders(s.orders)
	s.links = orders.NewLinks(cfg.FileKey, cfg.OldFileKeys, cfg.PublicURL, d.Clock)
	s.reconcile = reconcile.New(reconcile.Deps{Base: base, Orders: s.orders})
	s.webhooks = webhooks.New(webhooks.Deps{Base: base, Orders: s.orders})
	s.refunds = refunds.New(refunds.Deps{
		Base: base, Events: s.events, Orders: s.orders, CallerOrders: s.callerOrders, Links: s.links,
		Reconcile: s.reconcile,
		Config:    refunds.Config{RefundsPerSecond: cfg.RefundsPerSecond, WithdrawalPage: cfg.WithdrawalPage},
	})
	s.mails = mails.New(mails.Deps{
		Base: base, Door: s.door, Orders: s.orders, Links: s.links, Mail: d.Mail, Templates: d.Templates,
		Config: mails.Config{Zone: cfg.Zone},
	})
	s.checkout = checkout.New(checkout.Deps{
		Base: base, Events: s.events, Door: s.door, Orders: s.orders,
		Config: checkout.Config{
			FileKey: cfg.FileKey, MaxQuantity: cfg.MaxQuantity, PixTTL: cfg.PixTTL, CardTTL: cfg.CardTTL,
			AlphanumericTaxIDs: cfg.AlphanumericTaxIDs,
			DeclineWindow:      cfg.DeclineWindow, DeclinesPerAddress: cfg.DeclinesPerAddress,
			DeclinesPerCard:  cfg.DeclinesPerCard,
			DeclinesPerBuyer: cfg.DeclinesPerBuyer, NoHoldLimits: cfg.NoHoldLimits, Zone: cfg.Zone,
		},
	})
	d.Payments.Connect(payments.Hooks{
		Applier: s.webhooks, Follower: s.orders, Record: s.reconcile.RecordOf,
		Intents: map[intent.Kind]intent.Checker{intent.Order: s.orders.Charge().Checker()},
	})
	return s
}

// Issue is tickets to be issued without an order: by an admin, or by a promo code.
type Issue = events.Issue

// IssueTx issues tickets (events.Store.IssueTx).
func (s *Service) IssueTx(ctx context.Context, tx pgx.Tx, in Issue) ([]objectid.ID, error) {
	return s.events.IssueTx(ctx, tx, in)
}

// KeepCustomersTx keeps the names of customers who are about to have tickets (events.Store.KeepCustomersTx).
func (s *Service) KeepCustomersTx(ctx context.Context, tx pgx.Tx, ids ...objectid.ID) error {
	return s.events.KeepCustomersTx(ctx, tx, ids...)
}

// CustomerChangedTx takes a new name or e-mail of a customer to the tickets (accounts.CustomerChanges).
func (s *Service) CustomerChangedTx(ctx context.Context, tx pgx.Tx, c accounts.Customer) error {
	return s.events.CustomerChangedTx(ctx, tx, c)
}

// EventEnds tells when events end by the end rule; an event that does not exist is left out.
func (s *Service) EventEnds(ctx context.Context, db postgres.DB,
	ids ...objectid.ID,
) (map[objectid.ID]time.Time, error) {
	return s.events.EventEnds(ctx, db, ids...)
}

// EventSearch makes events searchable by those who may list them.
func (s *Service) EventSearch() resource.Searchable { return s.events.EventSearch() }

// TicketSearch makes tickets searchable as they may be listed: all of them by admins, their own by customers.
func (s *Service) TicketSearch() resource.Searchable { return s.events.TicketSearch() }

// FileRecords are the kinds of records of this module that files belong to.
func (s *Service) FileRecords() []files.Records { return s.events.FileRecords() }
