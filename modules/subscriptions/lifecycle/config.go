package lifecycle

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Config holds the contract's limits as configuration (docs/contract/README.md, Limits are configuration). The zero
// value of a field means its default.
type Config struct {
	// PixPendingTTL: after it an unpaid PIX can be replaced by a new subscription. Default 24 h.
	PixPendingTTL time.Duration
	// MaxPaymentFailures in a row suspend. Default 3.
	MaxPaymentFailures int
	// PastDueOnlyCounts keeps gateway B's past_due from suspending at once
	// (PAST_DUE_SUSPENDS=false): it counts as a failure like any other.
	PastDueOnlyCounts bool
	// Zone is REPORT_TZ, in which months and days pass. Default UTC.
	Zone *time.Location
	// RecoveryDelay is after what time a client whose PIX code is not known yet should
	// ask again. Default 1 min.
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

// WithDefaults fills in what was not configured.
func (c Config) WithDefaults() Config {
	c.PixPendingTTL = cmp.Or(c.PixPendingTTL, 24*time.Hour)
	c.MaxPaymentFailures = cmp.Or(c.MaxPaymentFailures, 3)
	c.Zone = cmp.Or(c.Zone, time.UTC)
	c.RecoveryDelay = cmp.Or(c.RecoveryDelay, time.Minute)
	c.RenewPixDays = cmp.Or(c.RenewPixDays, 7)
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

// PromoCodes is what the module asks of promo codes; the module promos fills it.
// Errors are fit to be shown: 400 for a code that is not valid or no promo code,
// 409 for one that the customer has used.
type PromoCodes interface {
	// FirstMonth finds what the first month costs with a code. An empty code asks
	// for the one that the customer gave at signup; ok is false when none
	// applies.
	FirstMonth(ctx context.Context, customerID objectid.ID, code string) (d PromoDiscount, ok bool, err error)
	// HoldTx keeps the code for a pending subscription.
	HoldTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, code string) error
	// RedeemTx marks the code as used: the subscription is paid, perhaps after it
	// had been given back. It may be called again.
	RedeemTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, code string) error
	// ReleaseTx gives the code back: the subscription ended unpaid.
	ReleaseTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, code string) error
}

// PromoDiscount is a code and the price that it gives the first month.
type PromoDiscount struct {
	Code       string
	FirstMonth money.Cents
}

// NoPromoCodes knows none, where the module promos is left out.
type NoPromoCodes struct{}

// FirstMonth finds none. A code that is given is an error, 400.
func (NoPromoCodes) FirstMonth(_ context.Context, _ objectid.ID, code string) (PromoDiscount, bool, error) {
	if code == "" {
		return PromoDiscount{}, false, nil
	}
	return PromoDiscount{}, false, fault.BadRequest("Promo code not found.").WithField("promo_code")
}

// HoldTx has none to keep, and no error.
func (NoPromoCodes) HoldTx(context.Context, pgx.Tx, objectid.ID, objectid.ID, string) error {
	return nil
}

// RedeemTx has none to use, and no error.
func (NoPromoCodes) RedeemTx(context.Context, pgx.Tx, objectid.ID, objectid.ID, string) error {
	return nil
}

// ReleaseTx has none to give back, and no error.
func (NoPromoCodes) ReleaseTx(context.Context, pgx.Tx, objectid.ID, objectid.ID, string) error {
	return nil
}
