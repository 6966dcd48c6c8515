package histories_test

import (
	"net/http"
	"time"
)

// adminActions are what admins do with a subscription.
var adminActions = []action{
	{"admin refunds", 5, func(h *history, s step) { h.adminRefunds(s) }},
	{"admin cancels", 1, func(h *history, s step) {
		h.administer(s, "/subscriptions/", "/cancel", object{"reason": "as the customer asked"})
	}},
	{"admin extends", 1, func(h *history, s step) {
		h.administer(s, "/admin/subscriptions/", "/extend", object{"days": 1 + s.Pick*3})
	}},
	{"admin activates", 1, func(h *history, s step) { h.administer(s, "/admin/subscriptions/", "/activate", nil) }},
	{"admin chargeback", 1, func(h *history, s step) {
		h.administer(s, "/subscriptions/", "/chargeback", object{"reason": "told on the phone"})
	}},
	{"admin puts", 1, func(h *history, s step) {
		sub, ok := pick(h.all(), s.Pick)
		if !ok {
			return
		}
		h.touched[sub.ID.String()] = true
		status, _ := pick([]string{"active", "suspended", "cancelled", "expired"}, s.Pick+s.Who)
		h.request(http.MethodPut, "/subscriptions", h.admin, []object{{"_id": sub.ID, "status": status}})
	}},
	{"admin puts a date", 1, func(h *history, s step) {
		sub, ok := pick(h.all(), s.Pick)
		if !ok {
			return
		}
		at := h.now().Add(time.Duration(s.Pick-2) * 5 * 24 * time.Hour)
		h.touched[sub.ID.String()] = true
		h.request(http.MethodPut, "/subscriptions", h.admin, []object{{"_id": sub.ID, "expires_at": at.Format(time.RFC3339)}})
	}},
}

func (h *history) administer(s step, before, after string, body any) {
	if sub, ok := pick(h.all(), s.Pick); ok {
		h.touched[sub.ID.String()] = true
		h.request(http.MethodPost, before+sub.ID.String()+after, h.admin, body)
	}
}

// adminRefunds gives the latest payment back by one of the three routes.
func (h *history) adminRefunds(s step) {
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
