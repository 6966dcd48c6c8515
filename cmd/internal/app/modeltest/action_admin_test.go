package modeltest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// replayActions apply again what has been applied before. A dry run changes
// nothing.
var replayActions = []action{
	{"replays", 3, func(h *history, s step) {
		if id, ok := loggedEvent(h, s); ok {
			h.request(http.MethodPost, "/webhook-logs/"+id.String()+"/replay", h.admin, nil)
		}
	}},
	{"replays dry", 2, func(h *history, s step) {
		id, ok := loggedEvent(h, s)
		if !ok {
			return
		}
		before := picture(h, h.db)
		h.request(http.MethodPost, "/webhook-logs/"+id.String()+"/replay?dry_run=1", h.admin, nil)
		if differ := cmp.Diff(before, picture(h, h.db)); differ != "" {
			h.fail("a dry run changes something", "%s", differ)
		}
	}},
}

// loggedEvent is one of the gateways' events that came and meant something.
func loggedEvent(h *history, s step) (objectid.ID, bool) {
	rows, err := h.db.Query(context.Background(), `SELECT id FROM payments.webhook_logs
		WHERE signature_valid AND event_id IS NOT NULL AND event_type NOT LIKE 'ADMIN.%'
		AND result ->> 'reason' IS DISTINCT FROM 'no consequence' ORDER BY received_at, id`)
	require.NoError(h.t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[objectid.ID])
	require.NoError(h.t, err)
	return pick(ids, (s.Who*12+s.Pick)*5)
}

// adminActions are what admins do with a subscription.
var adminActions = []action{
	{name: "admin refunds", weight: 5, act: adminRefunds},
	{name: "admin cancels", weight: 1, act: func(h *history, s step) {
		administer(h, s, "/subscriptions/", "/cancel", object{"reason": "as the customer asked"})
	}},
	{name: "admin extends", weight: 1, act: func(h *history, s step) {
		administer(h, s, "/admin/subscriptions/", "/extend", object{"days": 1 + s.Pick*3})
	}},
	{
		name: "admin activates", weight: 1,
		act: func(h *history, s step) { administer(h, s, "/admin/subscriptions/", "/activate", nil) },
	},
	{name: "admin chargeback", weight: 1, act: func(h *history, s step) {
		administer(h, s, "/subscriptions/", "/chargeback", object{"reason": "told on the phone"})
	}},
	{name: "admin withdraws chargeback", weight: 1, act: func(h *history, s step) {
		rows, err := h.db.Query(context.Background(),
			"SELECT local_id, id FROM payments.disputes WHERE purpose = 'subscription' ORDER BY opened_at DESC, id DESC")
		require.NoError(h.t, err)
		type entry struct{ Subscription, ID objectid.ID }
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[entry])
		require.NoError(h.t, err)
		if d, ok := pick(all, s.Pick); ok {
			h.touched[d.Subscription.String()] = true
			h.request(http.MethodDelete, "/subscriptions/"+d.Subscription.String()+"/chargebacks/"+d.ID.String(),
				h.admin, object{"reason": "entered by mistake"})
		}
	}},
	{name: "admin moves plan", weight: 4, act: func(h *history, s step) {
		sub, ok := pick(h.all(), s.Pick%3)
		if !ok {
			return
		}
		plan, _ := pick([]string{planPremium, planPlus, planTrial}, s.Pick+s.Who)
		h.request(http.MethodPut, "/subscriptions", h.admin, []object{{"_id": sub.ID, "plan_id": plan}})
	}},
	{name: "admin prices plan", weight: 1, act: func(h *history, s step) {
		a := h.request(http.MethodGet, "/plans/admin", h.admin, nil)
		var list struct{ Docs []object }
		require.NoError(h.t, json.Unmarshal(a.body, &list))
		plan, _ := pick(list.Docs, s.Pick)
		amount, _ := pick([]int{5490, 3990, 4990, 0}, s.Pick/3)
		h.request(http.MethodPut, "/plans", h.admin, []object{{"_id": plan["_id"], "amount": max(amount, 1000)}})
	}},
	{name: "admin syncs plan", weight: 1, act: func(h *history, s step) {
		plan, _ := pick([]string{planPlus, planTrial, planPremium}, s.Pick)
		h.request(http.MethodPost, "/plans/"+plan+"/sync-gwb", h.admin, nil)
	}},
	{
		name: "pix mode", weight: 1,
		act: func(h *history, s step) { h.pixMode, _ = pick([]string{"recurring", "manual"}, s.Pick) },
	},
	{name: "admin puts", weight: 1, act: func(h *history, s step) {
		sub, ok := pick(h.all(), s.Pick)
		if !ok {
			return
		}
		h.touched[sub.ID.String()] = true
		status, _ := pick([]string{"active", "suspended", "cancelled", "expired"}, s.Pick+s.Who)
		h.request(http.MethodPut, "/subscriptions", h.admin, []object{{"_id": sub.ID, "status": status}})
	}},
	{name: "admin puts a date", weight: 1, act: func(h *history, s step) {
		sub, ok := pick(h.all(), s.Pick)
		if !ok {
			return
		}
		at := h.now().Add(time.Duration(s.Pick-2) * 5 * 24 * time.Hour)
		h.touched[sub.ID.String()] = true
		h.request(http.MethodPut, "/subscriptions", h.admin,
			[]object{{"_id": sub.ID, "expires_at": at.Format(time.RFC3339)}})
	}},
}

func administer(h *history, s step, before, after string, body any) {
	if sub, ok := pick(h.all(), s.Pick); ok {
		h.touched[sub.ID.String()] = true
		h.request(http.MethodPost, before+sub.ID.String()+after, h.admin, body)
	}
}

// adminRefunds gives the latest payment back by one of the three routes.
func adminRefunds(h *history, s step) {
	sub, ok := pick(h.all(), s.Pick)
	if !ok {
		return
	}
	path, body := "/subscriptions/"+sub.ID.String()+"/refund", object{"reason": "as promised"}
	switch {
	case s.Who == 0:
	case sub.Gateway == "gwa":
		path = "/admin" + "/gwa" + path
		if s.Pick%3 != 0 {
			body["value"] = 5.05 + float64(s.Pick)
		}
	default:
		path = "/admin/gwb" + path
	}
	h.request(http.MethodPost, path, h.admin, body)
}
