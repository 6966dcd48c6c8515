package app_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/testutil/apitest"
)

// viewer is a subscriber with an age limit of 12 and the PIN 2580, and the addresses of films.
type viewer struct {
	*platformtest.Platform
	me    *apitest.Client
	films map[string]string // by rating, "" of the one that is not rated
}

func newViewer(t *testing.T) viewer {
	t.Helper()
	a := platformtest.New(t)
	root := a.Root()
	v := viewer{Platform: a, films: map[string]string{}}
	for _, rating := range []string{"", "12", "14"} {
		film := object{
			"title": "Film", "slug": "film" + rating, "video_id": "https://videos.example.com/1", "duration": 90,
			"release_date": "2024-01-02",
		}
		if rating != "" {
			film["age_rating"] = rating
		}
		made := platformtest.FirstDoc(root.Post("/videos", []object{film}).Expect(http.StatusOK))
		v.films[rating] = "/videos/" + made["_id"].(string) + "/stream-url"
	}
	customer, me := a.NewCustomer()
	subscriptionstest.Active(t, a.DB, customer.ID)
	v.me = me
	v.change(object{"max_age_rating": "12", "parental_pin": "2580", "current_password": accountstest.Password}).
		Expect(http.StatusOK)
	return v
}

func (v viewer) change(fields object) *apitest.Response {
	return v.me.Put("/customers/me", []object{fields})
}

// play asks for what is rated 14, with a PIN.
func (v viewer) play(pin string) *apitest.Response {
	return v.me.With("X-Parental-Pin", pin).Get(v.films["14"])
}

func TestAVideoAboveTheAgeLimitNeedsThePIN(t *testing.T) {
	t.Parallel()
	v := newViewer(t)
	v.me.Get(v.films[""]).Expect(http.StatusOK)
	v.me.Get(v.films["12"]).Expect(http.StatusOK)
	require.Equal(t, "PIN_REQUIRED", v.me.Get(v.films["14"]).Expect(http.StatusForbidden).Code())
	require.Equal(t, "PIN_REQUIRED", v.play("0000").Expect(http.StatusForbidden).Code())
	v.play("2580").Expect(http.StatusOK)
	require.Equal(t, "12", platformtest.FirstDoc(v.me.Get("/customers/me").Expect(http.StatusOK))["max_age_rating"])
	v.change(object{"max_age_rating": "14", "current_password": accountstest.Password}).Expect(http.StatusOK)
	v.me.Get(v.films["14"]).Expect(http.StatusOK)
	v.change(object{"max_age_rating": "L", "current_password": accountstest.Password}).Expect(http.StatusOK)
	v.play("2580").Expect(http.StatusOK) // the PIN stays with another limit
	v.change(object{"parental_pin": "135790", "current_password": accountstest.Password}).Expect(http.StatusOK)
	v.play("2580").Expect(http.StatusForbidden)
	v.play("135790").Expect(http.StatusOK)
	v.change(object{"max_age_rating": nil, "current_password": accountstest.Password}).Expect(http.StatusOK)
	v.me.Get(v.films["14"]).Expect(http.StatusOK)
	require.Zero(t, v.Count(`SELECT count(*) FROM accounts.users WHERE parental_pin_mac IS NOT NULL`))
}

func TestTheAgeLimitIsChangedByPassword(t *testing.T) {
	t.Parallel()
	v := newViewer(t)
	for _, c := range []struct {
		sent   object
		status int
		field  string
	}{
		{object{"max_age_rating": "18"}, http.StatusBadRequest, "current_password"},
		{object{"max_age_rating": nil}, http.StatusBadRequest, "current_password"},
		{object{"parental_pin": "1234"}, http.StatusBadRequest, "current_password"},
		{object{"max_age_rating": "18", "current_password": "wrong"}, http.StatusBadRequest, "current_password"},
		{object{"max_age_rating": "13", "current_password": accountstest.Password}, http.StatusUnprocessableEntity, "max_age_rating"},
		{object{"parental_pin": "123", "current_password": accountstest.Password}, http.StatusUnprocessableEntity, "parental_pin"},
		{object{"parental_pin": "12a4", "current_password": accountstest.Password}, http.StatusUnprocessableEntity, "parental_pin"},
		{
			object{"max_age_rating": nil, "parental_pin": "1234", "current_password": accountstest.Password},
			http.StatusUnprocessableEntity, "parental_pin",
		},
	} {
		require.Equal(t, c.field, v.change(c.sent).Expect(c.status).Field(), c.sent)
	}
	v.change(object{"max_age_rating": "12", "full_name": "Another Name"}).Expect(http.StatusOK) // as it was read
	v.play("2580").Expect(http.StatusOK)

	_, other := v.NewCustomer()
	require.Equal(t, "parental_pin", other.Put("/customers/me", []object{
		{"max_age_rating": "12", "current_password": accountstest.Password},
	}).Expect(http.StatusUnprocessableEntity).Field())
}

// TestFivePINsAndNoMore: also of fifty that are tried at once.
func TestFivePINsAndNoMore(t *testing.T) {
	t.Parallel()
	v := newViewer(t)
	var wait sync.WaitGroup
	var lock sync.Mutex
	answers := map[int]int{}
	for range 50 {
		wait.Go(func() {
			status := v.play("0000").Status
			lock.Lock()
			defer lock.Unlock()
			answers[status]++
		})
	}
	wait.Wait()
	require.Equal(t, map[int]int{http.StatusForbidden: 5, http.StatusTooManyRequests: 45}, answers)
	require.NotEmpty(t, v.play("2580").Expect(http.StatusTooManyRequests).Header.Get("Retry-After"), "the right one waits, too")
	v.Exec(`UPDATE accounts.parental_tries SET tried_at = tried_at - $1::interval`, 15*time.Minute)
	v.play("0000").Expect(http.StatusForbidden)
	v.play("2580").Expect(http.StatusOK)
	for range 4 {
		v.play("0000").Expect(http.StatusForbidden)
		v.play("2580").Expect(http.StatusOK) // which forgets the wrong ones
	}
}
