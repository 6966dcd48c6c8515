package app_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"maps"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

type object = map[string]any

// canary stands in everything of the victim that is nobody else's to read.
const canary = "canary-of-the-victim"

// What cannot carry the canary.
const (
	victimPhone   = "+5511912345670"
	victimTaxID   = "64031827571"
	victimPayment = "pay_of_the_victim"
	// victimTimeline is where the victim has stopped watching, in seconds.
	victimTimeline = 4321.0625
)

// victim has a record of everything that customers have.
type victim struct {
	ids    map[string]string // of what is the victim's or the admins' alone, by kind
	common map[string]string // of what all may name, such as events
	client *apitest.Client
}

// everyID are the victim's and the common ids, by kind.
func (v victim) everyID() map[string]string {
	all := maps.Clone(v.common)
	maps.Copy(all, v.ids)
	return all
}

func newVictim(t *testing.T, a *platformtest.Platform) victim {
	t.Helper()
	a.Unsound("unapplied_match_ledger") // by rows that are written past the modules
	root := a.Root()
	b, client := a.NewCustomer(platformtest.Named(canary), func(n *accounts.NewUser) {
		n.FullName, n.Phone, n.TaxID = canary, victimPhone, victimTaxID
	})
	v := victim{ids: map[string]string{"user": b.ID.String()}, common: map[string]string{}, client: client}
	v.common["event"] = a.Insert(`INSERT INTO tickets.events (title, event_date, capacity) VALUES ('Premiere', now() + interval '30 days', 100)`).String()
	v.signsIn(t, a)
	v.buys(t, a, b)
	v.watches(t, a, root)
	v.isKnownToAdmins(t, a, root)
	return v
}

// signsIn gives the victim what they prove with who they are; they are signed in already.
func (v victim) signsIn(t *testing.T, a *platformtest.Platform) {
	t.Helper()
	var session objectid.ID
	require.NoError(t, a.DB.QueryRow(t.Context(), `SELECT id FROM accounts.sessions WHERE user_id = $1`,
		v.ids["user"]).Scan(&session))
	v.ids["session"] = session.String()
	v.ids["passkey"] = a.Insert(`INSERT INTO accounts.passkeys (id, user_id, credential_id, public_key, sign_count,
			backup_eligible, backed_up, transports, name, created_at)
		VALUES (platform.new_object_id(), $1, '', '', 0, false, false, '{}', $2, now())`, v.ids["user"], canary).String()
	a.Exec(`INSERT INTO accounts.passkey_challenges (challenge_hash, user_id, expires_at)
		VALUES (repeat('0', 64), $1, now() + interval '1 day')`, v.ids["user"])
	a.Exec(`INSERT INTO accounts.totp (user_id, secret, created_at, confirmed_at) VALUES ($1, '', now(), now())`,
		v.ids["user"])
	a.Exec(`INSERT INTO accounts.recovery_codes (user_id, code_mac) VALUES ($1, '')`, v.ids["user"])
}

