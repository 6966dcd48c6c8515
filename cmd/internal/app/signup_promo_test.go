package app_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/testutil/apitest"
)

// running is the platform with both gateways, whose jobs are worked.
func running(t *testing.T, config ...func(*app.Config)) *platformtest.Platform {
	t.Helper()
	p := platformtest.WithGateways(t, config...)
	p.Work()
	return p
}

// premiere makes a free event in two days.
func premiere(w *platformtest.Platform, capacity any) string {
	w.T.Helper()
	return w.Make(w.Admin(), "/events", object{
		"title": "Premiere", "event_date": time.Now().Add(48 * time.Hour).Format(time.RFC3339), "capacity": capacity,
	})["_id"].(string)
}

func ticketsOf(w *platformtest.Platform, customer string) int {
	w.T.Helper()
	return w.Count("SELECT count(*) FROM tickets.tickets t JOIN accounts.users u ON u.id = t.customer_id WHERE u.username = $1 OR u.email = $1", customer)
}

// TestATicketCodeOfSignupIsRedeemedByEveryWayOfVerifying: not before, and once.
func TestATicketCodeOfSignupIsRedeemedByEveryWayOfVerifying(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.Make(w.Admin(), "/admin/promo-codes", object{
		"code": "GIFT22", "title": "Two seats", "code_type": "ticket", "bonus_tickets": 2,
		"event_id": premiere(w, 100),
	})
	changes := object{"promo_code": "gift22"}
	ways := map[string]func(name, id string){
		"bysignup": func(name, _ string) {
			again := object{"promo_code": "gift22", "verification_code": w.Mailed(name+"@example.com", "verifica")}
			w.SignUp(name, again).Expect(200)
		},
		"bycode": func(name, _ string) {
			w.As(name).Post("/customers/me/verify-email", object{"code": w.Mailed(name+"@example.com", "verifica")}).
				Expect(200)
		},
		"byadmin": func(_, id string) { w.Admin().Post("/admin/customers/"+id+"/verify-email", nil).Expect(200) },
		"byedit": func(_, id string) {
			w.Admin().Put("/customers", []object{{"_id": id, "email_verified": true}}).Expect(200)
		},
		"byreset": func(name, _ string) {
			w.Guest.Post("/auth/forgot-password", object{"email": name + "@example.com"}).Expect(200)
			code := w.Mailed(name+"@example.com", "senha")
			w.Guest.Post("/auth/reset-password", object{
				"email": name + "@example.com", "code": code, "new_password": platformtest.Password + "!",
			}).Expect(200)
		},
		"bychange": func(name, _ string) {
			me := w.As(name)
			me.Post("/customers/me/change-email", object{"new_email": "new." + name + "@example.com"}).Expect(200)
			me.Post("/customers/me/confirm-email",
				object{"verification_code": w.Mailed("new."+name+"@example.com", "")}).Expect(200)
		},
	}
	for name, verify := range ways {
		id := w.SignUp(name, changes).Expect(200).Map()["customer_id"].(string)
		ofCustomer := "SELECT count(*) FROM tickets.tickets WHERE customer_id = $1 AND status = 'available'"
		require.Zero(t, w.Count(ofCustomer, id), "not before")
		verify(name, id)
		require.Equal(t, 2, w.Count(ofCustomer, id))
		require.Equal(t, 1,
			w.Count("SELECT count(*) FROM promos.redemptions WHERE customer_id = $1 AND redeemed_at IS NOT NULL", id))
		w.Admin().Put("/customers", []object{{"_id": id, "full_name": "Another Name", "email_verified": true}}).
			Expect(200)
		require.Equal(t, 2, w.Count(ofCustomer, id), "once")
		query := url.QueryEscape(`{"customer_id":"` + id + `","customer_name":"Another Name"}`)
		require.Len(t, w.Admin().Get("/tickets?query=" + query).Expect(200).Map()["docs"], 2,
			"the tickets carry the new name")
	}
}

func TestATicketCodeOfSignupIsRedeemedAtOnceWhereVerificationMayWait(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.Make(w.Admin(), "/admin/promo-codes", object{
		"code": "GIFT33", "title": "A seat", "code_type": "ticket", "event_id": premiere(w, 100),
	})
	later := object{"promo_code": "GIFT33", "verify_email_now": false}
	me := w.Guest.As(platformtest.Session(w.SignUp("maria", later).Expect(200)))
	require.Len(t, me.Get("/me/tickets").Expect(200).Map()["docs"], 1)
	require.Equal(t, 409, me.Put("/customers/me/redeem-promo-code?code=GIFT33", nil).Status)
	w.SignUp("maria", later).Expect(200) // once more
	require.Equal(t, 1, ticketsOf(w, "maria"))
	id := me.Get("/customers/me").Expect(200).Map()["docs"].([]any)[0].(object)["_id"].(string)
	w.Admin().Post("/admin/customers/"+id+"/verify-email", nil).Expect(200)
	require.Equal(t, 1, ticketsOf(w, "maria"))
}

