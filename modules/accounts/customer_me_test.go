package accounts_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

func TestMeShowsTheContractsFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	b.exec(t, `UPDATE accounts.users SET gwa_customer_id = 'cus_a' WHERE id = $1`, c.ID)
	a := b.get(t, "/customers/me", b.token(t, c.Username))
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, "ok", a.body["msg"])
	require.Nil(t, a.body["info"])
	require.Equal(t, []any{map[string]any{
		"link_type": "GET", "rel": "self", "href": "http://marquee.test/api/v1/customers/me",
	}}, a.body["links"])
	require.Equal(t, map[string]any{
		"current_page": 0.0, "qty_docs_page": 1.0, "qty_of_pages": 1.0, "qty_total_docs": 1.0,
	}, a.body["pagination"])
	doc := a.doc(t)
	require.Equal(t, []string{
		"_id", "address", "avatar_id", "created_at", "current_subscription_id", "document_created_by_id", "email",
		"email_verified", "email_verified_at", "enable", "full_name", "max_age_rating", "my_list", "nationality",
		"password_reset_required", "phone", "register_date", "register_update_date", "tax_id", "updated_at",
		"user_type", "username",
	}, slices.Sorted(maps.Keys(doc)), "optional ones are left out while unset")
	require.Equal(t, doc["created_at"], doc["register_date"])
	require.Equal(t, doc["updated_at"], doc["register_update_date"])
	require.Nil(t, doc["address"])
	require.Equal(t, []any{}, doc["my_list"])

	b.exec(t,
		`UPDATE accounts.users SET gwb_customer_id = 'cus_b', promo_code_used = 'ABC123', promo_code_id = '0123456789abcdef01234567' WHERE id = $1`, c.ID)
	doc = b.get(t, "/customers/me", b.token(t, c.Username)).doc(t)
	require.Equal(t, "cus_b", doc["gwb_customer_id"])
	require.Equal(t, "ABC123", doc["promo_code_used"])
	require.Equal(t, "0123456789abcdef01234567", doc["promo_code_id"])
}

func TestMeIsForCustomers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, u := range []accounts.User{accountstest.Admin(t, b.db), accountstest.Root(t, b.db)} {
		for _, method := range []string{"GET", "PUT"} {
			a := b.json(t, method, "/customers/me", b.token(t, u.Username), `[{}]`)
			require.Equal(t, 403, a.status, a.raw)
			require.Equal(t, fault.CodeForbidden, a.code())
		}
	}
	require.Equal(t, 401, b.get(t, "/customers/me", "").status)
}

func TestPutMe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	b.clock.Advance(time.Minute)
	a := b.json(t, "PUT", "/customers/me", token,
		`[{"username":"renamed","full_name":"Raul Nunes","tax_id":"11222333000181","phone":"+5521912345678",
		"address":{"street":"Rua das Flores","number":"12","complement":"apto 3","locality":"Centro","city":"Niteroi","region_code":"RJ","country":"BRA","postal_code":"24020000"},
		"my_list":["one","two"]}]`)
	require.Equal(t, 200, a.status, a.raw)
	doc := a.doc(t)
	require.Equal(t, "renamed", doc["username"])
	require.Equal(t, []any{"one", "two"}, doc["my_list"])
	require.Equal(t, "apto 3", doc["address"].(map[string]any)["complement"])
	require.Equal(t, httpapi.Time(b.clock.Now()).String(), doc["updated_at"])
	require.NotEqual(t, doc["created_at"], doc["updated_at"])
	require.Equal(t, 200, b.login(t, "Renamed", accountstest.Password).status)
	require.Equal(t, 401, b.login(t, c.Username, accountstest.Password).status, "the old name is free")

	a = b.json(t, "PUT", "/customers/me", token, `[{"full_name":"Raul N."}]`)
	require.Equal(t, "Raul N.", a.doc(t)["full_name"])
	require.Equal(t, "+5521912345678", a.doc(t)["phone"], "what is not sent stays")
	a = b.json(t, "PUT", "/customers/me", token, `[{"address":null,"avatar_id":null,"tax_id":null,"my_list":[]}]`)
	require.Equal(t, 200, a.status, a.raw)
	for _, cleared := range []string{"address", "avatar_id", "tax_id"} {
		require.Nil(t, a.doc(t)[cleared], cleared)
	}
}

