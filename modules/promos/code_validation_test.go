package promos_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/promos"
	"marquee/testutil/apitest"
)

func TestValidateMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	over := b.made("/events", doc{"title": "Over", "event_date": b.in(-4 * time.Hour)})["_id"]
	soon := b.made("/events", doc{"title": "Now", "event_date": b.in(-2 * time.Hour)})["_id"]
	b.code(doc{
		"code": "VALID2", "code_type": "promo", "discount_first_month": 9.9, "subtitle": "s", "description": "d",
		"valid_from": b.in(-time.Hour), "valid_until": b.in(time.Hour),
	})
	b.code(doc{"code": "INACT2", "title": "hidden", "code_type": "promo", "is_active": false})
	b.code(doc{"code": "EXPIR2", "code_type": "promo", "valid_until": b.in(-time.Hour)})
	b.code(doc{"code": "FUTUR2", "code_type": "promo", "valid_from": "2099-01-02T03:04:00Z"})
	b.code(doc{"code": "ENDED2", "code_type": "ticket", "event_id": over})
	b.code(doc{"code": "RUNNS2", "code_type": "ticket", "event_id": soon})
	for text, message := range map[string]string{
		"VALID2": "", "%20valid2%20": "", "RUNNS2": "",
		"INACT2": "Promo code not found or inactive.",
		"NOSUCH": "Promo code not found or inactive.",
		"EXPIR2": "This promo code has expired.",
		"FUTUR2": "This promo code is available only from 2099-01-02 03:04 UTC.",
		"ENDED2": "The event of this promo code has already ended.",
	} {
		got := b.nobody.Get("/customers/validate-promo-code?code=" + text).Expect(200).Map()
		require.Equal(t, message == "", got["valid"], text)
		if message != "" {
			require.Equal(t, message, got["message"], text)
		}
		require.Contains(t, got, "consumed")
		require.Nil(t, got["consumed"], "nobody has consumed anything")
		require.Equal(t, false, b.me.Get("/customers/validate-promo-code?code=" + text).Map()["consumed"], text)
	}
	got := b.nobody.Get("/customers/validate-promo-code?code=valid2").Map()
	require.Equal(t, doc{
		"valid": true, "code": "VALID2", "title": "A code", "subtitle": "s", "description": "d", "code_type": "promo",
		"tickets": nil, "discount_first_month": 9.9, "event_date": nil, "image_id": nil, "image_url": nil,
		"consumed": nil, "children": nil,
	}, got)
	hidden, unknown := b.nobody.Get("/customers/validate-promo-code?code=INACT2").Map(),
		b.nobody.Get("/customers/validate-promo-code?code=NOSUCH").Map()
	hidden["code"], unknown["code"] = "", ""
	require.Equal(t, unknown, hidden, "an inactive code cannot be told from an unknown one")
	require.Nil(t, hidden["title"])

	b.nobody.Get("/customers/validate-promo-code").Expect(422)
	b.nobody.As("bad").Get("/customers/validate-promo-code?code=VALID2").Expect(403)
	b.clock.Advance(2 * time.Hour)
	require.Equal(t, "This promo code has expired.",
		b.nobody.Get("/customers/validate-promo-code?code=VALID2").Map()["message"])
}

func TestVisibleCodes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	stranger, _ := b.another()
	b.code(doc{"code": "SHOWN2", "code_type": "promo"})
	b.code(doc{"code": "TILLX2", "code_type": "promo", "event_date": b.in(time.Hour)})
	b.code(doc{"code": "PASTX2", "code_type": "promo", "event_date": b.in(-time.Hour)})
	b.code(doc{"code": "INACT2", "code_type": "promo", "is_active": false})
	b.code(doc{"code": "OTHER2", "code_type": "promo", "target_customer_ids": []any{stranger.ID}})
	b.me.Put("/customers/me/redeem-promo-code?code=SHOWN2", nil).Expect(200)
	page := b.me.Get("/customers/me/promo-codes?qty_docs_page=1").Expect(200).Map()
	require.EqualValues(t, 2, page["pagination"].(doc)["qty_total_docs"])
	require.Len(t, page["docs"], 1)
	redeemed := map[string]any{}
	for _, d := range b.me.Get("/customers/me/promo-codes").Expect(200).Map()["docs"].([]any) {
		redeemed[d.(doc)["code"].(string)] = d.(doc)["redeemed"]
		require.NotContains(t, d, "target_customer_ids")
		require.Equal(t, d.(doc)["redeemed"], d.(doc)["redeemed_at"] != nil)
	}
	require.Equal(t, map[string]any{"SHOWN2": true, "TILLX2": false}, redeemed)
	b.me.Get("/customers/me/promo-codes?qty_docs_page=0").Expect(422)
	b.nobody.Get("/customers/me/promo-codes").Expect(401)
}

