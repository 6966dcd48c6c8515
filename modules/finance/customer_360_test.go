package finance_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Ids of the rows of anasHistory.
const (
	oldSubscription = "00000000000000000000ee01"
	newSubscription = "00000000000000000000ee02"
	premiere        = "00000000000000000000ee03"
	anasOrder       = "00000000000000000000ee04"
	anasTicket      = "00000000000000000000ee05"
	giftTicket      = "00000000000000000000ee06"
	giftCode        = "00000000000000000000ee07"
	film            = "00000000000000000000ee08"
)

// anasHistory gives the customer one of everything, in 2026: a subscription that
// failed, was refunded and ended, another that runs after a dispute that took its
// first payment, two tickets for 100 reais of which one was given back by money, a
// ticket by a code, and two films.
func (b *bundle) anasHistory() {
	b.t.Helper()
	for _, sql := range strings.Split(`
INSERT INTO subscriptions.plans (plan_id, name, amount_cents, tier, register_date, register_update_date)
	VALUES ('basic', 'Basic', 1990, 1, '2026-01-01', '2026-01-01'), ('premium', 'Premium', 4990, 3, '2026-01-01', '2026-01-01');
INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, gwb_subscription_id, pix_payload,
		started_at, last_payment_at, ended_at, payment_failures, total_refunded_cents, intent_open, register_date, register_update_date)
	VALUES ('OLD', 'ANA', 'basic', 'gwb', 'credit_card', 'cancelled', 1990, 1, 'sub_hidden', NULL, '2026-01-10', '2026-01-10', '2026-02-20', 1, 990, false, '2026-01-10', '2026-02-20');
INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
	VALUES ('OLD', 'ANA', '2026-01-10T12:00:00Z', NULL, 'pending', 'subscribed', 'subscribe'), ('OLD', 'ANA', '2026-01-10T12:00:01Z', 'pending', 'active', 'payment_settled', 'webhook'),
		('OLD', 'ANA', '2026-02-20T12:00:00Z', 'active', 'cancelled', 'customer_cancelled', 'customer');
INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, pix_payload, pix_image,
		started_at, last_payment_at, expires_at, has_chargeback, intent_open, register_date, register_update_date)
	VALUES ('NEW', 'ANA', 'premium', 'gwa', 'pix', 'active', 4990, 12, 'hidden-pix', 'hidden-image', '2026-03-01', '2026-03-01', '2027-03-01', true, false, '2026-03-01', '2026-03-01');
INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
	VALUES ('NEW', 'ANA', '2026-03-01T12:00:00Z', NULL, 'pending', 'subscribed', 'subscribe'), ('NEW', 'ANA', '2026-03-01T12:00:01Z', 'pending', 'active', 'payment_settled', 'webhook');
UPDATE accounts.users SET current_subscription_id = 'NEW' WHERE id = 'ANA';
INSERT INTO payments.payments (gateway, gateway_payment_id, invoice_id, payment_intent_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
	VALUES ('gwb', 'in_1', 'in_1', 'pi_hidden', 'subscription', 'OLD', 'ANA', 1990, 'credit_card', 'paid', '2026-01-10T12:00:01Z', '2026-01-10', '2026-01-10'),
		('gwa', 'pay_2', NULL, NULL, 'subscription', 'NEW', 'ANA', 59880, 'pix', 'RECEIVED', '2026-03-01T12:00:01Z', '2026-03-01', '2026-03-01'),
		('gwa', 'pay_3', NULL, NULL, 'order', 'ORDER', 'ANA', 10000, 'pix', 'RECEIVED', '2026-04-01T12:00:00Z', '2026-04-01', '2026-04-01');
INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
	VALUES ('gwb', 'in_2', 1, 'subscription', 'OLD', 1990, '2026-02-10T12:00:00Z', '2026-02-10');
INSERT INTO payments.refunds (gateway, payment_ref, gateway_refund_id, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, reason, admin,
		requested_at, refunded_at, created_at, updated_at)
	VALUES ('gwb', 'pi_hidden', 're_1', 'subscription', 'OLD', 'ANA', 990, 'done', 'admin', 'REFUND-1', 'admin_refund', 'asked for by mail', 'admin', '2026-02-21T12:00:00Z', '2026-02-21T13:00:00Z', '2026-02-21', '2026-02-21'),
		('gwb', 'pi_hidden', NULL, 'subscription', 'OLD', 'ANA', 500, 'failed', 'admin', 'REFUND-2', 'admin_refund', 'asked for again', 'admin', '2026-02-22T12:00:00Z', NULL, '2026-02-22', '2026-02-22');
INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, reason, state, native_status, opened_at, reported_at, created_at, updated_at)
	VALUES ('gwb', 'du_1', 'pi_hidden', 'subscription', 'OLD', 'ANA', 1000, 'fraudulent', 'open', 'needs_response', '2026-03-05T12:00:00Z', '2026-03-05', '2026-03-05', '2026-03-05');
INSERT INTO tickets.events (id, title, event_type, event_date, capacity, ticket_value_cents, location)
	VALUES ('EVENT', 'Premiere', 'movie_premiere', '2026-12-01T20:00:00Z', 10, 5000, 'Cine Ipiranga');
INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, gateway_payment_id, gateway_customer_id, payment_status, state,
		pix_payload, pix_image, paid_at, intent_open, created_at, updated_at)
	VALUES ('ORDER', 'ANA', 'EVENT', 2, 5000, 10000, 'gwa', 'pix', 'pay_3', 'cus_hidden', 'RECEIVED', 'paid', 'hidden-pix', 'hidden-image', '2026-04-01T12:00:00Z', false, '2026-04-01T11:59:00Z', '2026-04-01');
INSERT INTO tickets.customers (id, name, email) VALUES ('ANA', 'Ana Souza', 'ana@example.com');
INSERT INTO promos.promo_codes (id, code, title, code_type, event_id, register_date) VALUES ('CODE', 'ABC234', 'A gift', 'ticket', 'EVENT', '2026-04-01');
INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, tickets, redeemed_at, created_at)
	VALUES ('CODE', 'ANA', 'ABC234', 'ticket', 'redeem', 1, '2026-04-02T12:00:00Z', '2026-04-02');
INSERT INTO tickets.tickets (id, event_id, customer_id, order_id, promo_code_id, promo_code, title, status, reason, consume_nonce, register_date, register_update_date, consumed_at, holds_place)
	VALUES ('TICKET', 'EVENT', 'ANA', 'ORDER', NULL, NULL, 'Premiere', 'consumed', 'paid', 'hidden-nonce', '2026-04-01T11:59:00Z', '2026-04-01', '2026-04-03T12:00:00Z', true),
		(platform.new_object_id(), 'EVENT', 'ANA', 'ORDER', NULL, NULL, 'Premiere', 'expired', 'unpaid', NULL, '2026-04-01T11:58:00Z', '2026-04-01', NULL, false),
		('GIFT', 'EVENT', 'ANA', NULL, 'CODE', 'ABC234', 'A gift', 'available', 'redeemed', NULL, '2026-04-02T12:00:00Z', '2026-04-02', NULL, true);
INSERT INTO catalog.videos (id, slug, title, video_id, duration, release_date, register_date, register_update_date)
	VALUES ('FILM', 'a-film', 'A film', 'https://videos.example.com/1', 90, '2026-01-01', '2026-01-01', '2026-01-01');
INSERT INTO catalog.watch_history (user_id, video_id, timeline, updated_at) VALUES ('ANA', 'FILM', 60, '2026-04-04T12:00:00Z'), ('ADMIN', 'FILM', 60, '2026-04-05T12:00:00Z')`, ";\n") {
		b.exec(strings.NewReplacer("'ANA'", "'"+string(customerID)+"'", "'ADMIN'", "'"+string(adminID)+"'", "'OLD'",
			"'"+oldSubscription+"'", "'NEW'", "'"+newSubscription+"'",
			"'EVENT'", "'"+premiere+"'", "'ORDER'", "'"+anasOrder+"'", "'TICKET'", "'"+anasTicket+"'", "'GIFT'",
			"'"+giftTicket+"'", "'CODE'", "'"+giftCode+"'", "'FILM'", "'"+film+"'").Replace(sql))
	}
}