func TestPutMeTakesServiceKeptFieldsWithoutEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	doc := b.get(t, "/customers/me", token).doc(t)
	sent := map[string]any{"full_name": "Sara Nova"}
	for _, field := range []string{
		"_id", "created_at", "updated_at", "register_date", "register_update_date", "document_created_by_id",
		"email_verified_at",
	} {
		sent[field] = doc[field]
	}
	sent["created_at"] = "1999-01-01T00:00:00.000Z"
	a := b.json(t, "PUT", "/customers/me", token, []any{sent})
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, doc["created_at"], a.doc(t)["created_at"])
	require.Equal(t, "Sara Nova", a.doc(t)["full_name"])
}

func TestWhatGetMeShowsPutMeTakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	for _, change := range []string{
		``,
		`gwb_customer_id = 'cus_x', promo_code_used = 'ABC123', nationality = 'BR', email_verified = false, email_verified_at = NULL`,
		`phone = NULL`, // as in accounts that came from elsewhere
	} {
		if change != "" {
			b.exec(t, `UPDATE accounts.users SET `+change+` WHERE id = $1`, c.ID)
		}
		doc := b.get(t, "/customers/me", token).doc(t)
		sent := maps.Clone(doc)
		delete(sent, "email")
		a := b.json(t, "PUT", "/customers/me", token, []any{sent})
		require.Equal(t, 200, a.status, a.raw)
		after := a.doc(t)
		for _, moves := range []string{"updated_at", "register_update_date"} {
			delete(doc, moves)
			delete(after, moves)
		}
		require.Equal(t, doc, after)
	}
}

func TestPutMeRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	before := b.get(t, "/customers/me", token).raw
	for body, want := range map[string]struct {
		status int
		field  string
	}{
		`[{"email":"new@example.com","full_name":"Other Name"}]`:   {400, "email"},
		`[{"username":"` + other.Username + `"}]`:                  {409, "username"},
		`[{"username":"` + other.Email + `"}]`:                     {422, "username"},
		`[{"tax_id":"` + other.TaxID + `"}]`:                       {409, "tax_id"},
		`[{"username":"ab"}]`:                                      {422, "username"},
		`[{"username":null}]`:                                      {422, "username"},
		`[{"full_name":null}]`:                                     {422, "full_name"},
		`[{"email":null}]`:                                         {400, "email"},
		`[{"email":7}]`:                                            {400, "email"},
		`[{"phone":null}]`:                                         {422, "phone"},
		`[{"my_list":null}]`:                                       {422, "my_list"},
		`[{"full_name":"ab"}]`:                                     {422, "full_name"},
		`[{"tax_id":"123"}]`:                                       {422, "tax_id"},
		`[{"phone":"11 98765"}]`:                                   {422, "phone"},
		`[{"avatar_id":"x"}]`:                                      {422, "avatar_id"},
		`[{"my_list":"x"}]`:                                        {422, "my_list"},
		`[{"my_list":[7]}]`:                                        {422, "my_list[0]"},
		`[{"my_list":[null]}]`:                                     {422, "my_list[0]"},
		`[{"address":{"street":"Rua"}}]`:                           {422, ""},
		`[{"address":"Rua"}]`:                                      {422, "address"},
		`[{"_id":"` + other.ID.String() + `"}]`:                    {422, "_id"},
		`[{"user_type":"admin"}]`:                                  {422, "user_type"},
		`[{"is_root":true}]`:                                       {422, "is_root"},
		`[{"enable":false}]`:                                       {422, "enable"},
		`[{"email_verified":false}]`:                               {422, "email_verified"},
		`[{"password_reset_required":true}]`:                       {422, "password_reset_required"},
		`[{"nationality":"XX"}]`:                                   {422, "nationality"},
		`[{"password":"new password"}]`:                            {422, "password"},
		`[{"current_subscription_id":"000000000000000000000001"}]`: {422, "current_subscription_id"},
		`[{"gwb_customer_id":"cus_x"}]`:                            {422, "gwb_customer_id"},
		`[{"gwa_customer_id":"cus_x"}]`:                            {422, "gwa_customer_id"},
		`[{"promo_code_used":"ABC123"}]`:                           {422, "promo_code_used"},
		`[{"whatever":1}]`:                                         {422, "whatever"},
		`[{"full_name":"Other Name"},{"phone":""}]`:                {422, ""},
		`[]`:                         {422, ""},
		`null`:                       {422, ""},
		`[null]`:                     {422, ""},
		`{"full_name":"Other Name"}`: {422, ""},
	} {
		a := b.json(t, "PUT", "/customers/me", token, body)
		require.Equal(t, want.status, a.status, "%s: %s", body, a.raw)
		if want.field != "" {
			require.Equal(t, want.field, a.field(), "%s: %s", body, a.raw)
		}
	}
	long, err := json.Marshal([]any{map[string]any{"my_list": []string{strings.Repeat("x", 201)}}})
	require.NoError(t, err)
	require.Equal(t, 422, b.json(t, "PUT", "/customers/me", token, string(long)).status)
	require.Equal(t, 415, b.send(t, "PUT", "/customers/me", token, "text/plain", `[{}]`).status)
	require.Equal(t, 413, b.json(t, "PUT", "/customers/me", token, `[{"full_name":"`+strings.Repeat("x", 1<<20)+`"}]`).
		status)
	require.Equal(t, before, b.get(t, "/customers/me", token).raw, "nothing was written")
}

