package settings

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/settings/internal/settingsdb"
	"marquee/platform/audit"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/image"
	"marquee/platform/postgres"
)

// Service reads and changes the settings.
type Service struct {
	deps   Deps
	db     *settingsdb.Queries
	images *image.Processor // of logos: one at a time
}

// Deps is what New needs.
type Deps struct {
	Pool  postgres.Pool
	Clock clock.Clock
}

// New makes the service.
func New(d Deps) *Service {
	return &Service{deps: d, db: settingsdb.New(), images: image.NewProcessor(1)}
}

// pixMonths are the PIX billing modes and how many months one payment buys
// (docs/contract/README.md, Platform configuration).
var pixMonths = map[string]int{"monthly": 1, "quarterly": 3, "semiannually": 6, "yearly": 12}

// PIX subscription modes.
const (
	PixManual    = "manual"
	PixRecurring = "recurring"
)

// PixBillingMonths returns how many months one PIX payment of a new subscription
// buys: 1, 3, 6 or 12.
func (s *Service) PixBillingMonths(ctx context.Context) (int, error) {
	p, err := s.get(ctx)
	return pixMonths[p.PixBillingMode], err
}

// PixSubscriptionMode returns PixManual or PixRecurring.
func (s *Service) PixSubscriptionMode(ctx context.Context) (string, error) {
	p, err := s.get(ctx)
	return p.PixSubscriptionMode, err
}

func (s *Service) get(ctx context.Context) (settingsdb.SettingsPlatform, error) {
	p, err := s.db.PlatformGet(ctx, s.deps.Pool)
	if err != nil {
		return p, fmt.Errorf("read settings: %w", err)
	}
	return p, nil
}

// checkMinVersion is the constraint that keeps a platform from locking out all
// its clients.
const checkMinVersion = "platform_min_version_not_above"

// change applies edit to the settings and writes down what became different.
func (s *Service) change(ctx context.Context,
	edit func(*settingsdb.SettingsPlatform),
) (settingsdb.SettingsPlatform, error) {
	var after settingsdb.SettingsPlatform
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		before, err := s.db.PlatformLock(ctx, tx)
		if err != nil {
			return err
		}
		after = before
		edit(&after)
		err = s.db.PlatformUpdate(ctx, tx, settingsdb.PlatformUpdateParams{
			DefaultPaymentGateway: after.DefaultPaymentGateway, PixBillingMode: after.PixBillingMode,
			PixSubscriptionMode: after.PixSubscriptionMode, ClientVersion: after.ClientVersion,
			MinVersion: after.MinVersion,
		})
		if err != nil {
			return err
		}
		if err := s.recordTx(ctx, tx, before, after); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: "config", Before: valuesOf(before), After: valuesOf(after),
		})
	})
	if postgres.Constraint(err) == checkMinVersion {
		return after, fault.InvalidAt("may not be above client_version", "body", "min_version")
	}
	if err != nil {
		return after, fmt.Errorf("change settings: %w", err)
	}
	return after, nil
}

// values are the settings as the audit trail shows them.
type values struct {
	DefaultPaymentGateway string  `json:"default_payment_gateway"`
	PixBillingMode        string  `json:"pix_billing_mode"`
	PixSubscriptionMode   string  `json:"pix_subscription_mode"`
	ClientVersion         string  `json:"client_version"`
	MinVersion            *string `json:"min_version"`
}

func valuesOf(p settingsdb.SettingsPlatform) values {
	return values{p.DefaultPaymentGateway, p.PixBillingMode, p.PixSubscriptionMode, p.ClientVersion, p.MinVersion}
}

// recordTx writes one history row for each setting that differs.
func (s *Service) recordTx(ctx context.Context, tx pgx.Tx, before, after settingsdb.SettingsPlatform) error {
	rows := []settingRow{
		{"default_payment_gateway", &before.DefaultPaymentGateway, &after.DefaultPaymentGateway},
		{"pix_billing_mode", &before.PixBillingMode, &after.PixBillingMode},
		{"pix_subscription_mode", &before.PixSubscriptionMode, &after.PixSubscriptionMode},
		{"client_version", &before.ClientVersion, &after.ClientVersion},
		{"min_version", before.MinVersion, after.MinVersion},
	}
	for _, r := range rows {
		if err := s.recordOneTx(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// settingRow is what became of a setting.
type settingRow struct {
	setting  string
	from, to *string
}

// recordOneTx writes a history row, unless the setting is what it was.
func (s *Service) recordOneTx(ctx context.Context, tx pgx.Tx, r settingRow) error {
	if (r.from == nil) == (r.to == nil) && (r.from == nil || *r.from == *r.to) {
		return nil
	}
	return s.db.ChangeInsert(ctx, tx, settingsdb.ChangeInsertParams{
		Setting: r.setting, FromValue: r.from, ToValue: r.to,
		ChangedBy: httpapi.CallerOf(ctx).ID, ChangedAt: s.deps.Clock.Now(),
	})
}
