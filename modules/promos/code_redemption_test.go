package promos_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRedeemTicketCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(10)
	c := b.code(doc{"code": "abc234", "code_type": "ticket", "event_id": event, "bonus_tickets": 3})
	require.Equal(t, "ABC234", c["code"])

	got := b.me.Put("/customers/me/redeem-promo-code?code=abc234", nil).Expect(200).Map()
	require.EqualValues(t, 3, got["tickets"])
	require.Equal(t, true, got["consumed"])
	require.Equal(t, "ABC234", got["code"])
	require.NotEmpty(t, got["redeemed_at"])
	require.Equal(t, 3,
		b.count(`SELECT count(*) FROM tickets.tickets WHERE customer_id = $1 AND promo_code = 'ABC234' AND promo_code_id = $2`, b.customer.ID, c["_id"]))
	require.Equal(t, 3, b.count(`SELECT tickets_issued FROM tickets.events WHERE id = $1`, event))

	again := b.me.Put("/customers/me/redeem-promo-code?code=ABC234", nil).Expect(409)
	require.Equal(t, "CONFLICT", again.Code())
	require.Equal(t, true, b.me.Get("/customers/validate-promo-code?code=ABC234").Map()["consumed"])
	require.EqualValues(t, 1, first(b.admin.Get("/admin/promo-codes/" + c["_id"].(string)).Expect(200))["redemptions"])
}

func TestRedeemRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	over := b.made("/events", doc{"title": "Over", "event_date": b.in(-4 * time.Hour)})["_id"]
	full := b.event(1)
	b.code(doc{"code": "INACT2", "code_type": "promo", "is_active": false})
	b.code(doc{"code": "EXPIR2", "code_type": "promo", "valid_until": b.in(-time.Hour)})
	b.code(doc{"code": "FUTUR2", "code_type": "promo", "valid_from": b.in(time.Hour)})
	b.code(doc{"code": "ENDED2", "code_type": "ticket", "event_id": over})
	b.code(doc{"code": "FULLA2", "code_type": "ticket", "event_id": full, "bonus_tickets": 2})
	for text, want := range map[string]struct {
		status int
		detail string
	}{
		"INACT2": {404, "Promo code not found."},
		"EXPIR2": {400, "This promo code has expired."},
		"FUTUR2": {400, "This promo code is available only from "},
		"ENDED2": {400, "The event of this promo code has already ended."},
		"FULLA2": {409, "The event is sold out."},
		"NOSUCH": {404, "Promo code not found."},
		"AB":     {422, "has to have at least 3 characters"},
	} {
		a := b.me.Put("/customers/me/redeem-promo-code?code="+text, nil).Expect(want.status)
		require.Contains(t, a.Detail(), want.detail, text)
	}
	require.Zero(t, b.count(`SELECT count(*) FROM promos.redemptions`), "what is refused leaves nothing behind")
	require.Zero(t, b.count(`SELECT count(*) FROM tickets.tickets`))
	b.me.Put("/customers/me/redeem-promo-code", nil).Expect(422)
	b.nobody.Put("/customers/me/redeem-promo-code?code=EXPIR2", nil).Expect(401)
	b.admin.Put("/customers/me/redeem-promo-code?code=EXPIR2", nil).Expect(403)
}

// race redeems one code many times at once and counts the answers of 200.
func (b *bundle) race(n int) (won int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			a := b.me.Put("/customers/me/redeem-promo-code?code=RACE22", nil)
			mu.Lock()
			defer mu.Unlock()
			switch a.Status {
			case http.StatusOK:
				won++
			case http.StatusConflict:
			default:
				b.t.Errorf("status %d: %s", a.Status, a.Body)
			}
		})
	}
	all.Wait()
	return won
}

func TestOneOfManyRedeemsWins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.code(doc{"code": "RACE22", "code_type": "ticket", "event_id": b.event(nil)})
	require.Equal(t, 1, b.race(50))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM promos.redemptions`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM tickets.tickets`))
}

// Without the constraint several win: it is what decides.
func TestManyRedeemsWinWithoutTheConstraint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.code(doc{"code": "RACE22", "code_type": "ticket", "event_id": b.event(nil)})
	_, err := b.db.Exec(t.Context(), `ALTER TABLE promos.redemptions DROP CONSTRAINT redemptions_once_a_customer;
		CREATE FUNCTION public.linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END';
		CREATE TRIGGER linger BEFORE INSERT ON promos.redemptions FOR EACH ROW EXECUTE FUNCTION public.linger()`)
	require.NoError(t, err)
	require.Greater(t, b.race(20), 1)
}

func TestTheLastSeatGoesToOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.code(doc{"code": "LAST22", "code_type": "ticket", "event_id": b.event(1)})
	_, other := b.another()
	statuses := make(chan int, 2)
	for _, c := range []redeemer{{b.me}, {other}} {
		go func() { statuses <- c.code("LAST22") }()
	}
	require.ElementsMatch(t, []int{200, 409}, []int{<-statuses, <-statuses})
	require.Equal(t, 1, b.count(`SELECT count(*) FROM tickets.tickets`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM promos.redemptions`))
}

func TestTargetsHaveTheirTicketAtCreation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(10)
	c := b.code(doc{
		"code": "TARGT2", "code_type": "ticket", "event_id": event, "bonus_tickets": 2,
		"target_customer_ids": []any{b.customer.ID, b.customer.ID},
	})
	require.Equal(t, 1, b.count(`SELECT count(*) FROM tickets.tickets WHERE customer_id = $1 AND promo_code_id = $2`,
		b.customer.ID, c["_id"]))
	b.me.Put("/customers/me/redeem-promo-code?code=TARGT2", nil).Expect(409)
	code := first(b.me.Get("/customers/me/promo-codes").Expect(200))
	require.Equal(t, true, code["redeemed"])

	_, other := b.another()
	require.Empty(t, other.Get("/customers/me/promo-codes").Expect(200).Map()["docs"])
	require.EqualValues(t, 2,
		other.Put("/customers/me/redeem-promo-code?code=TARGT2", nil).Expect(200).Map()["tickets"])

	a := b.admin.Post("/admin/promo-codes", []doc{{
		"title": "x", "code_type": "ticket", "event_id": b.event(0), "target_customer_ids": []any{b.customer.ID},
	}}).Expect(409)
	require.Equal(t, "The event is sold out.", a.Detail())
	require.Equal(t, 1, b.count(`SELECT count(*) FROM promos.promo_codes`), "all or nothing")
}

func TestBundleIsRedeemedWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ticket := b.code(doc{"code": "CHILD2", "code_type": "ticket", "event_id": b.event(nil), "bonus_tickets": 2})
	inner := b.code(doc{"code": "INNER2", "code_type": "promo", "children_code_ids": []any{ticket["_id"]}})
	b.code(doc{
		"code": "OUTER2", "code_type": "promo", "discount_first_month": 9.9, "children_code_ids": []any{inner["_id"]},
	})
	children := b.nobody.Get("/customers/validate-promo-code?code=OUTER2").Expect(200).Map()["children"].([]any)
	require.Equal(t, "INNER2", children[0].(doc)["code"])
	require.EqualValues(t, 2, b.me.Put("/customers/me/redeem-promo-code?code=OUTER2", nil).Expect(200).Map()["tickets"])
	require.Equal(t, 3, b.count(`SELECT count(*) FROM promos.redemptions WHERE customer_id = $1`, b.customer.ID))
	b.me.Put("/customers/me/redeem-promo-code?code=CHILD2", nil).Expect(409)

	_, other := b.another()
	other.Put("/customers/me/redeem-promo-code?code=CHILD2", nil).Expect(200)
	require.Nil(t, other.Put("/customers/me/redeem-promo-code?code=OUTER2", nil).Expect(200).Map()["tickets"],
		"what the customer has is passed over")
}

// A bundle holds the event of its first child while it redeems the others; who
// redeems one of those beside it must not wait for that event with the child in hand.
func TestABundleAndItsChildrenAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	for round := range 5 {
		var children []any
		texts := []string{fmt.Sprintf("BNDL%dX", round)}
		for i := range 4 {
			text := fmt.Sprintf("CHLD%d%d", round, i)
			texts = append(texts, text)
			children = append(children, b.code(doc{"code": text, "code_type": "ticket", "event_id": event})["_id"])
		}
		b.code(doc{"code": texts[0], "code_type": "promo", "children_code_ids": children})
		statuses := make(chan int, len(texts))
		for _, text := range texts {
			go func() { statuses <- redeemer{b.me}.code(text) }()
		}
		for range texts {
			require.Contains(t, []int{http.StatusOK, http.StatusConflict}, <-statuses)
		}
		require.Equal(t, len(texts), b.count(`SELECT count(*) FROM promos.redemptions WHERE code = ANY ($1)`, texts))
	}
	require.Equal(t, 20, b.count(`SELECT count(*) FROM tickets.tickets`))
}
