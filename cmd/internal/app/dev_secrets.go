//go:build !nosandbox

package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"marquee/platform/secret"
)

// devSecrets are what `marquee dev` makes at its first start and keeps in the
// data directory, so that tokens and logins outlive a restart.
type devSecrets struct {
	TokenKey         string            `json:"token_key"`
	FileKey          string            `json:"file_key"`
	GWAAPIKey        string            `json:"gwa_api_key"`
	GWAWebhookToken  string            `json:"gwa_webhook_token"`
	GWBSecretKey     string            `json:"gwb_secret_key"`
	GWBWebhookSecret string            `json:"gwb_webhook_secret"`
	Passwords        map[string]string `json:"passwords"` // by seeded user
}

// devPasswords makes those of the seeded users that are not there yet: a data
// directory may be older than a user. It reports whether there was one.
func (s *devSecrets) devPasswords() (added bool) {
	if s.Passwords == nil {
		s.Passwords = map[string]string{}
	}
	for _, user := range []string{"root", "admin", "customer", migratedUser, migratedFlaggedUser} {
		if s.Passwords[user] == "" {
			s.Passwords[user], added = secret.Random(12), true
		}
	}
	return added
}

// loadDevSecrets reads the file or makes it, readable by its owner alone.
func loadDevSecrets(dir string) (devSecrets, error) {
	path := filepath.Join(dir, "secrets.json")
	raw, err := os.ReadFile(path)
	if err == nil {
		var s devSecrets
		if err := json.Unmarshal(raw, &s); err != nil {
			return s, fmt.Errorf("%s is damaged: %w", path, err)
		}
		if s.devPasswords() {
			return s, s.keep(path)
		}
		return s, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return devSecrets{}, fmt.Errorf("read the kept secrets: %w", err)
	}
	s := devSecrets{
		TokenKey: secret.Random(32), FileKey: secret.Random(32),
		GWAAPIKey: "$aact_hmlg_" + secret.Random(24), GWAWebhookToken: secret.Random(32),
		GWBSecretKey: "sk_test_" + secret.RandomHex(16), GWBWebhookSecret: "whsec_" + secret.RandomHex(24),
	}
	s.devPasswords()
	return s, s.keep(path)
}

// keep writes the file whole or not at all.
func (s devSecrets) keep(path string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("keep secrets: %w", err)
	}
	fresh := path + ".new"
	if err := os.WriteFile(fresh, raw, 0o600); err != nil {
		return fmt.Errorf("keep secrets: %w", err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("keep secrets: %w", err)
	}
	return nil
}

// fill sets what the environment leaves open.
func (s devSecrets) fill(cfg *Config) {
	set := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	set(&cfg.Keys.Tokens, "dev:"+s.TokenKey)
	set(&cfg.Keys.File, s.FileKey)
	set(&cfg.GatewayA.APIKey, s.GWAAPIKey)
	set(&cfg.GatewayB.SecretKey, s.GWBSecretKey)
	set(&cfg.GatewayB.PublishableKey, "pk_test_marquee")
	if len(cfg.GatewayA.WebhookTokens) == 0 {
		cfg.GatewayA.WebhookTokens = []string{s.GWAWebhookToken}
	}
	if len(cfg.GatewayB.WebhookSecrets) == 0 {
		cfg.GatewayB.WebhookSecrets = []string{s.GWBWebhookSecret}
	}
}
