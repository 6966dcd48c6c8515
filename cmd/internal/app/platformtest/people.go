package platformtest

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// Password is that of everybody made here.
const Password = accountstest.Password

// Object is a JSON object.
type Object = map[string]any

// Root is the one root that a test needs.
func (p *Platform) Root() *apitest.Client { return p.root() }

// Admin is the one admin that a test needs, with the seeded profile.
func (p *Platform) Admin() *apitest.Client { return p.admin() }

func (p *Platform) newRoot() *apitest.Client {
	_, c := p.NewAdmin(Named("root"), func(n *accounts.NewUser) { n.Root = true })
	return c
}

func (p *Platform) newAdmin() *apitest.Client {
	_, c := p.NewAdmin(Named("admin"))
	return c
}

// NewAdmin makes an admin and signs them in.
func (p *Platform) NewAdmin(set ...func(*accounts.NewUser)) (accounts.User, *apitest.Client) {
	p.T.Helper()
	u := accountstest.Admin(p.T, p.DB, set...)
	return u, p.As(u.Username)
}

// NewCustomer makes a customer without a subscription and signs them in.
func (p *Platform) NewCustomer(set ...func(*accounts.NewUser)) (accounts.Customer, *apitest.Client) {
	p.T.Helper()
	c := accountstest.Customer(p.T, p.DB, set...)
	return c, p.As(c.Username)
}

// NewSubscriber makes a customer with an active subscription that no gateway knows.
func (p *Platform) NewSubscriber(set ...func(*accounts.NewUser)) (accounts.Customer, *apitest.Client) {
	p.T.Helper()
	c, client := p.NewCustomer(set...)
	subscriptionstest.Active(p.T, p.DB, c.ID)
	return c, client
}

// Named gives a user a name, and the address of that name.
func Named(name string) func(*accounts.NewUser) {
	return func(n *accounts.NewUser) { n.Username, n.Email = name, name+"@example.com" }
}

// As signs somebody made here in.
func (p *Platform) As(username string) *apitest.Client {
	p.T.Helper()
	return p.Guest.As(p.Token(username))
}

// Token signs somebody made here in and returns the access token.
func (p *Platform) Token(username string) string {
	p.T.Helper()
	return p.SignIn(p.Guest, username, Password).Expect(http.StatusOK).Map()["access_token"].(string)
}

// SignIn asks for a token.
func (*Platform) SignIn(c *apitest.Client, username, password string) *apitest.Response {
	return c.PostForm("/token", url.Values{"username": {username}, "password": {password}})
}

// SignUp signs a customer up with changes of the usual payload.
func (p *Platform) SignUp(name string, changes Object) *apitest.Response {
	p.T.Helper()
	body := Object{
		"username": name, "email": name + "@example.com", "password": Password, "full_name": "Ana " + name,
		"phone": "+5511987654321",
	}
	for k, v := range changes {
		body[k] = v
	}
	return p.Guest.Post("/customers/signup", []Object{body})
}

// Session is the access token in the answer to a sign-up.
func Session(a *apitest.Response) string {
	auth, _ := a.Map()["auth"].(Object)
	token, _ := auth["access_token"].(string)
	return token
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// Mailed waits for the newest mailed code to an address whose mail holds a word.
func (p *Platform) Mailed(address, word string) (code string) {
	p.T.Helper()
	require.Eventually(p.T, func() bool {
		for _, m := range p.Mails.Mails() {
			if m.To == address && strings.Contains(strings.ToLower(m.Subject), word) {
				code = sixDigits.FindString(m.Text)
				return true
			}
		}
		return false
	}, time.Minute, 20*time.Millisecond, "a mail to %s", address)
	return code
}

// Make posts an array of one object to a collection and returns the document.
func (p *Platform) Make(by *apitest.Client, path string, fields Object) Object {
	p.T.Helper()
	return FirstDoc(by.Post(path, []Object{fields}).Expect(http.StatusOK))
}

// FirstDoc is the first document of an answer.
func FirstDoc(a *apitest.Response) Object {
	docs, _ := a.Map()["docs"].([]any)
	return docs[0].(Object)
}

// Exec runs a statement.
func (p *Platform) Exec(sql string, args ...any) {
	p.T.Helper()
	_, err := p.DB.Exec(p.T.Context(), sql, args...)
	require.NoError(p.T, err)
}

// Count reads a number.
func (p *Platform) Count(sql string, args ...any) (n int) {
	p.T.Helper()
	require.NoError(p.T, p.DB.QueryRow(p.T.Context(), sql, args...).Scan(&n))
	return n
}

// Insert writes a row past the modules and returns its id.
func (p *Platform) Insert(sql string, args ...any) (id objectid.ID) {
	p.T.Helper()
	require.NoError(p.T, p.DB.QueryRow(p.T.Context(), sql+" RETURNING id", args...).Scan(&id))
	return id
}