// drop takes ids that the database made out of a list's rows.
func drop(list any, names ...string) any {
	for _, row := range list.([]any) {
		for _, name := range names {
			delete(row.(doc), name)
		}
	}
	return list
}

// TestCustomer360 tells the whole history of one customer, in cents, newest first.
func TestCustomer360(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-06-15T12:00:00Z"))
	b.anasHistory()
	b.exec(`UPDATE accounts.users SET labels = '{press,vip}'`+` WHERE id = $1`, customerID)
	got := b.get("/admin/customers/360?_id=" + string(customerID))

	require.Equal(t, doc{
		"_id": string(customerID), "username": "ana", "email": "ana@example.com", "full_name": "Ana Souza",
		"tax_id": "52998224725", "phone": nil, "nationality": "", "address": nil, "enable": true,
		"email_verified": true, "email_verified_at": "2026-01-05T15:00:00.000Z",
		"current_subscription_id": newSubscription, "promo_code_used": nil, "labels": []any{"press", "vip"}, "created_at": "2026-01-05T15:00:00.000Z",
		"updated_at": "2026-01-05T15:00:00.000Z",
	}, got["customer"])
	current := doc{
		"_id": newSubscription, "plan_id": "premium", "plan_name": "Premium", "gateway": "gwa",
		"payment_method": "pix", "status": "active", "amount": 4990.0, "period_months": 12.0,
		"started_at": "2026-03-01T00:00:00.000Z", "next_billing_date": nil,
		"last_payment_at": "2026-03-01T00:00:00.000Z", "expires_at": "2027-03-01T00:00:00.000Z", "ended_at": nil,
		"cancel_at_period_end": false, "payment_failures": 0.0, "total_refunded": 0.0, "has_chargeback": true,
		"created_at": "2026-03-01T00:00:00.000Z",
	}
	require.Equal(t, current, got["subscription"])
	require.Equal(t, []any{current, doc{
		"_id": oldSubscription, "plan_id": "basic", "plan_name": "Basic", "gateway": "gwb",
		"payment_method": "credit_card", "status": "cancelled", "amount": 1990.0, "period_months": 1.0,
		"started_at": "2026-01-10T00:00:00.000Z", "next_billing_date": nil,
		"last_payment_at": "2026-01-10T00:00:00.000Z", "expires_at": nil, "ended_at": "2026-02-20T00:00:00.000Z",
		"cancel_at_period_end": false, "payment_failures": 1.0, "total_refunded": 990.0, "has_chargeback": false,
		"created_at": "2026-01-10T00:00:00.000Z",
	}}, got["subscriptions"])
	require.Equal(t, []any{
		doc{
			"purpose": "order", "local_id": anasOrder, "gateway": "gwa", "gateway_payment_id": "pay_3",
			"payment_method": "pix", "amount": 10000.0, "status": "RECEIVED", "paid_at": "2026-04-01T12:00:00.000Z",
		},
		doc{
			"purpose": "subscription", "local_id": newSubscription, "gateway": "gwa", "gateway_payment_id": "pay_2",
			"payment_method": "pix", "amount": 59880.0, "status": "RECEIVED", "paid_at": "2026-03-01T12:00:01.000Z",
		},
		doc{
			"purpose": "subscription", "local_id": oldSubscription, "gateway": "gwb", "gateway_payment_id": "in_1",
			"payment_method": "credit_card", "amount": 1990.0, "status": "paid", "paid_at": "2026-01-10T12:00:01.000Z",
		},
	}, drop(got["payments"], "_id"))
	require.Equal(t, []any{
		doc{
			"purpose": "subscription", "local_id": oldSubscription, "gateway": "gwb", "amount": 500.0,
			"status": "failed", "reason": "asked for again", "requested_at": "2026-02-22T12:00:00.000Z",
			"refunded_at": nil,
		},
		doc{
			"purpose": "subscription", "local_id": oldSubscription, "gateway": "gwb", "amount": 990.0, "status": "done",
			"reason": "asked for by mail", "requested_at": "2026-02-21T12:00:00.000Z",
			"refunded_at": "2026-02-21T13:00:00.000Z",
		},
	}, drop(got["refunds"], "_id"))
	require.Len(t, got["tickets"], 3)
	require.Equal(t, doc{
		"_id": giftTicket, "event_id": premiere, "event_title": "Premiere", "event_date": "2026-12-01T20:00:00.000Z",
		"title": "A gift", "status": "available", "blocked": nil, "refunded_at": nil, "ticket_order_id": nil,
		"promo_code": "ABC234", "consumed_at": nil, "created_at": "2026-04-02T12:00:00.000Z",
	}, got["tickets"].([]any)[0])
	require.Equal(t, []any{doc{
		"_id": anasOrder, "event_id": premiere, "event_title": "Premiere", "quantity": 2.0, "unit_price": 5000.0,
		"total": 10000.0, "refunded": 0.0, "gateway": "gwa", "payment_method": "pix", "payment_status": "RECEIVED",
		"paid_at": "2026-04-01T12:00:00.000Z", "created_at": "2026-04-01T11:59:00.000Z",
	}}, got["orders"])
	require.Equal(t, []any{doc{
		"promo_code_id": giftCode, "code": "ABC234", "code_type": "ticket", "tickets": 1.0,
		"redeemed_at": "2026-04-02T12:00:00.000Z",
	}}, got["promo_codes"])
	require.Equal(t, doc{"videos": 1.0, "last_at": "2026-04-04T12:00:00.000Z"}, got["watch"])
	// 1990 + 59880 + 10000 paid, 990 given back, 1000 taken by the dispute.
	require.Equal(t, doc{
		"paid": 71870.0, "refunded": 990.0, "chargebacks": 1000.0, "net": 69880.0, "orders": 1.0, "tickets": 2.0,
	}, got["totals"])
	require.Equal(t, []any{
		doc{
			"at": "2026-04-03T12:00:00.000Z", "type": "ticket",
			"summary":     "Used a ticket for Premiere.",
			"event_title": "Premiere",
		},
		doc{
			"at": "2026-04-02T12:00:00.000Z", "type": "promo_code",
			"summary":    "Redeemed the promo code ABC234.",
			"promo_code": "ABC234",
		},
		doc{
			"at": "2026-04-01T12:00:00.000Z", "type": "payment",
			"summary": "Paid R$ 100.00 for a ticket order by pix at gwa.",
			"amount":  10000.0, "purpose": "order", "payment_method": "pix", "gateway": "gwa",
		},
		doc{
			"at": "2026-04-01T11:59:00.000Z", "type": "order",
			"summary": "Ordered 2 for Premiere, R$ 100.00.",
			"amount":  10000.0, "quantity": 2.0, "event_title": "Premiere",
		},
		doc{
			"at": "2026-03-05T12:00:00.000Z", "type": "chargeback",
			"summary": "A dispute took R$ 10.00.",
			"amount":  1000.0, "gateway": "gwb",
		},
		doc{
			"at": "2026-03-01T12:00:01.000Z", "type": "payment",
			"summary": "Paid R$ 598.80 for a subscription by pix at gwa.",
			"amount":  59880.0, "purpose": "subscription", "payment_method": "pix", "gateway": "gwa",
		},
		doc{
			"at": "2026-03-01T12:00:01.000Z", "type": "subscription",
			"summary":   "Subscription to Premium went from pending to active (payment settled).",
			"plan_name": "Premium", "from_status": "pending", "to_status": "active", "reason": "payment_settled",
		},
		doc{
			"at": "2026-03-01T12:00:00.000Z", "type": "subscription",
			"summary":   "Subscription to Premium began as pending (subscribed).",
			"plan_name": "Premium", "to_status": "pending", "reason": "subscribed",
		},
		doc{
			"at": "2026-02-22T12:00:00.000Z", "type": "refund",
			"summary": "A refund of R$ 5.00 failed.",
			"amount":  500.0, "gateway": "gwb", "refund_status": "failed",
		},
		doc{
			"at": "2026-02-21T13:00:00.000Z", "type": "refund",
			"summary": "A refund of R$ 9.90 was given back.",
			"amount":  990.0, "gateway": "gwb", "refund_status": "done",
		},
		doc{
			"at": "2026-02-20T12:00:00.000Z", "type": "subscription",
			"summary":   "Subscription to Basic went from active to cancelled (customer cancelled).",
			"plan_name": "Basic", "from_status": "active", "to_status": "cancelled", "reason": "customer_cancelled",
		},
		doc{
			"at": "2026-02-10T12:00:00.000Z", "type": "payment_failed",
			"summary": "A payment of R$ 19.90 failed at gwb.", "amount": 1990.0, "gateway": "gwb",
		},
		doc{
			"at": "2026-01-10T12:00:01.000Z", "type": "payment",
			"summary": "Paid R$ 19.90 for a subscription by credit card at gwb.",
			"amount":  1990.0, "purpose": "subscription", "payment_method": "credit_card", "gateway": "gwb",
		},
		doc{
			"at": "2026-01-10T12:00:01.000Z", "type": "subscription",
			"summary":   "Subscription to Basic went from pending to active (payment settled).",
			"plan_name": "Basic", "from_status": "pending", "to_status": "active", "reason": "payment_settled",
		},
		doc{
			"at": "2026-01-10T12:00:00.000Z", "type": "subscription",
			"summary":   "Subscription to Basic began as pending (subscribed).",
			"plan_name": "Basic", "to_status": "pending", "reason": "subscribed",
		},
		doc{"at": "2026-01-05T15:00:00.000Z", "type": "email_verified", "summary": "E-mail address verified."},
		doc{"at": "2026-01-05T15:00:00.000Z", "type": "signup", "summary": "Signed up."},
	}, got["timeline"])
}

