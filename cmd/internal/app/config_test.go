package app

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/golden"
)

func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "../../../docs/configuration.md", "# Configuration\n\nThe configuration is the environment, read once at the start. `marquee serve --help` prints this list.\n\n"+describeConfigTable())
}

func complete() Config {
	long := strings.Repeat("k", 32)
	return Config{
		DatabaseURL: "postgres://db/marquee", TokenKeys: "a:" + long, FileKey: long, GWAAPIKey: "key", GWBSecretKey: "sk_test_1",
		GWAWebhookToken: []string{long}, GWBWebhook: []string{long, long}, SMTPURL: "smtp://mail", PublicURL: "https://api.example.com", ReportTZ: "America/Sao_Paulo",
		StreamURLTTL: time.Hour, ExportTTL: time.Hour, ExportLinkTTL: time.Minute,
		PixRetryDays: []int{1, 3, 6},
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	require.NoError(t, complete().Validate())
	for key, spoil := range map[string]func(*Config){
		"DATABASE_URL":       func(c *Config) { c.DatabaseURL = "" },
		"TOKEN_KEYS":         func(c *Config) { c.TokenKeys = "a:short" },
		"FILE_KEY":           func(c *Config) { c.FileKey = "short" },
		"STREAM_URL_KEY":     func(c *Config) { c.StreamURLKey = "short" },
		"STREAM_URL_TTL":     func(c *Config) { c.StreamURLTTL = 0 },
		"EXPORT_TTL":         func(c *Config) { c.ExportTTL = 0 },
		"EXPORT_LINK_TTL":    func(c *Config) { c.ExportLinkTTL = 0 },
		"GWA_API_KEY":        func(c *Config) { c.GWAAPIKey = "" },
		"GWA_WEBHOOK_TOKEN":  func(c *Config) { c.GWAWebhookToken = []string{"short"} },
		"GWB_SECRET_KEY":     func(c *Config) { c.GWBSecretKey = "" },
		"GWB_WEBHOOK_SECRET": func(c *Config) { c.GWBWebhook = nil },
		"SMTP_URL":           func(c *Config) { c.SMTPURL = "" },
		"PUBLIC_URL":         func(c *Config) { c.PublicURL = "api.example.com" },
		"REPORT_TZ":          func(c *Config) { c.ReportTZ = "Brazil/Nowhere" },
		"REPORT_TZ is no":    func(c *Config) { c.ReportTZ = "Local" }, // Postgres knows none of that name
		"WEBHOOK_LOG_MONTHS": func(c *Config) { c.WebhookLogMonths = -1 },
		"RECOVERY_DELAY":     func(c *Config) { c.RecoveryDelay = -time.Minute },
		"WITHDRAWAL_DAYS":    func(c *Config) { c.WithdrawalDays = -1 },
		"MAX_PAYMENT_FAIL":   func(c *Config) { c.MaxPaymentFailures = -1 },
		"TRUSTED_PROXIES":    func(c *Config) { c.Proxies = []string{"proxy.local"} },
	} {
		cfg := complete()
		spoil(&cfg)
		err := cfg.Validate()
		require.ErrorContains(t, err, key)
		require.Len(t, strings.Split(err.Error(), "\n"), 1, "one problem, one sentence: %v", err)
	}
}
