package subscriptions

import (
	"log/slog"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/admin"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/charges"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/dunning"
	"marquee/modules/subscriptions/extensions"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/retries"
	"marquee/modules/subscriptions/selfservice"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/strays"
	"marquee/modules/subscriptions/webhooks"
	"marquee/modules/subscriptions/withdrawal"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/operators"
	"marquee/platform/postgres"
)

// What whoever makes the module says, in the words of its lowest room.
type (
	// Config holds the contract's limits as configuration (docs/contract/README.md, Limits are configuration).
	Config = lifecycle.Config
	// Settings is what the module asks of the platform's configuration.
	Settings = lifecycle.Settings
	// PromoCodes is what the module asks of promo codes.
	PromoCodes = lifecycle.PromoCodes
	// PromoDiscount is a code and the price that it gives the first month.
	PromoDiscount = lifecycle.PromoDiscount
)

// Deps is what New needs.
type Deps struct {
	Pool     postgres.Pool
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
	// Operators is told what only people can repair. Nil: nobody is told.
	Operators *operators.Mailer
	Config    Config
}

// Service is the module: its door. Each field is one of the rooms behind it.
type Service struct {
	deps Deps
	db   lifecycle.Queries
	base lifecycle.Base

	calls       *calls.Calls
	plans       *plans.Plans
	debits      *debits.Debits
	pauses      *debits.Pauses
	extensions  *extensions.Extensions
	dunning     *dunning.Dunning
	disputes    *disputes.Disputes
	settler     *settle.Settler
	charges     *charges.Charges
	locator     *webhooks.Locator
	applier     *webhooks.Applier
	retries     *retries.Retries
	recovery    *recovery.Recovery
	reconciler  *reconcile.Reconciler
	strays      *strays.Strays
	checkout    *checkout.Checkout
	withdrawals *withdrawal.Withdrawals
	selfService *selfservice.SelfService
	admin       *admin.Admin
}

// New makes the module and connects it with payments as the one that applies
// events about subscriptions.
func New(d Deps) *Service {
	d.Config = d.Config.WithDefaults()
	if d.Promos == nil {
		d.Promos = lifecycle.NoPromoCodes{}
	}
	s := &Service{deps: d, base: lifecycle.New(lifecycle.Deps{
		Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Accounts: d.Accounts, Payments: d.Payments,
		Intents: d.Payments.Intents(), Promos: d.Promos, Config: d.Config,
	})}
	s.furnish(d, s.base)
	d.Payments.Connect(payments.Hooks{
		Applier:  s.applier,
		Together: webhooks.NewRenewals(s.applier),
		Taker:    s.strays,
		Follower: s.applier,
		Extender: s.extensions,
		Record:   s.reconciler.RecordOf,
		Intents: map[intent.Kind]intent.Checker{
			intent.Subscription:     s.checkout.FirstCalls().Checker(),
			intent.SubscriptionGone: s.calls.Gone().Checker(),
			intent.OpenInvoice:      s.selfService.InvoiceOperation().Checker(),
			intent.Debit:            s.debits.Operation().Checker(),
			intent.DebitRetry:       s.retries.Checker(),
			intent.Pause:            s.pauses.Checker(),
			intent.PlanMove:         s.plans.Operation().Checker(),
			intent.ChargeMove:       s.extensions.Checker(),
			intent.End:              s.recovery.Ends(),
			intent.Resume:           intent.Repeat(s.selfService.ResumeAgain),
			intent.RenewalCharge:    s.charges.Operation().Checker(),
		},
	})
	return s
}

// furnish makes the rooms, lower ones first.
func (s *Service) furnish(d Deps, b lifecycle.Base) {
	s.calls = calls.New(b)
	s.plans = plans.New(b)
	s.debits, s.pauses = debits.New(debits.Deps{Base: b, Calls: s.calls})
	s.extensions = extensions.New(b)
	s.dunning = dunning.New(dunning.Deps{Base: b, Mail: d.Mail, Templates: d.Templates, Debits: s.debits})
	s.disputes = disputes.New(b)
	s.settler = settle.New(settle.Deps{Base: b, Debits: s.debits, Disputes: s.disputes})
	s.charges = charges.New(charges.Deps{Base: b, Plans: s.plans, Settler: s.settler})
	s.locator, s.applier = webhooks.New(webhooks.Deps{
		Base: b, Debits: s.debits, Dunning: s.dunning, Disputes: s.disputes, Settler: s.settler, Charges: s.charges,
	})
	s.retries = retries.New(retries.Deps{
		Base: b, Calls: s.calls, Debits: s.debits, Settler: s.settler, Applier: s.applier,
	})
	s.recovery = recovery.New(recovery.Deps{Base: b, Calls: s.calls, Settler: s.settler})
	s.reconciler = reconcile.New(reconcile.Deps{
		Base: b, Calls: s.calls, Settler: s.settler, Locator: s.locator, Applier: s.applier, Retries: s.retries,
		Recovery: s.recovery,
	})
	s.strays = strays.New(strays.Deps{Base: b, Operators: d.Operators, Locator: s.locator})
	s.checkout = checkout.New(checkout.Deps{
		Base: b, Settings: d.Settings, Calls: s.calls, Plans: s.plans, Settler: s.settler, Recovery: s.recovery,
	})
	s.withdrawals = withdrawal.New(withdrawal.Deps{Base: b, Calls: s.calls, Applier: s.applier})
	s.selfService = selfservice.New(selfservice.Deps{
		Base: b, Calls: s.calls, Plans: s.plans, Debits: s.debits, Disputes: s.disputes, Settler: s.settler,
		Charges: s.charges, Recovery: s.recovery, Reconciler: s.reconciler, Checkout: s.checkout,
		Withdrawals: s.withdrawals,
	})
	s.admin = admin.New(admin.Deps{
		Base: b, Calls: s.calls, Plans: s.plans, Extensions: s.extensions, Disputes: s.disputes, Applier: s.applier,
		Reconciler: s.reconciler, SelfService: s.selfService,
	})
}
