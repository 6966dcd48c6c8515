package subscriptions_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions"
	"marquee/platform/objectid"
	"marquee/testutil/soak"
)

// misfortune is what befalls the debit of one month.
type misfortune struct {
	refusals int    // days on which the bank refuses
	reason   string // of them
	back     bool   // the payer takes it back
	late     bool   // and pays its code afterwards
}

// pays says whether the rules let the month's money come: the bank is asked on the due
// date and on three more days, and not again after a permanent reason.
func (m misfortune) pays() bool {
	final := m.refusals > 0 && m.reason == "ACCOUNT_CLOSED"
	return m.late || !m.back && !final && m.refusals <= 3
}

func (m misfortune) fails() bool { return m.back || m.refusals > 0 }

// years are twelve months of several payers: each rule once, and what comes by chance.
var years = map[string][12]misfortune{
	"nothing goes wrong": {},
	"each number of refusals": {
		{},
		{refusals: 1},
		{},
		{refusals: 2},
		{},
		{refusals: 3},
		{},
		{refusals: 4},
		{refusals: 1},
		{},
		{refusals: 4},
		{},
	},
	"the payer takes back, and pays later or not": {
		{back: true},
		{},
		{back: true, late: true},
		{},
		{back: true, late: true},
		{refusals: 1},
		{back: true},
		{},
		{},
		{back: true, late: true},
		{},
		{},
	},
	"for good, and by the code": {
		{refusals: 1, reason: "ACCOUNT_CLOSED"},
		{},
		{refusals: 1, reason: "ACCOUNT_CLOSED", late: true},
		{refusals: 4, late: true},
		{},
		{refusals: 2, reason: "MAXIMUM_AMOUNT_EXCEEDED"},
		{},
		{},
		{refusals: 4},
		{refusals: 4, late: true},
		{},
		{},
	},
}

// chance is a year that is drawn; two months in a row never go without money, so that
// nothing is suspended.
func chance(r *rand.Rand) (year [12]misfortune) {
	unpaid := 0
	for i := range year {
		m := misfortune{refusals: max(r.IntN(9)-4, 0)}
		if r.IntN(6) == 0 {
			m = misfortune{back: true}
		}
		m.late = m.fails() && !m.pays() && r.IntN(2) == 0
		if !m.pays() {
			unpaid++
		} else {
			unpaid = 0
		}
		if unpaid == 2 {
			m.late, unpaid = true, 0
		}
		year[i] = m
	}
	return year
}

// TestAutomaticPixOverAYearSoak: what is collected over a year of the sandbox's clock is what
// the rules allow, to the cent; a month that fails is one failure however often it is
// tried, and nothing is charged twice.
func TestAutomaticPixOverAYearSoak(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(soak.Seed(t), 0)) //nolint:gosec // drawn for a test
	all := map[string][12]misfortune{"by chance": chance(r)}
	for name, year := range years {
		all[name] = year
	}
	for i := range soak.Rounds(0, 20) {
		all["by chance "+string(rune('a'+i))] = chance(r)
	}
	b := setup(t, func(c *subscriptions.Config) { c.MaxPaymentFailures = 4 })
	payers := map[string]*payer{}
	for name, year := range all {
		b.newcomer(t)
		id, _ := b.authorized(t)
		payers[name] = &payer{id: id, year: year, debits: map[string]int{}}
	}
	end := b.clock.Now().AddDate(1, 0, 12)
	for b.clock.Now().Before(end) {
		now := b.clock.Now().In(reportZone(t))
		passTime(t, b, time.Date(now.Year(), now.Month(), now.Day()+1, 21, 0, 0, 0, reportZone(t)).Sub(now))
		if b.count(t, "SELECT count(*) FROM subscriptions.debit_retries WHERE state = 'planned' AND register_date = $1",
			b.clock.Now()) > 0 {
			passTime(t, b, 20*time.Minute) // the sweep leaves what is new to its job
		}
		for _, p := range payers {
			p.live(t, b)
		}
	}
	for name, p := range payers {
		p.check(t, b, name)
	}
}

