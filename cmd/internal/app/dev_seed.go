//go:build !nosandbox

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

	"marquee/modules/accounts"
	"marquee/modules/catalog"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/secret"
)

// devCard is gateway B's public test card that approves.
const devCard = "pm_card_visa"

// seedDev makes the sample data and the five users of `marquee dev`, and has its films play where films says. The
// customer subscribes through the API, as any client would.
func (a *App) seedDev(ctx context.Context, passwords map[string]string, films func(slug string) *url.URL) error {
	if err := a.seed(ctx); err != nil {
		return err
	}
	if err := catalog.PointSample(ctx, a.db.writes, films); err != nil {
		return err
	}
	users := []accounts.NewUser{
		{Type: httpapi.TypeAdmin, Root: true, Username: "root", Name: "Root"},
		{Type: httpapi.TypeAdmin, Username: "admin", Name: "Admin"},
		{
			Type: httpapi.TypeCustomer, Username: sampleCustomer, FullName: "Sample Customer", Phone: "+5511987654321",
			TaxID: "11144477735", EmailVerified: true,
		},
		{
			Type: httpapi.TypeCustomer, Migrated: true, Username: migratedUser, FullName: "Migrated Customer",
			Phone: "+5511987654322", EmailVerified: true,
		},
		{
			Type: httpapi.TypeCustomer, Migrated: true, Username: migratedFlaggedUser, FullName: "Flagged Customer",
			Phone: "+5511987654323", EmailVerified: true,
		},
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
	api := a.cfg.HTTP.PublicURL + httpapi.Prefix
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	form := url.Values{"username": {sampleCustomer}, "password": {password}}
	status, err := send(ctx, api+"/token", "", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()),
		&tokens)
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("log the sample customer in: status %d: %w", status, err)
	}
	body, err := json.Marshal(map[string]string{"plan_id": "plus", "payment_method_id": devCard})
	if err != nil {
		return fmt.Errorf("subscribe the sample customer: %w", err)
	}
	status, err = send(ctx, api+"/gwb/subscribe", tokens.AccessToken, "application/json", bytes.NewReader(body), nil)
	if err != nil ||
		(status != http.StatusCreated && status != http.StatusConflict) { // 409: subscribed since the first start
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
