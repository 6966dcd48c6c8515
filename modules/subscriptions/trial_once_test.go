package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions"
)

// Somebody has a trial, closes the account or gives its tax id away, and comes as
// somebody else: one tax id has one trial in 24 months.
func TestATrialIsHadOnceByTaxID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	exec := func(query string, args ...any) {
		_, err := b.db.Exec(t.Context(), query, args...)
		require.NoError(t, err)
	}
	exec("UPDATE subscriptions.plans SET trial_enabled = true, trial_days = 7")
	again := func(taxID string) {
		b.customer, b.token = accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.TaxID = taxID }), ""
	}
	begins := func(path string, card object) string {
		a := b.expect(t, 201, http.MethodPost, path, card)
		trial := column[int](t, b, idOf(a), "trial_days")
		if trial == 0 {
			return "paid"
		}
		return "trial"
	}
	end := func() {
		exec("UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = $1 WHERE ended_at IS NULL",
			paymentstest.Now())
	}
	taxID := b.customer.TaxID

	// One whose gateway has not answered yet, and in the end takes nothing.
	require.Equal(t, "trial", begins("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)))
	b.forged()
	exec("UPDATE subscriptions.subscriptions SET status = 'pending', started_at = NULL")
	exec("UPDATE subscriptions.trial_uses SET began_at = NULL")
	exec("UPDATE accounts.users SET tax_id = NULL WHERE id = $1", b.customer.ID)
	again(taxID)
	require.Equal(t, "paid", begins("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)),
		"while another waits for it")
	end()
	exec("UPDATE accounts.users SET tax_id = NULL WHERE id = $1", b.customer.ID)
	again(taxID)
	require.Equal(t, "trial", begins("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)), "what waited is gone")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.trial_uses WHERE began_at IS NOT NULL"))
	data, err := b.service.Trials().PersonalData(t.Context(), b.db, b.customer.ID, true)
	require.NoError(t, err)
	require.Len(t, data, 1)

	end()
	exec("UPDATE accounts.users SET tax_id = NULL WHERE id = $1", b.customer.ID)
	again(taxID)
	require.Equal(t, "paid", begins("/gwa/subscribe", gwaCard(paymentstest.CardApproved)), "given away")
	end()
	require.NoError(t, b.accounts.DeleteCustomer(t.Context(), b.customer.ID, b.customer.ID))
	again(taxID)
	require.Equal(t, "paid", begins("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)), "deleted")
	end()

	// One of before this version is noted by the job; 24 months later it counts no more.
	old := accountstest.Customer(t, b.db)
	exec("UPDATE accounts.users SET trial_used_at = $2 WHERE id = $1", old.ID, b.clock.Now().AddDate(0, -23, 0))
	b.work(t)
	_, err = b.jobs.Insert(t.Context(), subscriptions.TrialUses(), nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return b.count(t, "SELECT count(*) FROM subscriptions.trial_uses") == 2 },
		time.Minute, 20*time.Millisecond)
	require.NoError(t, b.accounts.DeleteCustomer(t.Context(), old.ID, old.ID))
	again(old.TaxID)
	require.Equal(t, "paid", begins("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)), "had before it was kept so")
	end()
	exec("UPDATE subscriptions.trial_uses SET began_at = began_at - interval '2 months'")
	require.NoError(t, b.accounts.DeleteCustomer(t.Context(), b.customer.ID, b.customer.ID))
	again(old.TaxID)
	require.Equal(t, "trial", begins("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)), "25 months ago")
}