// TestCustomer360HidesSecrets: nothing that the platform keeps to itself is told.
func TestCustomer360HidesSecrets(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-06-15T12:00:00Z"))
	b.anasHistory()
	for _, path := range []string{
		"/admin/customers/360?_id=" + string(customerID), "/admin/events-dashboard/events/" + premiere,
	} {
		body := string(b.admin.Get(path).Expect(http.StatusOK).Body)
		require.Contains(t, body, "ana@example.com", path)
		for _, secret := range []string{"hidden", "secret-hash", "password", "argon2", "pi_"} {
			require.NotContains(t, body, secret, path)
		}
	}
}

// TestCustomer360Finds the customer by each of the parameters, in the forms that
// people write them in, and by several that agree.
func TestCustomer360Finds(t *testing.T) {
	t.Parallel()
	b := setupAt(t, time.Now())
	b.exec(`UPDATE accounts.users SET username = 'ANA'`+` WHERE id = $1`, customerID)
	for _, query := range []url.Values{
		{"_id": {string(customerID)}},
		{"_id": {strings.ToUpper(string(customerID))}},
		{"email": {"ana@example.com"}},
		{"email": {"ANA@Example.com"}},
		{"tax_id": {"52998224725"}},
		{"tax_id": {"529.982.247-25"}},
		{"_id": {string(customerID)}, "email": {"ana@example.com"}, "tax_id": {"52998224725"}},
	} {
		got := b.get("/admin/customers/360?" + query.Encode())
		require.Equal(t, string(customerID), got["customer"].(doc)["_id"], query)
	}
	other := "/admin/customers/360?email=ana@example.com&tax_id=11144477735"
	require.Equal(t, "NOT_FOUND", b.admin.Get(other).Expect(http.StatusNotFound).Code())
	b.exec(`UPDATE accounts.users SET deleted_at = now() WHERE id = $1`, customerID)
	for _, query := range []string{"_id=" + string(customerID), "email=ana@example.com", "tax_id=52998224725"} {
		require.Equal(t, "NOT_FOUND", b.admin.Get("/admin/customers/360?"+query).Expect(http.StatusNotFound).Code(),
			query)
	}
}