// A page of many codes is read as quickly as one of few: events and bundles come
// each in one statement.
func TestVisibleCodesAreReadTogether(t *testing.T) {
	t.Parallel()
	b := setup(t)
	over := b.made("/events", doc{"title": "Over", "event_date": b.in(-4 * time.Hour)})["_id"]
	soon := b.made("/events", doc{"title": "Soon", "event_date": b.in(time.Hour)})["_id"]
	b.code(doc{"code": "ENDED2", "code_type": "ticket", "event_id": over})
	inactive := b.code(doc{"code": "INACT2", "code_type": "ticket", "event_id": soon, "is_active": false})["_id"]
	first := b.code(doc{"code": "FIRST2", "code_type": "ticket", "event_id": soon, "bonus_tickets": 2})["_id"]
	second := b.code(doc{"code": "SECND2", "code_type": "promo"})["_id"]
	b.code(doc{"code": "BUNDL2", "code_type": "promo", "children_code_ids": []any{second, inactive, first}})
	b.code(doc{"code": "BUNDL3", "code_type": "promo", "children_code_ids": []any{inactive}})
	listed := map[string]doc{}
	for _, d := range b.me.Get("/customers/me/promo-codes").Expect(200).Map()["docs"].([]any) {
		listed[d.(doc)["code"].(string)] = d.(doc)
	}
	require.Len(t, listed, 5)
	require.Equal(t, "The event of this promo code has already ended.", listed["ENDED2"]["message"])
	require.Equal(t, true, listed["FIRST2"]["valid"])
	children := listed["BUNDL2"]["children"].([]any)
	require.Len(t, children, 2)
	require.Equal(t, "FIRST2", children[0].(doc)["code"])
	require.EqualValues(t, 2, children[0].(doc)["tickets"])
	require.Equal(t, "SECND2", children[1].(doc)["code"])
	require.Empty(t, listed["BUNDL3"]["children"])
	require.NotNil(t, listed["BUNDL3"]["children"])
	require.Nil(t, listed["FIRST2"]["children"])
	require.Equal(t, listed["BUNDL2"]["children"],
		b.me.Get("/customers/validate-promo-code?code=BUNDL2").Expect(200).Map()["children"])
}

// TestGuessingIsThrottled: by account, by address where nobody is signed in, and
// by address for all accounts together, across processes.
func TestGuessingIsThrottled(t *testing.T) {
	t.Parallel()
	cfg := promos.Config{TriesPerMinute: 3, TriesPerAddress: 7}
	b := setup(t, func(c *promos.Config) { *c = cfg })
	b.code(doc{"code": "VALID2", "code_type": "promo"})
	other := b.serve(cfg) // another process on the same database
	_, stranger := b.another()
	for range 3 {
		b.nobody.Get("/customers/validate-promo-code?code=NOSUCH").Expect(200)
	}
	for _, nobody := range []*apitest.Client{b.nobody, other} {
		a := nobody.Get("/customers/validate-promo-code?code=VALID2").Expect(429)
		wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, wait)
		require.LessOrEqual(t, wait, 60)
		require.Contains(t, a.Detail(), "Try again in ")
		require.Empty(t, a.Code())
	}
	b.me.Put("/customers/me/redeem-promo-code?code=NOSUCH", nil).Expect(404)
	b.me.Get("/customers/validate-promo-code?code=NOSUCH").Expect(200)
	b.me.Put("/customers/me/redeem-promo-code?code=NOSUCH", nil).Expect(404)
	b.me.Put("/customers/me/redeem-promo-code?code=VALID2", nil).Expect(429)
	require.Zero(t, b.count("SELECT count(*) FROM promos.redemptions"))
	stranger.Put("/customers/me/redeem-promo-code?code=NOSUCH", nil).Expect(404)
	stranger.Put("/customers/me/redeem-promo-code?code=VALID2", nil).Expect(429) // the address has had its seven
	b.clock.Advance(time.Minute)
	b.me.Put("/customers/me/redeem-promo-code?code=VALID2", nil).Expect(200)
	b.nobody.Get("/customers/validate-promo-code?code=VALID2").Expect(200)
}