// TestACodeThatNoLongerHoldsKeepsNobodyFromVerifying: sold out, expired, deleted,
// its event over.
func TestACodeThatNoLongerHoldsKeepsNobodyFromVerifying(t *testing.T) {
	t.Parallel()
	w := running(t)
	for i, spoil := range []func(code, event string){
		func(code, _ string) {
			w.Admin().Put("/admin/promo-codes/"+code,
				object{"valid_until": time.Now().Add(-time.Minute).Format(time.RFC3339)}).Expect(200)
		},
		func(code, _ string) {
			w.Admin().Put("/admin/promo-codes/"+code, object{"is_active": false}).Expect(200)
		},
		func(code, _ string) { w.Admin().Delete("/admin/promo-codes/"+code, nil).Expect(200) },
		func(_, event string) { w.Admin().Put("/events", []object{{"_id": event, "capacity": 0}}).Expect(200) },
		func(_, event string) {
			w.Admin().Put("/events", []object{{
				"_id": event, "event_date": time.Now().Add(-24 * time.Hour).Format(time.RFC3339),
			}}).Expect(200)
		},
	} {
		event, text, name := premiere(w, 1), fmt.Sprintf("SPOIL%d", i), fmt.Sprintf("spoiled%d", i)
		code := w.Make(w.Admin(), "/admin/promo-codes", object{
			"code": text, "title": "A seat", "code_type": "ticket", "event_id": event,
		})["_id"].(string)
		id := w.SignUp(name, object{"promo_code": text}).Expect(200).Map()["customer_id"].(string)
		spoil(code, event)
		w.Admin().Post("/admin/customers/"+id+"/verify-email", nil).Expect(200)
		require.Zero(t, ticketsOf(w, name))
		require.Zero(t, w.Count("SELECT count(*) FROM promos.redemptions WHERE customer_id = $1", id))
	}
}

// TestAPromoCodeOfSignupLowersTheFirstSubscription: through every route that takes
// codes, at both gateways, when the request names none.
func TestAPromoCodeOfSignupLowersTheFirstSubscription(t *testing.T) {
	t.Parallel()
	w := running(t)
	subscriptionstest.Plan(t, w.DB, "monthly", 4990)
	w.Make(w.Admin(), "/admin/promo-codes", object{
		"code": "FIRST9", "title": "First month", "code_type": "promo", "discount_first_month": 9.9,
	})
	pix := func(me *apitest.Client, path string) *apitest.Response {
		return me.Post(path, object{"plan_id": "monthly"})
	}
	for name, subscribe := range map[string]func(me *apitest.Client) *apitest.Response{
		"gwacard": func(me *apitest.Client) *apitest.Response {
			return me.Post("/gwa/subscribe", object{
				"plan_id": "monthly",
				"credit_card": object{
					"holderName": "ANA SOUZA", "number": paymentstest.CardApproved, "expiryMonth": "05",
					"expiryYear": "2099",
					"ccv":        "318",
				},
				"credit_card_holder_info": object{
					"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
					"addressNumber": "150", "phone": "1138830000",
				},
			})
		},
		"gwbcard": func(me *apitest.Client) *apitest.Response {
			return me.Post("/gwb/subscribe", object{
				"plan_id": "monthly", "payment_method_id": paymentstest.TokenApproved,
			})
		},
		"gwapix": func(me *apitest.Client) *apitest.Response { return pix(me, "/gwa/subscribe/pix") },
		"gwbpix": func(me *apitest.Client) *apitest.Response { return pix(me, "/gwb/subscribe/pix") },
	} {
		taxID := map[string]string{
			"gwacard": "52998224725", "gwapix": "11144477735", "gwbpix": "39053344705", "gwbcard": "15350946056",
		}[name]
		signedUp := w.SignUp(name, object{"promo_code": "first9", "verify_email_now": false, "tax_id": taxID}).
			Expect(200)
		id := signedUp.Map()["customer_id"]
		me := w.Guest.As(platformtest.Session(signedUp))
		require.Zero(t, w.Count("SELECT count(*) FROM promos.redemptions WHERE customer_id = $1", id),
			"a promo code waits for the subscription")
		subscribe(me).Expect(201)
		require.Equal(t, 1,
			w.Count("SELECT count(*) FROM subscriptions.subscriptions WHERE customer_id = $1 AND promo_code = 'FIRST9' AND first_amount_cents = 990", id), name)
		w.Settle()
		redemptions := "SELECT count(*) FROM promos.redemptions WHERE customer_id = $1 AND code = 'FIRST9' AND (paid_at IS NOT NULL) = $2"
		require.Equal(t, 1, w.Count(redemptions, id, name == "gwacard" || name == "gwbcard"), name)
		for _, c := range w.Gateways.Charges(t) {
			if sub := w.Count("SELECT count(*) FROM subscriptions.subscriptions WHERE id = $1 AND customer_id = $2",
				c.LocalID, id); sub == 1 && c.Succeeded {
				require.EqualValues(t, 990, c.Cents, "charged the lowered price")
			}
		}
	}
}
