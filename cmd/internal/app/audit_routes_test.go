package app_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
)

// untrailed are the routes by which an admin writes and leaves no entry, and why.
var untrailed = map[string]string{
	"refresh_archive_token_post": "makes a token for the caller, no record",
	"me_passkey_options":         "gives the caller a challenge, no record",
	"watch_history_put":          "what an admin watches is not administration",
	"watch_history_delete":       "as watch_history_put",
	"play_end":                   "as watch_history_put",
	"query_explain":              "reads a plan, and changes nothing",
}

// trailed is one call that succeeds, and what it writes, for every route by which
// an admin writes.
var trailed = map[string]func(o *office) made{
	"video_create": func(o *office) made { return o.post("/videos", "videos", aVideo) },
	"video_update": func(o *office) made { return o.put("/videos", "videos", o.video(), "title", "Other") },
	"video_delete": func(o *office) made { return o.remove("/videos", "videos", o.video()) },

	"category_create": func(o *office) made { return o.post("/categories", "categories", aCategory) },
	"category_update": func(o *office) made {
		return o.put("/categories", "categories", o.category(), "name",
			"Other")
	},
	"category_delete": func(o *office) made { return o.remove("/categories", "categories", o.category()) },
	"tag_create":      func(o *office) made { return o.post("/tags", "tags", aCategory) },
	"tag_update": func(o *office) made {
		return o.put("/tags", "tags", o.post("/tags", "", unique(o, aCategory)).record, "name", "Other")
	},
	"tag_delete": func(o *office) made {
		return o.remove("/tags", "tags", o.post("/tags", "", unique(o, aCategory)).record)
	},
	"season_create": func(o *office) made { return o.post("/seasons", "seasons", aCategory) },
	"season_update": func(o *office) made {
		return o.put("/seasons", "seasons", o.post("/seasons", "", unique(o, aCategory)).record, "name", "Other")
	},
	"season_delete": func(o *office) made {
		return o.remove("/seasons", "seasons", o.post("/seasons", "", unique(o, aCategory)).record)
	},

	"config_payment_gateway_put": func(o *office) made {
		return made{o.root.Put("/admin/config/payment-gateway", obj{"gateway": "gwb"}), "config", ""}
	},
	"config_pix_billing_mode_put": func(o *office) made {
		return made{o.root.Put("/admin/config/pix-billing-mode", obj{"mode": "yearly"}), "config", ""}
	},
	"config_pix_subscription_mode_put": func(o *office) made {
		return made{o.root.Put("/admin/config/pix-subscription-mode", obj{"mode": "recurring"}), "config", ""}
	},
	"config_client_version_put": func(o *office) made {
		return made{o.root.Put("/config/client-version", obj{"client_version": "2.0.0"}), "config", ""}
	},

	"config_branding_put": func(o *office) made {
		return made{o.root.Put("/admin/config/branding", obj{"name": "Cine Sol"}), "branding", ""}
	},

	"job_retry":  func(o *office) made { return o.job("cancelled", "retry", nil) },
	"job_run":    func(o *office) made { return o.job("retryable", "run", nil) },
	"job_cancel": func(o *office) made { return o.job("scheduled", "cancel", obj{"reason": "Not needed"}) },
	"queue_pause": func(o *office) made {
		o.Exec("INSERT INTO jobs.river_queue (name, created_at, metadata, updated_at) VALUES ('nowhere', now(), '{}', now())")
		return made{o.root.Post("/admin/queues/nowhere/pause", obj{"reason": "It is moved"}), "queues", ""}
	},
	"queue_resume": func(o *office) made { return made{o.root.Post("/admin/queues/nowhere/resume", nil), "queues", ""} },

	"archive_record_upload": func(o *office) made {
		u, _ := o.NewCustomer()
		a := o.send("/upload-file/archive-records/" + u.ID.String())
		return made{a, "files", a.Map()["file_id"].(string)}
	},
	"archive_record_delete": func(o *office) made {
		u, _ := o.NewCustomer()
		path := "/upload-file/archive-records/" + u.ID.String()
		id := o.send(path).Map()["file_id"].(string)
		return made{o.root.Delete(path+"/"+id, nil), "files", id}
	},

	"user_create": func(o *office) made {
		return o.post("/users", "users", obj{
			"username": "colleague", "email": "colleague@example.com", "password": platformtest.Password,
			"name": "Colleague",
		})
	},
	"user_update": func(o *office) made { return o.put("/users", "users", o.admin().ID.String(), "name", "Other") },
	"user_delete": func(o *office) made { return o.remove("/users", "users", o.admin().ID.String()) },
	"my_user_put": func(o *office) made {
		return made{o.root.Put("/my-user", []obj{{"name": "Myself"}}), "users", o.self()}
	},
	"change_password_post": func(o *office) made {
		change := func(from, to string) *apitest.Response {
			return o.root.Post("/auth/change-password", obj{"current_password": from, "new_password": to})
		}
		change(platformtest.Password, platformtest.Password+"!").Expect(http.StatusOK)
		return made{change(platformtest.Password+"!", platformtest.Password), "users", o.self()}
	},
	"me_session_end_others": func(o *office) made {
		return made{o.root.Delete("/me/sessions", nil), "users", o.self()}
	},
	"me_session_end": func(o *office) made {
		return made{o.root.Delete("/me/sessions/"+o.session(o.self()), nil), "users", o.self()}
	},
	"user_session_end_all": func(o *office) made {
		u, _ := o.NewCustomer()
		return made{o.root.Delete("/admin/users/"+u.ID.String()+"/sessions", nil), "customers", u.ID.String()}
	},
	"user_session_end": func(o *office) made {
		id := o.admin().ID.String()
		return made{o.root.Delete("/admin/users/"+id+"/sessions/"+o.session(id), nil), "users", id}
	},
	"me_totp_begin": func(o *office) made { return made{o.beginTotp(), "users", o.self()} },
	"me_totp_confirm": func(o *office) made {
		return made{o.confirmTotp(), "users", o.self()}
	},
	"me_totp_delete": func(o *office) made {
		code := o.confirmTotp().Map()["recovery_codes"].([]any)[0]
		return made{
			o.root.Delete("/me/totp", obj{"current_password": platformtest.Password, "totp": code}), "users", o.self(),
		}
	},
	"me_passkey_create": func(o *office) made { return made{o.registerPasskey(), "users", o.self()} },
	"me_passkey_delete": func(o *office) made {
		id := o.registerPasskey().Expect(http.StatusOK).Map()["_id"].(string)
		return made{o.root.Delete("/me/passkeys/"+id, nil), "users", o.self()}
	},
	"me_recovery_codes_renew": func(o *office) made {
		code := o.confirmTotp().Map()["recovery_codes"].([]any)[0]
		return made{
			o.root.Post("/me/totp/recovery-codes", obj{"current_password": platformtest.Password, "totp": code}),
			"users", o.self(),
		}
	},
	"avatar_post":   func(o *office) made { return made{o.send("/me/avatar"), "users", o.self()} },
	"avatar_delete": func(o *office) made { return made{o.root.Delete("/me/avatar", nil), "users", o.self()} },

	"users_type_create": func(o *office) made { return o.post("/users-type", "users-type", aProfile) },
	"users_type_update": func(o *office) made {
		return o.put("/users-type", "users-type", o.profile(), "name",
			"Others")
	},
	"users_type_delete": func(o *office) made { return o.remove("/users-type", "users-type", o.profile()) },

	"customer_update": func(o *office) made {
		u, _ := o.NewCustomer()
		return o.put("/customers", "customers", u.ID.String(), "full_name", "Other Name")
	},
	"customer_delete": func(o *office) made {
		u, _ := o.NewCustomer()
		return o.remove("/customers", "customers", u.ID.String())
	},
	"customer_view_as": func(o *office) made {
		u, _ := o.NewCustomer()
		return made{
			o.root.Post("/admin/customers/"+u.ID.String()+"/view-as", obj{"reason": "a call"}), "customers", u.ID.String(),
		}
	},
	"customer_note_create": func(o *office) made { return o.post("/customer-notes", "customer-notes", o.newCustomerNote()) },
	"customer_note_update": func(o *office) made {
		return o.put("/customer-notes", "customer-notes", o.post("/customer-notes", "", o.newCustomerNote()).record, "text", "Other")
	},
	"customer_note_delete": func(o *office) made {
		return o.remove("/customer-notes", "customer-notes", o.post("/customer-notes", "", o.newCustomerNote()).record)
	},
	"view_create": func(o *office) made {
		a := o.newView()
		return made{a, "views", a.Map()["_id"].(string)}
	},
	"view_update": func(o *office) made {
		id := o.newView().Map()["_id"].(string)
		return made{o.root.Put("/admin/views/"+id, obj{"name": "Other"}), "views", id}
	},
	"view_delete": func(o *office) made {
		id := o.newView().Map()["_id"].(string)
		return made{o.root.Delete("/admin/views/"+id, nil), "views", id}
	},
	"import_check": func(o *office) made {
		a := o.checkImport()
		return made{a, "imports", a.Map()["_id"].(string)}
	},
	"import_start": func(o *office) made {
		id := o.checkImport().Map()["_id"].(string)
		return made{o.root.Post("/admin/imports/"+id+"/start", nil), "imports", id}
	},
	"import_stop": func(o *office) made {
		id := o.checkImport().Map()["_id"].(string)
		return made{o.root.Post("/admin/imports/"+id+"/stop", nil), "imports", id}
	},
	"bulk_act_begin": func(o *office) made {
		a := o.beginBulk()
		return made{a, "bulk-acts", a.Map()["_id"].(string)}
	},
	"bulk_act_stop": func(o *office) made {
		id := o.beginBulk().Map()["_id"].(string)
		return made{o.root.Post("/admin/bulk-acts/"+id+"/stop", nil), "bulk-acts", id}
	},
	"customer_toggle_active": func(o *office) made {
		u, _ := o.NewCustomer()
		return made{o.root.Post("/admin/customers/"+u.ID.String()+"/toggle-active", nil), "customers", u.ID.String()}
	},
	"customer_admin_verify_email": func(o *office) made {
		u, _ := o.NewCustomer()
		o.Exec(`UPDATE accounts.users SET email_verified = false, email_verified_at = NULL WHERE id = $1`, u.ID)
		return made{o.root.Post("/admin/customers/"+u.ID.String()+"/verify-email", nil), "customers", u.ID.String()}
	},

	"plan_create": func(o *office) made { return o.post("/plans", "plans", aPlan) },
	"plan_update": func(o *office) made { return o.put("/plans", "plans", o.plan(), "name", "Other") },
	"plan_delete": func(o *office) made { return o.remove("/plans", "plans", o.plan()) },
	"plan_activate": func(o *office) made {
		id := o.plan()
		return made{o.root.Post("/plans/"+id+"/activate", nil), "plans", id}
	},
	"plan_inactivate": func(o *office) made {
		id := o.plan()
		return made{o.root.Post("/plans/"+id+"/inactivate", nil), "plans", id}
	},
	"plan_sync_gwb": func(o *office) made {
		id := o.plan()
		return made{o.root.Post("/plans/"+id+"/sync-gwb", nil), "plans", id}
	},

	"subscription_update": func(o *office) made {
		return o.put("/subscriptions", "subscriptions", o.active(), "expires_at", "2099-01-01")
	},
	"subscription_cancel": func(o *office) made { return o.act("/subscriptions/", o.active(), "/cancel", nil) },
	"export_delete": func(o *office) made {
		id, _ := o.root.Get("/admin/customers/export?async=1").Expect(http.StatusAccepted).Map()["_id"].(string)
		return made{o.root.Delete("/admin/exports/"+id, nil), "exports", id}
	},
	"subscription_activate": func(o *office) made {
		return o.act("/admin/subscriptions/", o.active(), "/activate",
			nil)
	},
	"subscription_extend": func(o *office) made {
		return o.act("/admin/subscriptions/", o.active(), "/extend", obj{"days": 3})
	},
	"subscription_chargeback": func(o *office) made {
		return o.act("/subscriptions/", o.subscribed("gwb"), "/chargeback", obj{"reason": "told by the bank"})
	},
	"subscription_chargeback_withdraw": func(o *office) made {
		id := o.subscribed("gwb")
		o.root.Post("/subscriptions/"+id+"/chargeback", obj{"reason": "told by the bank"}).Expect(http.StatusOK)
		listed := o.root.Get("/subscriptions/" + id + "/refunds").Expect(http.StatusOK).
			Map()["chargebacks"].([]any)[0].(obj)
		return made{
			o.root.Delete("/subscriptions/"+id+"/chargebacks/"+listed["chargeback_id"].(string),
				obj{"reason": "by mistake"}),
			"subscriptions", id,
		}
	},
	"subscription_refund": func(o *office) made {
		return o.act("/subscriptions/", o.subscribed("gwb"), "/refund", obj{"reason": "as agreed"})
	},
	"admin_gwa_subscription_refund": func(o *office) made {
		return o.act("/admin/gwa/subscriptions/", o.subscribed("gwa"), "/refund",
			obj{"reason": "as agreed", "value": 1})
	},
	"admin_gwb_subscription_refund": func(o *office) made {
		return o.act("/admin/gwb/subscriptions/", o.subscribed("gwb"), "/refund", obj{"reason": "as agreed"})
	},
	"admin_gwa_subscription_cancel": func(o *office) made {
		return o.act("/admin/gwa/subscriptions/", o.subscribed("gwa"), "/cancel", nil)
	},
	"admin_gwb_subscription_cancel": func(o *office) made {
		return o.act("/admin/gwb/subscriptions/", o.subscribed("gwb"), "/cancel", nil)
	},

	"unapplied_payment_keep": func(o *office) made {
		return o.decide(o.unapplied("gwb"), "/keep", obj{"reason": "as agreed"})
	},
	"unapplied_payment_refund": func(o *office) made { return o.decide(o.unapplied("gwb"), "/refund", nil) },
	"unapplied_payment_extend": func(o *office) made { return o.decide(o.unapplied("gwb"), "/extend", nil) },

	"event_create": func(o *office) made { return o.post("/events", "events", anEvent) },
	"event_update": func(o *office) made {
		return o.put("/events", "events", o.event(), "title",
			"Other")
	},
	"event_delete":              func(o *office) made { return o.remove("/events", "events", o.event()) },
	"admin_ticket_order_refund": func(o *office) made { return o.actOnOrder("/refund") },
	"admin_ticket_order_cancel": func(o *office) made { return o.actOnOrder("/cancel") },
	"box_office_sale_create": func(o *office) made {
		a := o.root.Post("/events/"+o.event()+"/box-office-sales", obj{
			"quantity": 1, "method": "courtesy", "note": "as agreed",
		})
		return made{a, "ticket-orders", a.Map()["sale"].(obj)["_id"].(string)}
	},
	"box_office_sale_refund": func(o *office) made {
		event := o.event()
		id := o.root.Post("/events/"+event+"/box-office-sales", obj{
			"quantity": 1, "method": "courtesy", "note": "as agreed",
		}).Expect(http.StatusOK).Map()["sale"].(obj)["_id"].(string)
		return made{
			o.root.Post("/events/"+event+"/box-office-sales/"+id+"/refund", obj{"reason": "as agreed"}),
			"ticket-orders", id,
		}
	},
	"admin_event_cancel": func(o *office) made {
		id := o.event()
		return made{
			o.root.Post("/admin/events/"+id+"/cancel", obj{"reason": "as agreed", "refund": "all"}), "events", id,
		}
	},
	"ticket_create": func(o *office) made {
		u, _ := o.NewCustomer()
		a := o.root.Post("/tickets", obj{"customer_id": u.ID, "event_id": o.event()})
		return made{a, "tickets", idIn(a)}
	},
	"ticket_update": func(o *office) made {
		id, _ := o.ticket()
		return o.put("/tickets", "tickets", id, "title", "Other")
	},
	"ticket_delete": func(o *office) made {
		id, _ := o.ticket()
		return o.remove("/tickets", "tickets", id)
	},
	"ticket_consume": func(o *office) made {
		id, _ := o.ticket()
		return made{o.root.Put("/tickets/"+id+"/consume", nil), "tickets", id}
	},
	"ticket_consume_qr": func(o *office) made {
		id, payload := o.scanned()
		return made{o.root.Post("/tickets/consume-qr", obj{"qr_payload": payload}), "tickets", id}
	},
	"ticket_consume_qr_batch": func(o *office) made {
		id, payload := o.scanned()
		scan := obj{"qr_payload": payload, "scanned_at": paymentstest.Now().UTC().Format(time.RFC3339)}
		return made{o.root.Post("/tickets/consume-qr/batch", obj{"scans": []obj{scan, scan}}), "tickets", id}
	},
	"ticket_readmit": func(o *office) made {
		id, _ := o.ticket()
		o.root.Put("/tickets/"+id+"/consume", nil).Expect(http.StatusOK)
		return made{o.root.Post("/tickets/"+id+"/readmit", obj{"reason": "Came in by the wrong gate."}), "tickets", id}
	},

	"promo_code_create": func(o *office) made { return o.post("/admin/promo-codes", "promo-codes", aPromo) },
	"promo_code_update": func(o *office) made {
		id := o.promo()
		return made{o.root.Put("/admin/promo-codes/"+id, obj{"title": "Other"}), "promo-codes", id}
	},
	"promo_code_delete": func(o *office) made {
		id := o.promo()
		return made{o.root.Delete("/admin/promo-codes/"+id, nil), "promo-codes", id}
	},
	"promo_code_image_post": func(o *office) made {
		id := o.promo()
		return made{o.send("/admin/promo-codes/" + id + "/image"), "promo-codes", id}
	},
	"promo_code_image_delete": func(o *office) made {
		id := o.promo()
		o.send("/admin/promo-codes/" + id + "/image")
		return made{o.root.Delete("/admin/promo-codes/"+id+"/image", nil), "promo-codes", id}
	},

	"requisition_status_post": func(o *office) made {
		return o.post("/admin/requisition-status", "requisition-status",
			aColumn)
	},
	"requisition_status_put": func(o *office) made {
		return o.put("/admin/requisition-status", "requisition-status", o.column(), "name", "Other")
	},
	"requisition_status_delete": func(o *office) made {
		return o.remove("/admin/requisition-status", "requisition-status", o.column())
	},
	"requisition_post": func(o *office) made {
		return o.post("/admin/requisitions", "requisitions", obj{"name": "Buy lamps", "status_id": o.column()})
	},
	"requisition_put": func(o *office) made {
		return o.put("/admin/requisitions", "requisitions", o.card(), "name",
			"Other")
	},
	"requisition_delete": func(o *office) made { return o.remove("/admin/requisitions", "requisitions", o.card()) },
	"requisition_file_upload": func(o *office) made {
		id := o.card()
		return made{o.send("/admin/requisitions/" + id + "/files"), "requisitions", id}
	},
	"requisition_file_delete": func(o *office) made {
		id := o.card()
		file := o.send("/admin/requisitions/" + id + "/files").
			Map()["docs"].([]any)[0].(obj)["files"].([]any)[0].(obj)["file_id"].(string)
		return made{o.root.Delete("/admin/requisitions/"+id+"/files/"+file, nil), "requisitions", id}
	},

	"webhook_log_replay": func(o *office) made {
		o.subscribed("gwb")
		id := o.Insert(`UPDATE payments.webhook_logs SET processed = processed
			WHERE id = (SELECT id FROM payments.webhook_logs WHERE signature_valid AND event_type NOT LIKE 'ADMIN%' LIMIT 1)`).String()
		return made{o.root.Post("/webhook-logs/"+id+"/replay", nil), "webhook-logs", id}
	},
}

