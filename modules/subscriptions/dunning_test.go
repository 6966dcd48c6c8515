package subscriptions_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

const days = 24 * time.Hour

// mailSubjects are those of the mails that were sent, oldest first.
func mailSubjects(b *bundle) []string {
	all := []string{}
	for _, m := range b.mails.Mails() {
		all = append([]string{m.Subject}, all...)
	}
	return all
}

// waitDays lets days pass and does what is due.
func waitDays(t *testing.T, b *bundle, n int) {
	t.Helper()
	b.clock.Advance(time.Duration(n) * days)
	require.NoError(t, b.service.Sweep(t.Context()))
}

// failedRenewals are a failed renewal of each kind, told by the sandbox or as it
// would tell it. They return the payment that failed.
var failedRenewals = map[string]func(t *testing.T, b *bundle) (objectid.ID, gateway.Event){
	"gwa card": func(t *testing.T, b *bundle) (objectid.ID, gateway.Event) {
		id := b.paidGWA(t)
		return id, gateway.Event{
			Gateway: gateway.GWA, SubscriptionID: column[string](t, b, id, "gwa_subscription_id"),
			Payload: gateway.FailedPayment{
				Attempt: 1, Payment: gateway.Payment{
					ID: "pay_2_" + id.String(), Method: gateway.MethodCard, Amount: 4990,
				},
			},
		}
	},
	"gwa automatic PIX": func(t *testing.T, b *bundle) (objectid.ID, gateway.Event) {
		id, auth := b.authorized(t)
		return id, gateway.Event{
			Gateway: gateway.GWA, AuthorizationID: auth,
			Payload: gateway.FailedPayment{
				Attempt: 1, Payment: gateway.Payment{
					ID: "pay_2_" + id.String(), Method: gateway.MethodPix, Amount: 4990,
				},
			},
		}
	},
	"gwb card": func(t *testing.T, b *bundle) (objectid.ID, gateway.Event) {
		id := b.paidGWB(t)
		return id, remoteOf(t, b, id).failed("in_2", 1, 60)
	},
}

func failRenewal(t *testing.T, b *bundle, kind string) (objectid.ID, gateway.Event) {
	t.Helper()
	id, failed := failedRenewals[kind](t, b)
	failed.CreatedAt = b.clock.Now()
	require.Equal(t, gateway.ResultApplied, b.apply(t, failed).Status)
	return id, failed
}

func TestFailedPaymentIsMailedOnItsDays(t *testing.T) {
	t.Parallel()
	for kind := range failedRenewals {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, failed := failRenewal(t, b, kind)
			again := failed
			again.ID, again.Payload = "", gateway.FailedPayment{
				Payment: again.Payload.(gateway.FailedPayment).Payment,
				Attempt: 2,
			} // tried once more: the same payment
			b.apply(t, again)
			require.Equal(t, 3, b.count(t,
				"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_dunning_mail'"))
			require.Equal(t, 2, b.count(t,
				"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_dunning_mail' AND state = 'scheduled'"))
			for _, wait := range []int{0, 0, 2, 1, 1, 3, 1, 10} {
				waitDays(t, b, wait)
			}
			const first, later = "Seu pagamento não foi concluído: " + plan, "Seu pagamento continua em aberto: " + plan
			require.Equal(t, []string{first, later, later}, mailSubjects(b))
			m := b.mails.Mails()[0]
			require.Equal(t, b.customer.Email, m.To)
			require.Contains(t, m.Text, "R$ 49,90")
			require.Contains(t, m.HTML, "<strong>"+plan+"</strong>")
			if kind == "gwa automatic PIX" {
				require.Contains(t, m.Text, "novo código PIX")
			} else {
				require.Contains(t, m.Text, "Troque o cartão")
			}
		})
	}
}

func TestDunningMailInEnglishTellsThatAccessStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET language = 'en' WHERE id = $1", b.customer.ID)
	require.NoError(t, err)
	id := b.paidGWB(t)
	b.apply(t, remoteOf(t, b, id).updated(gateway.RemotePastDue, 60, "in_2"))
	b.apply(t, remoteOf(t, b, id).failed("in_2", 1, 61))
	waitDays(t, b, 0)
	require.Equal(t, []string{"Your payment failed: " + plan}, mailSubjects(b), "two events about one failure")
	require.Contains(t, b.mails.Mails()[0].Text, "Until it is paid, you cannot watch.")
	require.Contains(t, b.mails.Mails()[0].Text, "Change the card")
}

