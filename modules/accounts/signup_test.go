package accounts_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

func TestSignupModeA(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	payload := signupOf("ana", map[string]any{
		"tax_id": "52998224725", "nationality": "br",
		"address": map[string]any{
			"street": "Rua Augusta", "number": "1", "locality": "Centro", "city": "Sao Paulo", "region_code": "SP",
			"country": "BRA", "postal_code": "01305000",
		},
		"_id": "000000000000000000000001", "created_at": "2001-01-01", "register_date": nil,
		"document_created_by_id": nil, // kept by the service
	})
	first := b.post(t, "/customers/signup", "", payload)
	require.Equal(t, 200, first.status, first.raw)
	require.Equal(t, "ana@example.com", first.body["email"])
	require.InDelta(t, 15, first.body["expires_in_minutes"], 0)
	require.NotContains(t, first.raw, "token")
	code := b.mailedCode(t, "ana@example.com", 1)

	payload[0]["verification_code"] = wrongCode(code)
	wrong := b.post(t, "/customers/signup", "", payload)
	require.Equal(t, 400, wrong.status, wrong.raw)
	require.Equal(t, "Wrong code. 4 attempts remaining.", wrong.detail())
	require.NotContains(t, wrong.raw, `"error"`)

	payload[0]["verification_code"] = code
	done := b.post(t, "/customers/signup", "", payload)
	require.Equal(t, 200, done.status, done.raw)
	doc := done.doc(t)
	require.Equal(t, true, doc["email_verified"])
	require.NotNil(t, doc["email_verified_at"])
	require.Equal(t, "BR", doc["nationality"])
	require.Empty(t, doc["address"].(map[string]any)["complement"])
	require.Equal(t, first.body["customer_id"], doc["_id"])
	require.NotContains(t, done.raw, "password\"")
	require.NotEmpty(t, done.text("info", "next_step"))

	me := b.get(t, "/customers/me", done.text("info", "auth", "access_token"))
	require.Equal(t, 200, me.status, me.raw)

	payload[0]["verification_code"] = nil
	again := b.post(t, "/customers/signup", "", payload)
	require.Equal(t, 409, again.status, "a verified address is taken")
	require.Equal(t, fault.CodeConflict, again.code())
	require.Equal(t, "email", again.field())
}

func TestSignupModeB(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	a := b.post(t, "/customers/signup", "", signupOf("bia", map[string]any{"verify_email_now": false}))
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, true, a.body["email_verification_pending"])
	require.Equal(t, a.body["customer_id"], a.text("auth", "id_token"))
	require.NotEmpty(t, a.text("auth", "archive_token"))
	require.NotContains(t, a.raw, "refresh_token")
	token := a.text("auth", "access_token")
	require.Equal(t, 200, b.get(t, "/current-user", token).status)

	verified := b.post(t, "/customers/me/verify-email", token,
		map[string]any{"code": b.mailedCode(t, "bia@example.com", 1)})
	require.Equal(t, 200, verified.status, verified.raw)
	require.Equal(t, true, verified.body["email_verified"])
	require.NotEmpty(t, verified.text("email_verified_at"))
	twice := b.post(t, "/customers/me/verify-email", token, map[string]any{"code": "123456"})
	require.Equal(t, 400, twice.status)
	require.Contains(t, twice.detail(), "already verified")
}

func TestSignupRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	payload := signupOf("caio", nil)
	require.Equal(t, 200, b.post(t, "/customers/signup", "", payload).status)
	first := b.mailedCode(t, "caio@example.com", 1)

	b.clock.Advance(20 * time.Second)
	soon := b.post(t, "/customers/signup", "", payload)
	require.Equal(t, 429, soon.status, soon.raw)
	require.Equal(t, "40", soon.header.Get("Retry-After"))
	require.Contains(t, soon.detail(), "40 seconds")
	require.NotContains(t, soon.raw, `"error"`)

	other := signupOf("caio", map[string]any{"password": "another password"})
	require.Equal(t, 409, b.post(t, "/customers/signup", "", other).status,
		"an unverified address belongs to the password")
	other[0]["verification_code"] = first
	require.Equal(t, 409, b.post(t, "/customers/signup", "", other).status)

	b.clock.Advance(41 * time.Second)
	require.Equal(t, 200, b.post(t, "/customers/signup", "", payload).status)
	second := b.mailedCode(t, "caio@example.com", 2)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users`))
	if first != second {
		payload[0]["verification_code"] = first
		require.Equal(t, 400, b.post(t, "/customers/signup", "", payload).status, "a new code ends the old one")
	}
	payload[0]["verification_code"] = second
	require.Equal(t, 200, b.post(t, "/customers/signup", "", payload).status)
}

func TestSignupConflicts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	taken := accountstest.Customer(t, b.db)
	admin := accountstest.Admin(t, b.db)
	for name, c := range map[string]struct {
		set   map[string]any
		field string
	}{
		"username":                 {map[string]any{"username": taken.Username}, "username"},
		"username in another case": {map[string]any{"username": strings.ToUpper(taken.Username)}, "username"},
		"username in full-width forms": {
			map[string]any{"username": strings.Replace(taken.Username, "c", "ｃ", 1)},
			"username",
		},
		"e-mail in another case": {map[string]any{"email": strings.ToUpper(taken.Email)}, "email"},
		"e-mail of an admin":     {map[string]any{"email": admin.Email}, "email"},
		"tax_id":                 {map[string]any{"tax_id": taken.TaxID}, "tax_id"},
	} {
		a := b.post(t, "/customers/signup", "", signupOf("duda", c.set))
		require.Equal(t, 409, a.status, "%s: %s", name, a.raw)
		require.Equal(t, fault.CodeConflict, a.code(), name)
		require.Equal(t, c.field, a.field(), name)
	}
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM accounts.users`))
}

func TestSignupRefusesBadInput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := strings.Repeat("x", 51)
	for name, c := range map[string]struct {
		set   map[string]any
		field string
	}{
		"no username":             {map[string]any{"username": nil}, "username"},
		"short username":          {map[string]any{"username": "ab"}, "username"},
		"long username":           {map[string]any{"username": long}, "username"},
		"foreign address as name": {map[string]any{"username": "eva2@example.com"}, "username"},
		"full-width at sign":      {map[string]any{"username": "eva2＠example.com"}, "username"},
		"no e-mail":               {map[string]any{"email": "eva.example.com"}, "email"},
		"e-mail with a name":      {map[string]any{"email": "Eva <eva@example.com>"}, "email"},
		"short password":          {map[string]any{"password": "1234567"}, "password"},
		"endless password":        {map[string]any{"password": strings.Repeat("x", 1025)}, "password"},
		"password no text":        {map[string]any{"password": 12345678}, "password"},
		"short full name":         {map[string]any{"full_name": "Ev"}, "full_name"},
		"phone without plus":      {map[string]any{"phone": "5511987654321"}, "phone"},
		"tax_id with dots":        {map[string]any{"tax_id": "529.982.247-25"}, "tax_id"},
		"tax_id of 12 digits":     {map[string]any{"tax_id": "529982247255"}, "tax_id"},
		"tax_id with letters":     {map[string]any{"tax_id": "12ABC34501DE35"}, "tax_id"},
		"nationality":             {map[string]any{"nationality": "Brazil"}, "nationality"},
		"incomplete address": {
			map[string]any{"address": map[string]any{"street": "Rua Augusta"}}, "address.number",
		},
		"postal code with dash": {
			map[string]any{"address": map[string]any{
				"street": "Rua Augusta", "number": "1", "locality": "Centro", "city": "Sao Paulo", "region_code": "SP",
				"country": "BRA", "postal_code": "01305-00",
			}},
			"address.postal_code",
		},
		"code of 5 digits":          {map[string]any{"verification_code": "12345"}, "verification_code"},
		"unknown field":             {map[string]any{"user_type": "admin"}, "user_type"},
		"privileged field":          {map[string]any{"email_verified": true}, "email_verified"},
		"verify_email_now no bool":  {map[string]any{"verify_email_now": "yes"}, "verify_email_now"},
		"username with a line feed": {map[string]any{"username": "ev\na"}, "username"},
	} {
		a := b.post(t, "/customers/signup", "", signupOf("eva", c.set))
		require.Equal(t, 422, a.status, "%s: %s", name, a.raw)
		require.Equal(t, fault.CodeValidation, a.code(), name)
		if c.field != "address.number" { // several members are missing; any may be named
			require.Equal(t, c.field, a.field(), "%s: %s", name, a.raw)
		}
		require.IsType(t, []any{}, a.body["detail"], name)
		issue := a.body["detail"].([]any)[0].(map[string]any)
		require.Equal(t, []any{"body", 0.0}, issue["loc"].([]any)[:2], "%s: %s", name, a.raw)
	}
	for name, body := range map[string]string{
		"object": `{"username":"eva"}`, "empty array": `[]`, "no JSON": `[{`, "null": `null`,
		"null in the array": `[null]`, "text": `"x"`,
	} {
		require.Equal(t, 422, b.json(t, "POST", "/customers/signup", "", body).status, name)
	}
	two := append(signupOf("eva", nil), signupOf("eva2", nil)...)
	require.Equal(t, 422, b.post(t, "/customers/signup", "", two).status, "one object only")
	require.Equal(t, 415, b.send(t, "POST", "/customers/signup", "", "", `[]`).status)
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.users`))
}

func TestSignupTakesNullsAndOwnAddressAsUsername(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.json(t, "POST", "/customers/signup", "",
		`[{"username":"Fabio.de.Oliveira.Guimaraes.e.Silva.Neto.Junior@Example.com",
		"email":"fabio.de.oliveira.guimaraes.e.silva.neto.junior@example.com","password":"eight8ch","full_name":"Fabio","phone":"+5511987654321",
		"tax_id":null,"nationality":null,"address":null,"promo_code":null,"verify_email_now":null,"verification_code":null}]`)
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.logins`), "name and address are one login")
}

