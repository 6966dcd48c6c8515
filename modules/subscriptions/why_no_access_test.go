package subscriptions_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

type whyBody struct {
	HasAccess      bool `json:"has_access"`
	Reason         string
	Sentence       string
	Until          *time.Time
	SubscriptionID *objectid.ID `json:"subscription_id"`
	Status         *string
	MoveReason     string `json:"move_reason"`
	At             *time.Time
	Failures       int `json:"payment_failures"`
}

// TestStaffSeeWhyACustomerMayNotWatch: whatever is said agrees with the rule by which lists are opened.
func TestStaffSeeWhyACustomerMayNotWatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := b.admin(t)
	why := func() (body whyBody) {
		t.Helper()
		staff.Get("/admin/customers/" + b.customer.ID.String() + "/access").Expect(http.StatusOK).JSON(&body)
		require.Equal(t, b.access(t), body.HasAccess, body.Sentence)
		require.True(t, strings.HasSuffix(body.Sentence, "."), body.Sentence)
		return body
	}
	never := why()
	require.Equal(t, "never_subscribed", never.Reason)
	require.Nil(t, never.SubscriptionID)
	require.Nil(t, never.Status)

	id := b.paidGWB(t)
	active := why()
	require.True(t, active.HasAccess)
	require.Equal(t, "active", active.Reason)
	require.Equal(t, id, *active.SubscriptionID)
	require.Equal(t, "payment_settled", active.MoveReason)

	const reset = `status = 'active', ended_at = NULL, expires_at = NULL, has_chargeback = false, payment_failures = 0,
		intent_open = false, payment_method = 'credit_card', pix_expires_at = NULL`
	for _, c := range []struct{ set, reason, says string }{
		{"expires_at = now() + interval '3 days'", "active", "until"},
		{"expires_at = now() - interval '1 minute'", "period_over", "ended on"},
		{"status = 'suspended', payment_failures = 3", "payment_failed", "3 failed payments in a row"},
		{"status = 'suspended'", "payment_failed", "could not collect"},
		{"status = 'suspended', has_chargeback = true", "payment_disputed", "bank"},
		{"status = 'pending'", "payment_pending", "by card"},
		{"status = 'pending', intent_open = true", "gateway_unanswered", "checked again"},
		{"status = 'pending', payment_method = 'pix'", "pix_unpaid", "has not been paid"},
		{"status = 'pending', payment_method = 'pix', pix_expires_at = now()", "pix_unpaid", "valid until"},
		{"status = 'expired', ended_at = now()", "period_over", "ended on"},
		{"status = 'cancelled', ended_at = now()", "cancelled", "was cancelled on"},
	} {
		b.set(t, id, reset)
		b.set(t, id, c.set)
		got := why()
		require.Equal(t, c.reason, got.Reason, c.set)
		require.Contains(t, got.Sentence, c.says, c.set)
		require.Equal(t, c.says == "until", got.Until != nil, c.set)
		// What the sentence says stands beside it as values, for other languages.
		instant := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d UTC`).FindString(got.Sentence)
		require.Equal(t, instant != "", got.At != nil, got.Sentence)
		if got.At != nil {
			require.Equal(t, instant, got.At.UTC().Format("2006-01-02 15:04 UTC"), got.Sentence)
		}
		require.Equal(t, strings.Contains(got.Sentence, "3 failed payments"), got.Failures == 3, got.Sentence)
	}

	// Whose account is deactivated gets in nowhere, whatever was paid.
	b.set(t, id, reset)
	_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET enable = false WHERE id = $1", b.customer.ID)
	require.NoError(t, err)
	var body whyBody
	staff.Get("/admin/customers/" + b.customer.ID.String() + "/access").Expect(http.StatusOK).JSON(&body)
	require.False(t, body.HasAccess)
	require.Equal(t, "customer_disabled", body.Reason)
	require.Nil(t, body.At)

	require.Equal(t, http.StatusNotFound, staff.Get("/admin/customers/"+strings.Repeat("0", 24)+"/access").Status)
	require.Equal(t, http.StatusUnprocessableEntity, staff.Get("/admin/customers/x/access").Status)
}

func TestWhyACancelledOneWasCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := b.admin(t)
	id := b.paidGWB(t)
	staff.Post("/subscriptions/"+id.String()+"/cancel", object{"reason": "asked by mail"}).Expect(http.StatusOK)
	var body whyBody
	staff.Get("/admin/customers/" + b.customer.ID.String() + "/access").Expect(http.StatusOK).JSON(&body)
	require.Equal(t, "cancelled", body.Reason)
	require.Contains(t, body.Sentence, "staff did it")
	require.Equal(t, "admin_cancelled", body.MoveReason)
}