// payer lives through a year.
type payer struct {
	id     objectid.ID
	year   [12]misfortune
	debits map[string]int // their months
}

// live does with new debits what the month has for them, and pays codes late.
func (p *payer) live(t *testing.T, b *bundle) {
	t.Helper()
	type ordered struct {
		id     string
		failed bool
		open   bool
		paid   bool
	}
	rows, err := b.db.Query(t.Context(),
		`SELECT d.gateway_payment_id, d.failed_at IS NOT NULL, EXISTS (SELECT 1 FROM subscriptions.debit_retries r
		WHERE r.subscription_id = d.subscription_id AND r.cycle = d.cycle AND r.state IN ('planned', 'ordered')), d.paid_at IS NOT NULL
		FROM subscriptions.debits d WHERE d.subscription_id = $1 AND d.gateway_payment_id IS NOT NULL ORDER BY d.cycle`,
		p.id)
	require.NoError(t, err)
	var all []ordered
	for rows.Next() {
		var o ordered
		require.NoError(t, rows.Scan(&o.id, &o.failed, &o.open, &o.paid))
		all = append(all, o)
	}
	require.NoError(t, rows.Err())
	bank := b.gateways.Sandbox.GWA
	for _, o := range all {
		month, known := p.debits[o.id]
		if !known {
			month = len(p.debits)
			p.debits[o.id] = month
			if month >= len(p.year) {
				continue
			}
			switch m := p.year[month]; {
			case m.back:
				_, err = bank.CancelDebit(o.id, "")
			case m.refusals > 0:
				_, err = bank.RefuseDebits(o.id, m.reason, m.refusals)
			}
			require.NoError(t, err)
			continue
		}
		if month < len(p.year) && p.year[month].late && o.failed && !o.open && !o.paid {
			_, err := bank.PayPIX(pixCode(t, b, o.id))
			require.NoError(t, err)
			b.settle(t)
		}
	}
}

func (p *payer) check(t *testing.T, b *bundle, name string) {
	t.Helper()
	want, failures := int64(4990), 0 // the first code
	for _, m := range p.year {
		if m.pays() {
			want += 4990
		}
		if m.fails() {
			failures++
		}
	}
	var booked int64
	require.NoError(t,
		b.db.QueryRow(t.Context(),
			`SELECT sum(amount_cents) FROM payments.payments p WHERE local_id = $1 AND NOT EXISTS (SELECT 1 FROM subscriptions.debits d
		WHERE d.gateway_payment_id = p.gateway_payment_id AND d.cycle >= (SELECT min(cycle) + interval '12 months' FROM subscriptions.debits WHERE subscription_id = $1))`, p.id).Scan(&booked))
	require.Equal(t, want, booked, "%s: booked of %+v, in months %s", name, p.year,
		b.text(t, `SELECT string_agg(concat_ws(' ', cycle, failure, paid_at::date,
		(SELECT string_agg(concat_ws(' ', retry_date - d.due_date, state, reason), ', ' ORDER BY retry_date) FROM subscriptions.debit_retries r WHERE r.subscription_id = d.subscription_id AND r.cycle = d.cycle)), E'\n' ORDER BY cycle)
		FROM subscriptions.debits d WHERE subscription_id = $1`, p.id))
	require.GreaterOrEqual(t, len(p.debits), 12, name)
	require.Equal(t, failures, b.count(t, "SELECT count(*) FROM payments.failed_attempts WHERE local_id = $1", p.id),
		"%s: one failure a month", name)
	require.Equal(t, "active", b.status(t, p.id), name)
	var collected int64 // by the gateway, of the twelve months
	for _, c := range b.gateways.Paid(t) {
		if month, known := p.debits[c.ID]; known && month < 12 {
			collected += c.Cents
		}
	}
	require.Equal(t, want-4990, collected, "%s: collected by the gateway", name)
}