// TAX_ID_ALPHANUMERIC=false; with it, app's TestACNPJWithLettersGoesEverywhere.
func TestSignupRefusesLettersInACNPJWhereTheyAreOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.post(t, "/customers/signup", "", signupOf("gil", map[string]any{"tax_id": "12ABC34501DE35"}))
	require.Equal(t, 422, a.status, a.raw)
	require.Equal(t, "tax_id", a.field())
}

func TestSignupPromoCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.post(t, "/customers/signup", "", signupOf("hugo", map[string]any{"promo_code": "ABC123"}))
	require.Equal(t, 400, a.status, a.raw)
	require.Equal(t, "Promo code not found.", a.detail())
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.users`))

	known := setup(t)
	known.svc.Connect(accounts.Above{Promos: onePromo{"ABC123", "0123456789abcdef01234567"}})
	require.Equal(t, 200,
		known.post(t, "/customers/signup", "", signupOf("hugo", map[string]any{"promo_code": "ABC123"})).status)
	require.Equal(t, 1, known.count(t,
		`SELECT count(*) FROM accounts.users WHERE promo_code_used = 'ABC123' AND promo_code_id = '0123456789abcdef01234567'`))
}

// onePromo stands in for the module that knows promo codes.
type onePromo struct {
	code string
	id   objectid.ID
}

func (p onePromo) SignupPromoCode(_ context.Context, code string) (objectid.ID, error) {
	if code != p.code {
		return "", fault.BadRequest("Promo code not found.")
	}
	return p.id, nil
}

func (p onePromo) RedeemSignupCodeTx(context.Context, pgx.Tx, objectid.ID, objectid.ID) error {
	return nil
}

// parallel runs f n times at once and counts its results.
func parallel(n int, f func() int) map[int]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	start, results := make(chan struct{}), map[int]int{}
	for range n {
		wg.Go(func() {
			<-start
			r := f()
			mu.Lock()
			defer mu.Unlock()
			results[r]++
		})
	}
	close(start)
	wg.Wait()
	return results
}