// buys gives the victim what they have paid for.
func (v victim) buys(t *testing.T, a *platformtest.Platform, b accounts.Customer) {
	t.Helper()
	subscription := subscriptionstest.Active(t, a.DB, b.ID)
	order := a.Insert(`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method,
			gateway_payment_id, payment_status, state, hold_until, pix_payload, intent_open, created_at, updated_at)
		VALUES (platform.new_object_id(), $1, $2, 1, 5000, 5000, 'gwa', 'pix', $3, 'pending', 'reserved', now() + interval '1 day', $3, false, now(), now())`,
		b.ID, v.common["event"], canary)
	_, err := a.DB.Exec(t.Context(),
		`INSERT INTO tickets.customers (id, name, email) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, b.ID, canary,
		b.Email)
	require.NoError(t, err)
	ticket := a.Insert(`INSERT INTO tickets.tickets (event_id, customer_id, title, description, status, reason) VALUES ($1, $2, $3, $3, 'available', 'courtesy')`,
		v.common["event"], b.ID, canary)
	code := a.Insert(`INSERT INTO promos.promo_codes (code, title, code_type, event_id, target_customer_ids) VALUES ('VICTIM', $1, 'ticket', $2, ARRAY[$3::text])`,
		canary, v.common["event"], b.ID)
	a.Insert(`INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, redeemed_at, created_at) VALUES ($1, $2, 'VICTIM', 'ticket', 'redeem', now(), now())`, code, b.ID)
	settled := a.Insert(`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		VALUES ('gwb', $1, 'subscription', $2, $3, 4990, 'credit_card', 'paid', now(), now(), now())`, victimPayment,
		subscription, b.ID)
	v.ids["subscription"], v.ids["order"], v.ids["ticket"], v.ids["promo code"], v.ids["payment"] = subscription.String(), order.String(), ticket.String(), code.String(), victimPayment
	v.ids["settled payment"] = settled.String()
	plan := a.Insert(`INSERT INTO subscriptions.plans (id, plan_id, name, amount_cents, tier, register_date, register_update_date)
		VALUES (platform.new_object_id(), 'victims-plan', 'Plan', 4990, 1, now(), now())`)
	v.common["plan"] = plan.String()
}

// watches gives the victim what they have seen, a picture, and an address they want.
func (v victim) watches(t *testing.T, a *platformtest.Platform, root *apitest.Client) {
	t.Helper()
	for kind, path := range map[string]string{"category": "/categories", "tag": "/tags", "season": "/seasons"} {
		v.common[kind] = platformtest.FirstDoc(root.Post(path, []object{{
			"name": kind, "slug": kind,
		}}).Expect(http.StatusOK))["_id"].(string)
	}
	v.common["video"] = platformtest.FirstDoc(root.Post("/videos", []object{{
		"title": "Film", "slug": "film", "video_id": "https://videos.example.com/1", "duration": 90,
		"release_date": "2024-01-02",
	}}).Expect(http.StatusOK))["_id"].(string)
	v.client.Put("/me/watch-history", object{
		"video_id": v.common["video"], "timeline": victimTimeline,
	}).Expect(http.StatusOK)
	v.client.Post("/customers/me/change-email", object{"new_email": canary + "@example.org"}).Expect(http.StatusOK)
	v.ids["avatar"] = sendFile(t, v.client, "/me/avatar", canary+".png", onePixel(t))
	v.ids["play"] = a.Insert(`INSERT INTO catalog.plays (id, user_id, place, video_id, device, started_at, seen_at)
		VALUES (platform.new_object_id(), $1, 1, platform.new_object_id(), $2, now(), now() + interval '1 day')`,
		v.ids["user"], canary).String()
}

// isKnownToAdmins gives the platform what admins keep, of the victim and of their own.
func (v victim) isKnownToAdmins(t *testing.T, a *platformtest.Platform, root *apitest.Client) {
	t.Helper()
	log := a.Insert(`INSERT INTO payments.webhook_logs (gateway, payload, signature_valid, received_at) VALUES ('gwa', jsonb_build_object('customer', $1::text), true, now())`, canary)
	unapplied := a.Insert(`INSERT INTO payments.unapplied_payments (kind, gateway, subject, customer_id, note, created_at, updated_at)
		VALUES ('unknown', 'gwa', 'sub_of_the_victim', $1, $2, now(), now())`, v.ids["user"], canary)
	chargeback := a.Insert(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, reason, state, native_status, opened_at, reported_at, created_at, updated_at)
		VALUES ('gwa', 'dispute_of_the_victim', 'pay_of_the_victim', 'subscription', $1, $2, 1, $3, 'inquiry', 'inquiry', now(), now(), now(), now())`, v.ids["subscription"], v.ids["user"], canary)
	refund := a.Insert(`INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, reason, failure, requested_at, created_at, updated_at)
		VALUES ('gwb', 'pi_of_the_victim', 'customer', $1, $1, 1, 'failed', 'gateway', 'REFUND', 'REFUND', $2, $2, now(), now(), now())`, v.ids["user"], canary)
	run := a.Insert(`INSERT INTO payments.reconcile_runs (started_by, starter, dry_run, gateways, since, started_at, seen_at, updated_at)
		VALUES ('command', $1, false, '{gwa}', now(), now(), now(), now())`, canary)
	finding := a.Insert(`INSERT INTO payments.reconcile_findings (run_id, gateway, kind, verdict, gateway_object_id, record, local_id, was, detail, found_at)
		VALUES ($1, 'gwa', 'missed_payment', 'repaired', 'pay_of_the_victim', 'subscription', $2, jsonb_build_object('status', $3::text), $3, now())`,
		run, v.ids["subscription"], canary)
	column := a.Insert(`INSERT INTO board.requisition_status (name) VALUES ($1)`, canary)
	card := a.Insert(`INSERT INTO board.requisitions (name, status_id) VALUES ($1, $2)`, canary, column)
	export := a.Insert(`INSERT INTO finance.exports (id, requested_by, kind, format, parameters, filename, status, size, created_at, finished_at, expires_at)
		VALUES (platform.new_object_id(), $1, 'customers', 'json', '{}', $2, 'done', length($2), now(), now(), now() + interval '1 day')`,
		root.Get("/current-user").Map()["user_id"], canary)
	_, err := a.DB.Exec(t.Context(),
		`INSERT INTO finance.export_chunks (export_id, attempt, n, data) VALUES ($1, 0, 0, $2)`, export, []byte(canary))
	require.NoError(t, err)
	root.Put("/customers", []object{{"_id": v.ids["user"], "full_name": canary + " II"}}).Expect(http.StatusOK)
	v.ids["note"] = platformtest.FirstDoc(root.Post("/customer-notes", []object{{
		"customer_id": v.ids["user"], "text": canary,
	}}).Expect(http.StatusOK))["_id"].(string)
	v.ids["view"] = root.Post("/admin/views", object{"path": "/customers", "name": canary}).Expect(http.StatusOK).Map()["_id"].(string)
	v.ids["bulk act"] = a.Insert(`INSERT INTO platform.bulk_acts (id, act, query, arguments, actor_id, claims, state, total, created_at, ended_at)
		SELECT platform.new_object_id(), 'subscription_cancel', $1, '{}', owner_id, '{}', 'done', 1, now(), now() FROM accounts.views`,
		canary).String()
	v.ids["import"] = a.Insert(`INSERT INTO catalog.imports (id, filename, delimiter, actor_id, state, total, creates, updates, invalid, created_at, ended_at)
		SELECT platform.new_object_id(), $1, ',', owner_id, 'stopped', 1, 0, 0, 1, now(), now() FROM accounts.views`, canary).String()
	a.Exec(`INSERT INTO catalog.import_rows (import_id, position, line, outcome, title, changes, errors)
		VALUES ($1, 1, 2, 'invalid', $2, '{}', '[{"field": "slug", "message": "slug is already taken"}]')`, v.ids["import"], canary)
	a.Exec(`INSERT INTO platform.bulk_rows (bulk_id, position, record_id, outcome, reason) VALUES ($1, 1, '', 'failed', $2)`,
		v.ids["bulk act"], canary)
	root.Put("/customers", []object{{"_id": v.ids["user"], "full_name": canary}}).Expect(http.StatusOK)
	var entry, profile objectid.ID
	require.NoError(t, a.DB.QueryRow(t.Context(), `SELECT id FROM accounts.audit_log WHERE record_id = $1 LIMIT 1`,
		v.ids["user"]).Scan(&entry))
	require.NoError(t, a.DB.QueryRow(t.Context(), `SELECT id FROM accounts.users_type LIMIT 1`).Scan(&profile))
	v.ids["webhook log"], v.ids["column"], v.ids["requisition"], v.ids["export"] = log.String(), column.String(),
		card.String(), export.String()
	v.ids["unapplied payment"], v.ids["chargeback"] = unapplied.String(), chargeback.String()
	v.ids["reconciliation"], v.ids["finding"] = run.String(), finding.String()
	v.ids["refund"], v.common["queue"] = refund.String(), "mail"
	var job string
	require.NoError(t, a.DB.QueryRow(t.Context(), `SELECT id::text FROM jobs.river_job ORDER BY id LIMIT 1`).Scan(&job))
	v.common["job"] = job
	v.ids["audit entry"], v.ids["profile"] = entry.String(), profile.String()
	v.ids["file"] = upload(t, root, "/upload-file/archive-records/"+v.ids["user"])
	v.ids["attachment"] = upload(t, root, "/admin/requisitions/"+v.ids["requisition"]+"/files")
}