func TestParallelRenamesToOneName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tokens := make(chan string, 4)
	for range cap(tokens) {
		tokens <- b.token(t, accountstest.Customer(t, b.db).Username)
	}
	statuses := parallel(cap(tokens), func() int {
		return b.json(t, "PUT", "/customers/me", <-tokens, `[{"username":"the only one"}]`).status
	})
	require.Equal(t, map[int]int{200: 1, 409: 3}, statuses)
}

func TestCheckAvailability(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, admin := accountstest.Customer(t, b.db),
		accountstest.Admin(t, b.db, func(n *accounts.NewUser) { n.TaxID = "52998224725" })
	for query, want := range map[string]string{
		"email=free@example.com":                                `{"email_available":true,"tax_id_available":null}`,
		"email=" + strings.ToUpper(c.Email):                     `{"email_available":false,"tax_id_available":null}`,
		"email=" + admin.Email:                                  `{"email_available":false,"tax_id_available":null}`,
		"tax_id=" + c.TaxID:                                     `{"email_available":null,"tax_id_available":false}`,
		"tax_id=11222333000181&email=" + c.Email:                `{"email_available":false,"tax_id_available":true}`,
		"tax_id=52998224725&email=":                             `{"email_available":null,"tax_id_available":true}`,
		"tax_id=11222333000181&email=free@example.com&unknown=": `{"email_available":true,"tax_id_available":true}`,
	} {
		a := b.get(t, "/customers/check-availability?"+query, "")
		require.Equal(t, 200, a.status, "%s: %s", query, a.raw)
		require.JSONEq(t, want, a.raw, query)
	}
	a := b.get(t, "/customers/check-availability", "")
	require.Equal(t, 400, a.status)
	require.Equal(t, fault.CodeValidation, a.code())
	require.Equal(t, 400, b.get(t, "/customers/check-availability?email=&tax_id=", "").status)
	for query, field := range map[string]string{
		"email=x": "email", "tax_id=1": "tax_id", "tax_id=123456789012345": "tax_id",
		"email=%ff@example.com": "email",
	} {
		a := b.get(t, "/customers/check-availability?"+query, "")
		require.Equal(t, 422, a.status, "%s: %s", query, a.raw)
		require.Equal(t, field, a.field(), query)
	}
	require.Equal(t, 422, b.get(t, "/customers/check-availability?email=%00", "").status)
}