func TestDunningStops(t *testing.T) {
	t.Parallel()
	stops := map[string]func(t *testing.T, b *bundle, id objectid.ID, failed gateway.Event){
		"when it is paid": func(t *testing.T, b *bundle, id objectid.ID, failed gateway.Event) {
			paid := failed.Payload.(gateway.FailedPayment).Payment
			paid.AuthorizationGatewayID, paid.Status, paid.NativeStatus = failed.AuthorizationID,
				gateway.PaymentStatusSettled, "CONFIRMED"
			failed.ID, failed.Type, failed.Payload = "", gateway.ReadLive, gateway.SettledPayment{Payment: paid}
			b.apply(t, failed)
			require.Zero(t, column[int](t, b, id, "payment_failures"))
		},
		"when it is cancelled": func(t *testing.T, b *bundle, _ objectid.ID, _ gateway.Event) {
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		},
		"when it is disputed": func(t *testing.T, b *bundle, id objectid.ID, _ gateway.Event) {
			b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).
				Expect(200)
		},
		"when the customer is gone": func(t *testing.T, b *bundle, _ objectid.ID, _ gateway.Event) {
			_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET deleted_at = now() WHERE id = $1",
				b.customer.ID)
			require.NoError(t, err)
		},
		"after an outage of days": func(_ *testing.T, b *bundle, _ objectid.ID,
			_ gateway.Event,
		) {
			b.clock.Advance(10 * days)
		},
	}
	for kind := range failedRenewals {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for name, stop := range stops {
				t.Run(name, func(t *testing.T) {
					b.newcomer(t)
					defer func(began time.Time) { b.clock.Advance(began.Sub(b.clock.Now())) }(b.clock.Now()) // the sandbox lives in real time
					id, failed := failRenewal(t, b, kind)
					waitDays(t, b, 0)
					require.Len(t, mailsTo(b, b.customer.Email), 1)
					stop(t, b, id, failed)
					waitDays(t, b, 4)
					waitDays(t, b, 4)
					require.Len(t, mailsTo(b, b.customer.Email), 1)
					require.Equal(t, 2, b.count(t,
						"SELECT count(*) FROM subscriptions.dunning_mails WHERE subscription_id = $1 AND dropped_at IS NOT NULL", id))
				})
			}
		})
	}
}

func mailsTo(b *bundle, address string) (subjects []string) {
	for _, m := range b.mails.Mails() {
		if m.To == address {
			subjects = append(subjects, m.Subject)
		}
	}
	return subjects
}

func TestEachFailedPeriodIsMailed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, failed := failRenewal(t, b, "gwa card")
	waitDays(t, b, 0)
	failed.ID = ""
	editPayment(&failed, func(p *gateway.Payment) { p.ID = "pay_3" })
	b.apply(t, failed)
	waitDays(t, b, 0)
	require.Len(t, mailSubjects(b), 2)
}

func TestFirstPaymentsAreNotDunned(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenDeclined))
	b.settle(t)
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.dunning_mails"))
}

func TestRealFailedRenewalOfGatewayBIsDunnedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodPut, "/gwb/subscription/payment-method",
		object{"payment_method_id": paymentstest.TokenDeclined})
	require.NoError(t, b.gateways.Sandbox.GWB.Renew(column[string](t, b, id, "gwb_subscription_id")))
	b.settle(t)
	waitDays(t, b, 0)
	require.Len(t, mailSubjects(b), 1)
	b.expect(t, 200, http.MethodPut, "/gwb/subscription/payment-method",
		object{"payment_method_id": paymentstest.TokenApproved})
	b.settle(t)
	waitDays(t, b, 3)
	require.Len(t, mailSubjects(b), 1, "the new card has paid it")
}

func TestRealOverdueChargeOfGatewayAIsDunnedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	_, err := b.gateways.Sandbox.GWA.Renew(column[string](t, b, id, "gwa_subscription_id"), true)
	require.NoError(t, err)
	b.settle(t)
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(5*days)) // overdue on the next business day
	b.settle(t)
	require.Equal(t, 1, column[int](t, b, id, "payment_failures"))
	waitDays(t, b, 0)
	require.Len(t, mailSubjects(b), 1)
}

func TestDunningMailThatIsNotTakenIsSentLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, failed := failRenewal(t, b, "gwa card")
	require.NoError(t, b.mails.Close())
	require.Error(t, b.service.MailDunning(t.Context(), id, failed.PaymentID(), 0))
	require.NoError(t, b.service.Sweep(t.Context()), "not before a while")
	b.clock.Advance(16 * time.Minute)
	require.Error(t, b.service.Sweep(t.Context()), "and tried again")
}

// TestDunningMailAtOnce: whoever has it in hand keeps the others from sending it;
// without the claim they all do.
func TestDunningMailAtOnce(t *testing.T) {
	t.Parallel()
	const jobs = 6
	for _, guarded := range []bool{true, false} {
		t.Run(fmt.Sprintf("claimed %t", guarded), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, failed := failRenewal(t, b, "gwb card")
			if !guarded {
				unguard(t, b,
					"CREATE FUNCTION public.unclaim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.claimed_at := NULL; NEW.sent_at := NULL; RETURN NEW; END $$",
					"CREATE TRIGGER unclaim BEFORE UPDATE ON subscriptions.dunning_mails FOR EACH ROW EXECUTE FUNCTION public.unclaim()")
			}
			var wg sync.WaitGroup
			errs := make([]error, jobs)
			for i := range errs {
				wg.Go(func() { errs[i] = b.service.MailDunning(t.Context(), id, failed.PaymentID(), 0) })
			}
			wg.Wait()
			for _, err := range errs {
				require.NoError(t, err)
			}
			if guarded {
				require.Len(t, mailSubjects(b), 1)
			} else {
				require.Len(t, mailSubjects(b), jobs)
			}
		})
	}
}

// unguard takes a guard out of the test's own database.
func unguard(t *testing.T, b *bundle, statements ...string) {
	t.Helper()
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(t.Context(), s); err != nil {
				return err
			}
		}
		return nil
	}))
}