// writesOfAdmins are the registered routes by which an admin can write.
func writesOfAdmins(a *platformtest.Platform) []httpapi.RouteInfo {
	var all []httpapi.RouteInfo
	for _, r := range a.Routes() {
		switch r.Auth {
		case httpapi.Admin, httpapi.Root, httpapi.CustomerOrAdmin, httpapi.SignedIn:
			if r.Method != http.MethodGet {
				all = append(all, r)
			}
		}
	}
	return all
}

type trailEntry struct {
	resource, recordID, path, requestID, actorID string
	before, after                                *string
}

// entries are those of one handler.
func (o *office) entries(action string) []trailEntry {
	rows, err := o.DB.Query(o.t.Context(),
		`SELECT resource, coalesce(record_id, ''), path, request_id, actor_id, before::text, after::text
		FROM accounts.audit_log WHERE action = $1 ORDER BY id`, action)
	require.NoError(o.t, err)
	defer rows.Close()
	var all []trailEntry
	for rows.Next() {
		var e trailEntry
		require.NoError(o.t,
			rows.Scan(&e.resource, &e.recordID, &e.path, &e.requestID, &e.actorID, &e.before, &e.after))
		all = append(all, e)
	}
	require.NoError(o.t, rows.Err())
	return all
}

// TestEveryWriteOfAnAdminLeavesOneEntry calls every registered route by which an
// admin can write, successfully: each leaves exactly one entry that names the
// record, its author, the path and the request. A new route has no example, and
// fails.
func TestEveryWriteOfAnAdminLeavesOneEntry(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	self := o.self()
	called := map[string]bool{}
	for _, r := range writesOfAdmins(o.Platform) {
		if untrailed[r.Name] != "" {
			continue
		}
		example, there := trailed[r.Name]
		require.True(t, there, "%s %s (%s) has neither an example call nor a reason to leave no entry", r.Method,
			r.Path, r.Name)
		called[r.Name] = true
		before := len(o.entries(r.Name))
		done := example(o)
		require.Less(t, done.response.Status, 300, "%s: %s", r.Name, done.response.Body)
		all := o.entries(r.Name)
		rows := 0
		for _, e := range all[before:] {
			if e.requestID != done.response.Header.Get("X-Request-Id") {
				continue // of a call that prepared this one
			}
			rows++
			require.Equal(t, done.resource, e.resource, r.Name)
			require.Equal(t, done.record, e.recordID, r.Name)
			require.Regexp(t, "^"+placeholder.ReplaceAllString(r.Path, `[0-9a-z-]+`)+"$", e.path, r.Name)
			require.Equal(t, self, e.actorID, r.Name)
			if r.Name != "customer_delete" { // the entry holds the id alone
				require.False(t, e.before == nil && e.after == nil, "%s tells nothing", r.Name)
			}
		}
		require.Equal(t, 1, rows, "%s leaves %d entries", r.Name, rows)
	}
	for name := range trailed {
		require.True(t, called[name], "%s is no route by which an admin writes", name)
	}
	require.Zero(t, o.Count(`SELECT count(*) FROM accounts.audit_log WHERE action = ''`))
}
