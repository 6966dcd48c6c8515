package accounts_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/accounts/customers"
)

// TestNotesAreForStaffAndForTheExport: nothing else of the customer's shows them, and they go with the account.
func TestNotesAreForStaffAndForTheExport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, admin := accountstest.Customer(t, b.db), accountstest.Admin(t, b.db)
	staff, customer := accountstest.Token(t, b.db, admin.Username), accountstest.Token(t, b.db, c.Username)
	made := b.post(t, "/customer-notes", staff, []map[string]any{
		{"customer_id": c.ID, "text": "Called twice about the invoice", "pinned": true},
		{"customer_id": c.ID, "text": "Prefers mails"},
	})
	require.Equal(t, 200, made.status, made.raw)
	labelled := b.send(t, http.MethodPut, "/customers", staff, "application/json",
		`[{"_id":"`+c.ID.String()+`","labels":["press","vip"]}]`)
	require.Equal(t, 200, labelled.status, labelled.raw)

	listed := b.get(t, "/customer-notes?query="+url.QueryEscape(`{"customer_id":"`+c.ID.String()+`"}`), staff)
	require.Equal(t, 200, listed.status, listed.raw)
	docs := listed.body["docs"].([]any)
	require.Len(t, docs, 2)
	require.Equal(t, "Called twice about the invoice", docs[0].(map[string]any)["text"], "pinned first")
	require.Equal(t, admin.ID.String(), docs[0].(map[string]any)["document_created_by_id"])
	found := b.get(t, "/customers?query="+url.QueryEscape(`{"labels":"vip"}`), staff)
	require.Len(t, found.body["docs"], 1)

	require.Equal(t, http.StatusForbidden, b.get(t, "/customer-notes", customer).status)
	require.NotContains(t, b.get(t, "/customers/me", customer).raw, "vip")
	data := b.get(t, "/customers/me/data", customer)
	require.Contains(t, data.raw, "Called twice about the invoice")
	require.Contains(t, data.raw, `"vip"`)

	// A note that is gone, and one that stays, are both erased with the account, the audit trail's words too.
	gone := docs[1].(map[string]any)["_id"].(string)
	require.Equal(t, 200, b.send(t, http.MethodDelete, "/customer-notes?_id="+gone, staff, "", "").status)
	var said int
	count := func() int {
		require.NoError(t, b.db.QueryRow(t.Context(), `SELECT count(*) FROM accounts.audit_log
			WHERE concat(before, after) ~ 'Called twice|Prefers mails|vip'`).Scan(&said))
		return said
	}
	require.Equal(t, 4, count(), "two made, one deleted, the labels")
	require.Equal(t, 200, b.send(t, http.MethodDelete, "/customers?_id="+c.ID.String(), staff, "", "").status)
	b.work(t, customers.EraseCustomerArgs{CustomerID: c.ID})
	require.Eventually(t, func() bool { return count() == 0 }, time.Minute, 20*time.Millisecond)
	var left int
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM accounts.customer_notes) +
		(SELECT count(*) FROM accounts.users WHERE labels <> '{}')`).Scan(&left))
	require.Zero(t, left)

	late := b.post(t, "/customer-notes", staff, []map[string]any{{"customer_id": c.ID, "text": "too late"}})
	require.Equal(t, http.StatusUnprocessableEntity, late.status)
	require.Equal(t, "customer_id", late.field())
	require.Equal(t, http.StatusUnprocessableEntity, b.post(t, "/customer-notes", staff,
		[]map[string]any{{"customer_id": admin.ID, "text": "of no customer"}}).status)
}

// TestLabelsShowWhatTheyHold: nothing unseen, and no label twice in another case.
func TestLabelsShowWhatTheyHold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	staff := accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username)
	put := func(labels ...string) response {
		return b.json(t, http.MethodPut, "/customers", staff, []map[string]any{{"_id": c.ID, "labels": labels}})
	}
	for _, label := range []string{"vip\u202e", "v\u200bip", "vip\u0007", "\u2066vip", "a\u2028b"} {
		refused := put("press", label)
		require.Equal(t, http.StatusUnprocessableEntity, refused.status, "%q: %s", label, refused.raw)
		require.Equal(t, "labels", refused.field(), refused.raw)
	}
	folded := put("VIP", "vip", "press", " Vip", "Ação", "AÇÃO")
	require.Equal(t, 200, folded.status, folded.raw)
	require.Equal(t, []any{"VIP", "press", "Ação"}, folded.body["docs"].([]any)[0].(map[string]any)["labels"])
}
