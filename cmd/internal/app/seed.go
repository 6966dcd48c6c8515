package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"marquee/cmd/internal/app/scale"
	"marquee/modules/accounts"
	"marquee/modules/subscriptions"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/secret"
	"marquee/platform/telemetry"
)

// Seed fills the database with the sample plans and catalogue; what is there
// already stays as it is.
func Seed(ctx context.Context, cfg Config, logs io.Writer) error {
	log, err := telemetry.NewLog(logs, cfg.LogLevel)
	if err != nil {
		return err
	}
	a, err := New(ctx, cfg, log, false)
	if err != nil {
		return err
	}
	defer a.Close()
	return a.seed(ctx)
}

func (a *App) seed(ctx context.Context) error {
	if err := subscriptions.SeedPlans(ctx, a.pool, clock.System{}.Now()); err != nil {
		return fmt.Errorf("seed plans: %w", err)
	}
	if err := a.modules.catalog.Seed(ctx); err != nil {
		return fmt.Errorf("seed catalogue: %w", err)
	}
	return nil
}

// SeedScale fills the database with made-up subscriptions and all that hangs on
// them, telling of its progress. It needs the database alone.
func SeedScale(ctx context.Context, cfg Config, count int, progress io.Writer) error {
	pool, err := postgres.NewPool(ctx, cfg.DatabaseURL, postgres.Options{MaxConns: 1, ApplicationName: "marquee seed"})
	if err != nil {
		return err
	}
	defer pool.Close()
	now := clock.System{}.Now()
	if err := subscriptions.SeedPlans(ctx, pool, now); err != nil {
		return err
	}
	err = scale.Fill(ctx, pool, scale.Options{
		Subscriptions: count, Now: now, Samples: []string{sampleCustomer, migratedUser, migratedFlaggedUser},
		Progress: func(part string, rows int64, took time.Duration) {
			_, _ = fmt.Fprintf(progress, "%-42s %9d rows %10v\n", part, rows, took.Round(time.Millisecond))
		},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(progress, "done in %v\n", clock.System{}.Now().Sub(now).Round(time.Second))
	return err
}

// devCard is gateway B's public test card that approves.
const devCard = "pm_card_visa"

// sampleCustomer subscribes through the API at each start of `marquee dev`.
const sampleCustomer = "customer"

// The migrated users of `marquee dev`: one whose password is a placeholder that
// nobody knows, and one who has a password and still carries the flag.
const (
	migratedUser        = "migrated"
	migratedFlaggedUser = "migrated_flagged"
)

// seedDev makes the sample data and the five users of `marquee dev`. The
// customer subscribes through the API, as any client would.
func (a *App) seedDev(ctx context.Context, passwords map[string]string) error {
	if err := a.seed(ctx); err != nil {
		return err
	}
	users := []accounts.NewUser{
		{Type: httpapi.TypeAdmin, Root: true, Username: "root", Name: "Root"},
		{Type: httpapi.TypeAdmin, Username: "admin", Name: "Admin"},
		{Type: httpapi.TypeCustomer, Username: sampleCustomer, FullName: "Sample Customer", Phone: "+5511987654321", TaxID: "11144477735", EmailVerified: true},
		{Type: httpapi.TypeCustomer, Migrated: true, Username: migratedUser, FullName: "Migrated Customer", Phone: "+5511987654322", EmailVerified: true},
		{Type: httpapi.TypeCustomer, Migrated: true, Username: migratedFlaggedUser, FullName: "Flagged Customer", Phone: "+5511987654323", EmailVerified: true},
	}
	for _, u := range users {
		u.Email, u.Password = u.Username+"@example.com", secret.NewText(passwords[u.Username])
		if u.Username == migratedUser {
			u.Password = secret.Text{} // whatever is typed, the answer is to reset it
		}
		if _, err := a.modules.accounts.CreateUser(ctx, u); err != nil && !fault.Is(err, fault.KindConflict) {
			return fmt.Errorf("seed user %s: %w", u.Username, err)
		}
	}
	return a.subscribeCustomer(ctx, passwords[sampleCustomer])
}

func (a *App) subscribeCustomer(ctx context.Context, password string) error {
	api := a.cfg.PublicURL + httpapi.Prefix
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	form := url.Values{"username": {sampleCustomer}, "password": {password}}
	status, err := send(ctx, api+"/token", "", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), &tokens)
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("log the sample customer in: status %d: %w", status, err)
	}
	body, err := json.Marshal(map[string]string{"plan_id": "plus", "payment_method_id": devCard})
	if err != nil {
		return fmt.Errorf("subscribe the sample customer: %w", err)
	}
	status, err = send(ctx, api+"/gwb/subscribe", tokens.AccessToken, "application/json", bytes.NewReader(body), nil)
	if err != nil || (status != http.StatusCreated && status != http.StatusConflict) { // 409: subscribed since the first start
		return fmt.Errorf("subscribe the sample customer: status %d: %w", status, err)
	}
	return nil
}

func send(ctx context.Context, address, token, contentType string, body io.Reader, into any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", contentType)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if into == nil {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.NewDecoder(res.Body).Decode(into)
}