// upload sends a text that carries the canary and returns the file's id.
func upload(t *testing.T, admin *apitest.Client, path string) string {
	t.Helper()
	return sendFile(t, admin, path, canary+".txt", []byte(canary))
}

// idOfFile finds the id of the file in the answer to an upload.
var idOfFile = regexp.MustCompile(`"(?:file_id|avatar_id|_id)":\s*"([0-9a-f]{24})"`)

func sendFile(t *testing.T, client *apitest.Client, path, name string, content []byte) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	require.NoError(t, err)
	_, err = part.Write(content)
	require.NoError(t, err)
	require.NoError(t, form.Close())
	res := client.Send(http.MethodPost, path, form.FormDataContentType(), body.Bytes())
	require.Less(t, res.Status, 300, "%s", res.Body)
	all := idOfFile.FindAllSubmatch(res.Body, -1)
	require.NotEmpty(t, all, "%s", res.Body)
	return string(all[len(all)-1][1])
}

func onePixel(t *testing.T) []byte {
	t.Helper()
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))))
	return picture.Bytes()
}

// reveals says whether the answer holds anything of the victim's, were it only
// the id of a record. What the request itself named may be repeated.
func (v victim) reveals(res *apitest.Response, request string) bool {
	text := string(res.Body) + fmt.Sprint(res.Header)
	for _, mark := range append(sorted(v.ids), canary, victimPhone, victimTaxID, fmt.Sprint(victimTimeline)) {
		if strings.Contains(text, mark) && !strings.Contains(request, mark) {
			return true
		}
	}
	return false
}

// rows are all rows, of whatever table of whatever module, that name one of the
// ids or carry the canary.
func rowsNaming(t *testing.T, a *platformtest.Platform, ids map[string]string) []string {
	t.Helper()
	marks := strings.Join(append(sorted(ids), canary), "|")
	found, err := a.DB.Query(t.Context(), everyRow(t, a), marks)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	slices.Sort(all)
	return all
}

// everyRow is one statement over all tables; $1 is what to find in a row.
func everyRow(t *testing.T, a *platformtest.Platform) (sql string) {
	t.Helper()
	require.NoError(t,
		a.DB.QueryRow(t.Context(),
			`SELECT string_agg(format('SELECT %L || to_jsonb(t)::text FROM %I.%I t WHERE to_jsonb(t)::text ~ $1',
			schemaname || '.' || tablename || ' ', schemaname, tablename), ' UNION ALL ' ORDER BY schemaname, tablename)
		FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'public')`).Scan(&sql))
	return sql
}