// TestCustomerTimeline is the timeline of the page about a customer, and goes on behind it.
func TestCustomerTimeline(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-06-15T12:00:00Z"))
	b.anasHistory()
	path := "/admin/customers/" + string(customerID) + "/timeline"
	whole := b.get("/admin/customers/360?_id=" + string(customerID))["timeline"]
	require.Equal(t, doc{"timeline": whole, "more": false}, b.get(path+"?qty=100"))
	moments := whole.([]any)
	require.Greater(t, len(moments), 10)
	require.Equal(t, doc{"timeline": moments[3:7], "more": true}, b.get(path+"?skip=3&qty=4"))
	require.Equal(t, doc{"timeline": []any{}, "more": false}, b.get(path+"?skip=100"))

	b.exec(`INSERT INTO payments.failed_attempts
			(gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
		SELECT 'gwb', 'in_many_' || k, 1, 'subscription', '` + oldSubscription + `', 1990,
			'2026-02-10T12:00:00Z'::timestamptz - k * interval '1 hour', now()
		FROM generate_series(1, 250) k`)
	seen := map[any]bool{}
	for skip, more := 0, true; more; skip += 100 {
		page := b.get(path + "?type=payment_failed&qty=100&skip=" + strconv.Itoa(skip))
		for _, moment := range page["timeline"].([]any) {
			require.Equal(t, "payment_failed", moment.(doc)["type"])
			seen[moment.(doc)["at"]] = true
		}
		more = page["more"].(bool)
	}
	require.Len(t, seen, 251)
	require.Equal(t, moments[0], b.get(path + "?qty=1")["timeline"].([]any)[0])
}
