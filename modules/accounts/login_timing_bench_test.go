package accounts_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// realCost serves the module over HTTP with password hashes as dear as in
// production and without limits.
func realCost(b *testing.B) (*apitest.Client, func(n int) []accounts.Customer) {
	b.Helper()
	db := pgtest.DB(b)
	deps := accountstest.Deps(b, db)
	deps.Config.Password = accounts.PasswordCost{}
	deps.Config.Throttle = accounts.ThrottleLimits{
		LoginFailures: 1_000_000, CodeFailures: 1_000_000, AddressFailures: 1_000_000, MailsPerDay: 1_000_000,
		Off: true,
	}
	service, err := accounts.New(deps)
	require.NoError(b, err)
	log := secrettest.Logger(b)
	api := httpapi.New(httpapi.Config{Auth: service, Log: log, NoThrottle: true})
	service.Routes(api)
	return apitest.New(b, api), func(n int) []accounts.Customer {
		all := make([]accounts.Customer, n)
		for i := range all {
			all[i] = accountstest.Customer(b, db)
		}
		return all
	}
}

// medians calls known and unknown a hundred times each and reports the median of
// each in microseconds and by how much they differ. Each pair is called in an order
// of chance: a hash takes 19 MiB, so that the garbage collector runs in step with
// the calls, and in a fixed order always beside the same one of the two.
func medians(b *testing.B, known, unknown func(i int)) {
	b.Helper()
	const times = 100
	for b.Loop() {
		var took [2][]time.Duration
		for i := range times {
			for _, side := range rand.Perm(2) {
				start := time.Now()
				[]func(int){known, unknown}[side](i)
				took[side] = append(took[side], time.Since(start))
			}
		}
		slices.Sort(took[0])
		slices.Sort(took[1])
		of := func(side int) float64 { return float64(took[side][times/2].Microseconds()) }
		b.ReportMetric(of(0), "known-µs")
		b.ReportMetric(of(1), "unknown-µs")
		b.ReportMetric(100*(of(0)-of(1))/of(1), "%-difference")
	}
}

// BenchmarkTimingOfLogin: a wrong password takes as long for who is known as for
// who is not.
func BenchmarkTimingOfLogin(b *testing.B) {
	client, customers := realCost(b)
	all := customers(100)
	// A login renews the fixtures' cheap hash to the real cost.
	for _, c := range all {
		client.PostForm("/token", url.Values{"username": {c.Username}, "password": {accountstest.Password}}).Expect(200)
	}
	guess := func(name string) {
		client.PostForm("/token", url.Values{"username": {name}, "password": {"a wrong password"}}).Expect(401)
	}
	medians(b, func(i int) { guess(all[i].Username) }, func(i int) { guess(fmt.Sprintf("nobody%d", i)) })
}

// BenchmarkTimingOfForgotPassword: asking for a code takes as long for a known
// address as for an unknown one.
func BenchmarkTimingOfForgotPassword(b *testing.B) {
	client, customers := realCost(b)
	var all []accounts.Customer
	strangers := 0
	login := func(address string) {
		client.Post("/auth/forgot-password", map[string]any{"email": address}).Expect(200)
	}
	medians(b, func(i int) {
		if i == 0 {
			b.StopTimer()
			all = customers(100) // each address has one turn a minute
			b.StartTimer()
		}
		login(all[i].Email)
	}, func(int) {
		strangers++
		login(fmt.Sprintf("nobody%d@example.com", strangers))
	})
}

// BenchmarkLogin is workload W4: POST /token as often as the cores allow. Compare
// its rate with that of the hash alone, of which it should reach 95 % (performance, W4).
func BenchmarkLogin(b *testing.B) {
	client, customers := realCost(b)
	form := url.Values{"username": {customers(1)[0].Username}, "password": {accountstest.Password}}
	client.PostForm("/token", form).Expect(200)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			client.PostForm("/token", form)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "logins/s")
}
