// A story through the client that oapi-codegen made of the document: what does not compile here does not compile for
// anybody.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"marquee/tools/openapi/client"
)

func main() {
	if err := story(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("done")
}

func story(ctx context.Context, server string) error {
	api := &client.Client{Server: server, HTTP: http.DefaultClient}
	verify, taxID := false, "39053344705"
	if _, _, err := api.CustomerSignup(ctx, nil, client.CustomerSignupJSONRequestBody{{
		Username: "gomes", Email: "gomes@example.com", Password: "a long password", FullName: "Gomes Souza",
		Phone: "+5511987654321", TaxId: &taxID, VerifyEmailNow: &verify,
	}}); err != nil {
		return fmt.Errorf("sign up: %w", err)
	}
	if _, err := signIn(ctx, api, "not this one"); code(err) != "INVALID_CREDENTIALS" {
		return fmt.Errorf("a wrong password: %w", err)
	}
	token, err := signIn(ctx, api, "a long password")
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	api.Edit = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	if err := videos(ctx, api); err == nil {
		return errors.New("videos are open without a subscription")
	}
	if err := subscribe(ctx, api); err != nil {
		return err
	}
	return videos(ctx, api)
}

func signIn(ctx context.Context, api *client.Client, password string) (string, error) {
	form := url.Values{"username": {"gomes"}, "password": {password}}
	tokens, _, err := api.TokenPost(ctx, nil, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
	return tokens.AccessToken, err
}

// code is what programs are told of a refusal.
func code(err error) string {
	var refused *client.RefusedError
	if errors.As(err, &refused) && refused.Body.Error != nil {
		return refused.Body.Error.Code
	}
	return ""
}

func videos(ctx context.Context, api *client.Client) error {
	query, sort, size := `{"enable":true}`, `{"title":1}`, 3
	page, _, err := api.VideoList(ctx, &client.VideoListParams{Query: &query, Sort: &sort, QtyDocsPage: &size})
	if err != nil {
		return fmt.Errorf("list videos: %w", err)
	}
	if len(page.Docs) != size || page.Docs[0].Title > page.Docs[1].Title || page.Pagination.QtyTotalDocs < int64(size) {
		return fmt.Errorf("%d videos of %d", len(page.Docs), page.Pagination.QtyTotalDocs)
	}
	return nil
}

func subscribe(ctx context.Context, api *client.Client) error {
	plans, _, err := api.PlanList(ctx, nil)
	if err != nil || len(plans.Docs) == 0 || plans.Docs[0].Amount <= 0 {
		return fmt.Errorf("%d plans: %w", len(plans.Docs), err)
	}
	key := "story-of-the-go-client"
	params := &client.GwbSubscribeParams{IdempotencyKey: &key}
	body := client.GwbSubscribeJSONRequestBody{PlanId: "plus", PaymentMethodId: "pm_card_visa"}
	first, _, err := api.GwbSubscribe(ctx, params, body)
	if err != nil || first.Info.PaymentStatus == nil || *first.Info.PaymentStatus != "succeeded" || first.Info.ClientSecret != nil {
		return fmt.Errorf("subscribe: %+v: %w", first.Info, err)
	}
	again, _, err := api.GwbSubscribe(ctx, params, body)
	if err != nil || again.Docs[0].UnderscoreId != first.Docs[0].UnderscoreId {
		return fmt.Errorf("the same request again: %w", err)
	}
	_, resp, err := api.GwbSubscribe(ctx, nil, body)
	if code(err) == "" || resp.StatusCode != http.StatusConflict {
		return fmt.Errorf("a second subscription: %w", err)
	}
	mine, _, err := api.MySubscriptionGet(ctx)
	if err != nil || len(mine.Docs) != 1 || mine.Docs[0].Status != "active" {
		return fmt.Errorf("mine: %+v: %w", mine.Docs, err)
	}
	return nil
}
