package invariants_test

import (
	"fmt"
	"strings"
)

// withdrawn has the customer withdraw from what was paid.
const withdrawn = `UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = '2026-11-20 10:59'; UPDATE accounts.users SET current_subscription_id = NULL;
	INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
	VALUES ('SUB', 'ANA', '2026-11-20 10:59', 'active', 'cancelled', 'withdrawn', 'customer')`

// lostDispute has the subscription be ended by a lost dispute, of another payment than pay_1.
const lostDispute = `UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = '2026-11-20 10:59'; UPDATE accounts.users SET current_subscription_id = NULL;
	INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
	VALUES ('SUB', 'ANA', '2026-11-20 10:59', 'active', 'cancelled', 'chargeback', 'webhook')`

// deletedAna is a deletion under way.
const deletedAna = `INSERT INTO accounts.deletions (customer_id, deleted_at) VALUES ('ANA', '2026-11-20 11:00')`

// plants break one invariant each, in more than one way where it has more than
// one condition. Constraints that stand in the way are dropped.
var plants = map[string][]string{
	"one_live_subscription": {
		`DROP INDEX subscriptions.subscriptions_one_live_per_customer; ` + anotherSubscription("ANA", "suspended"),
		`DROP INDEX subscriptions.subscriptions_one_live_per_customer; ` + renewalOf("SUB", "suspended"),
		renewalOf("SUB", "pending") +
			`; UPDATE subscriptions.subscriptions SET customer_id = 'BIA' WHERE id = 'SUB'; ` +
			strings.ReplaceAll(anotherSubscription("ANA", "active"), "OTHER", "0000000000000000000000e2"),
		`DROP INDEX subscriptions.subscriptions_one_renewal_per_customer; ` + renewalOf("SUB", "pending") + `; ` +
			strings.ReplaceAll(renewalOf("SUB", "pending"), "OTHER", "0000000000000000000000e2"),
	},
	"renewal_charges_move_the_end": {
		renewalCharge("open", "pay_1", "NULL"), renewalCharge("gone", "pay_1", "NULL"),
		renewalCharge("paid", "pay_1", "'2026-12-10'"),
		`ALTER TABLE subscriptions.renewal_charges DROP CONSTRAINT renewal_charges_paid_moves_the_end; ` +
			renewalCharge("paid", "pay_1", "NULL"),
		renewalCharge("paid", "pay_nobody", "'2027-01-10'"),
		renewalCharge("unapplied", "pay_1", "NULL"),
	},
	"replaced_has_successor": {
		replaced,
		replaced + `; ` + renewalOf("SUB", "pending"),
		replaced + `; ` + renewalOf("SUB", "cancelled"),
		`DROP INDEX subscriptions.subscriptions_one_live_per_customer; ` + renewalOf("SUB", "active"),
	},
	"current_subscription_live": {
		`UPDATE accounts.users SET current_subscription_id = 'OTHER' WHERE id = 'BIA'`,
		`UPDATE accounts.users SET current_subscription_id = 'SUB' WHERE id = 'BIA'`,
		anotherSubscription("BIA", "expired") +
			`; UPDATE accounts.users SET current_subscription_id = 'OTHER' WHERE id = 'BIA'`,
	},
	"live_subscription_current": {
		`UPDATE accounts.users SET current_subscription_id = NULL`, anotherSubscription("BIA", "pending"),
		replaced + `; ` + renewalOf("SUB", "pending"),
	},
	"active_cards_are_charged": {
		`UPDATE subscriptions.subscriptions SET payment_method = 'credit_card', expires_at = NULL`,
		`UPDATE subscriptions.subscriptions SET payment_method = 'credit_card', expires_at = NULL, gwa_subscription_id = 'sub_1', gateway_deleted_at = now()`,
	},
	"active_debits_are_authorized": {
		`UPDATE subscriptions.subscriptions SET pix_automatic = true, expires_at = NULL, next_billing_date = NULL`,
		`UPDATE subscriptions.subscriptions SET pix_automatic = true, expires_at = NULL, next_billing_date = '2026-12-10', gwa_pix_auth_id = 'aut_1', gateway_deleted_at = now()`,
		`UPDATE subscriptions.subscriptions SET pix_automatic = true, expires_at = NULL, gwa_pix_auth_id = 'aut_1', pix_expires_at = '2026-11-19 11:59'`,
	},
	"no_access_past_expiry": {`UPDATE subscriptions.subscriptions SET expires_at = '2026-11-20 11:44'`},
	"no_pix_past_expiry": {
		anotherSubscription("BIA", "pending") +
			`; UPDATE subscriptions.subscriptions SET pix_expires_at = '2026-11-20 10:59' WHERE id = 'OTHER'`,
	},
	"subscription_status_is_history": {
		`UPDATE subscriptions.subscriptions SET status = 'suspended'`, anotherSubscription("BIA", "cancelled"),
	},
	"subscription_history_unbroken": {
		`INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source) VALUES ('SUB', 'ANA', now(), 'suspended', 'active', 'x', 'job')`,
		anotherSubscription("BIA", "active") +
			`; INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source) VALUES ('OTHER', 'BIA', now(), 'pending', 'active', 'x', 'job')`,
	},
	"subscription_order_state_is_history": {
		`ALTER TABLE subscriptions.renewal_charges DISABLE TRIGGER renewal_charges_begin_unnoted; ` +
			renewalCharge("gone", "pay_9", "NULL"),
		`ALTER TABLE subscriptions.charge_moves DISABLE TRIGGER charge_moves_begin_unnoted; ` + chargeMove("refused"),
		`ALTER TABLE subscriptions.pauses DISABLE TRIGGER pauses_begin_unnoted; ` + pause("resumed", "'2026-11-17'"),
		`ALTER TABLE subscriptions.plan_moves DISABLE TRIGGER plan_moves_begin_unnoted; ` + planMove,
		`ALTER TABLE subscriptions.plan_moves DISABLE TRIGGER plan_moves_move_unnoted; ` + planMove +
			`; UPDATE subscriptions.plan_moves SET state = 'void', ended_at = now()`,
		planMove + `; INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action)
			SELECT subscription_id, 'plan_move', id, now(), 'open', 'done', 'confirmed' FROM subscriptions.plan_moves`,
		`ALTER TABLE subscriptions.debit_retries DISABLE TRIGGER debit_retries_begin_unnoted;
			INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, ended_at, register_date)
			SELECT subscription_id, cycle, cycle + 1, 'dropped', now(), now() FROM subscriptions.debits`,
	},
	"refunded_total_is_ledger": {
		`UPDATE subscriptions.subscriptions SET total_refunded_cents = 1`,
		refund("gwa", "pay_1", "subscription", "SUB", 1, "done"),
	},
	"no_access_while_disputed": {
		`UPDATE subscriptions.subscriptions SET has_chargeback = true; ` + dispute("SUB", "ANA"), dispute("SUB", "ANA"),
		replaced + `; ` + renewalOf("SUB", "active") + `; ` + dispute("SUB", "ANA"),
	},
	"disputed_collection_paused": {
		disputed + dispute("SUB", "ANA") + `; UPDATE payments.disputes SET updated_at = '2026-11-20 11:44'`,
		disputed + dispute("SUB", "ANA") + `; UPDATE payments.disputes SET updated_at = '2026-11-20 11:44'; ` +
			pause("resuming", "NULL"),
		replaced + `; ` + renewalOf("SUB", "suspended") + `; ` + dispute("SUB", "ANA") +
			`; UPDATE payments.disputes SET updated_at = '2026-11-20 11:44';
			UPDATE subscriptions.subscriptions SET has_chargeback = true, gwb_subscription_id = 'sub_2', register_update_date = '2026-11-20 11:44' WHERE id = 'OTHER'`,
		strings.Replace(disputed, "gwa_subscription_id = 'sub_1'", "pix_automatic = true, gwa_pix_auth_id = 'auth_1'",
			1) + dispute("SUB", "ANA") + `; UPDATE payments.disputes SET updated_at = '2026-11-20 11:44'`,
	},
	"lost_dispute_ends": {
		disputed + dispute("SUB", "ANA") +
			`; UPDATE payments.disputes SET state = 'lost', closed_at = now(), updated_at = '2026-11-20 11:44'`,
		dispute("SUB", "ANA") +
			`; UPDATE payments.disputes SET state = 'lost', closed_at = now(), updated_at = '2026-11-15'`,
		replaced + `; ` + renewalOf("SUB", "active") + `; ` + dispute("SUB", "ANA") +
			`; UPDATE payments.disputes SET state = 'lost', closed_at = now(), updated_at = '2026-11-15'`,
	},
	"lost_time_listed": {
		lostDispute +
			`; UPDATE payments.payments SET method = 'credit_card', due_at = '2026-12-01' WHERE gateway_payment_id = 'pay_1'; DELETE FROM subscriptions.debits`,
		lostDispute + `; UPDATE subscriptions.debits SET cycle = '2026-12-01'; ` +
			refund("gwa", "pay_1", "subscription", "SUB", 4990, "failed"),
		lostDispute + `; DELETE FROM subscriptions.debits; ` + renewalCharge("paid", "pay_1", "'2027-01-10'"),
	},
	"paused_money_returned": {
		paidWhilePaused + pause("paused", "NULL"),
		paidWhilePaused + pause("resumed", "'2026-11-17'"),
		paidWhilePaused + pause("void", "NULL") + "; " +
			refund("gwa", "pay_9", "subscription", "SUB", 4990, "failed"),
	},
	"extended_time_is_free": {
		paidByCard + chargeMove("open"),
		paidByCard + chargeMove("done"),
		paidByCard + chargeMove("done") + "; " + refund("gwa", "pay_9", "subscription", "SUB", 4990, "failed"),
		chargeMove("open"),
		chargeMove("refused") + `; UPDATE subscriptions.subscriptions SET expires_at = '2026-12-16'`,
		unapplied("pay_1", "extended", "extended") + "; " + chargeMove("refused") +
			`; UPDATE subscriptions.charge_moves SET refusal = 'no', ended_at = '2026-12-31'`,
	},
	"paid_subscription_in_ledger": {
		`DELETE FROM payments.payments WHERE purpose = 'subscription'`,
		`UPDATE payments.payments SET purpose = 'order' WHERE gateway_payment_id = 'pay_1'`,
	},
	"intents_closed": {
		openIntent("refund", "OTHER", "'2026-11-20 11:29', NULL, NULL"),
		openIntent("refund", "OTHER", "'2026-11-20 11:00', '2026-11-20 11:29', NULL"),
		openIntent("refund", "OTHER", "'2026-11-21', NULL, '2026-11-18 11:59'"),
		`UPDATE tickets.orders SET intent_open = true, created_at = '2026-11-20 11:29'`,
	},
	"no_clock_skew": {
		`INSERT INTO payments.refused_webhooks (id, gateway, payload, received_at, reason, address, network) VALUES ('OTHER', 'gwb', '{}', '2026-11-19 12:01', 'clock_skew', '192.0.2.1', '192.0.2.0/24')`,
		`INSERT INTO payments.refused_webhook_counts (hour, gateway, network, reason, calls, last_at) VALUES ('2026-11-19 11:00', 'gwb', '192.0.2.0/24', 'clock_skew', 3, '2026-11-19 12:01')`,
	},
	"gateways_probed": {
		`UPDATE payments.gateway_state SET failing_since = '2026-11-20 11:29', failed_at = '2026-11-20 11:29' WHERE gateway = 'gwa'`,
		`UPDATE payments.gateway_state SET failing_since = '2026-11-20 11:29' WHERE gateway = 'gwb'`,
	},
	"intents_agree": {
		pause("pausing", "NULL"),
		chargeMove("open"),
		planMove,
		`UPDATE subscriptions.subscriptions SET intent_open = true, register_date = '2026-11-20 11:44'`,
		openIntent("subscription", "SUB", "'2026-11-20 12:01', NULL, NULL"),
		openIntent("subscription", "OTHER", "'2026-11-20 12:01', NULL, NULL"),
		openIntent("refund", "SUB", "'2026-11-20 12:01', NULL, NULL") +
			`; UPDATE subscriptions.subscriptions SET intent_open = true, register_date = '2026-11-20 11:44'`,
	},
	"refunds_within_payments": {
		refund("gwa", "pay_1", "subscription", "SUB", 4991, "done"),
		refund("gwa", "pay_1", "subscription", "SUB", 4000, "done") + "; " +
			refund("gwa", "pay_1", "subscription", "SUB", 991, "done"),
		refund("gwb", "pi_2", "order", "ORDER", 2001, "done"),
		refund("gwb", "pi_unknown", "order", "OTHER", 1, "done"),
		refund("gwa", "pay_1", "subscription", "SUB", 2991, "pending") + "; " +
			refund("gwa", "pay_1", "subscription", "SUB", 2000, "requested"),
	},
	"one_open_refund": {
		refund("gwa", "pay_1", "subscription", "SUB", 1, "requested") + "; " +
			refund("gwa", "pay_1", "subscription", "SUB", 2, "requested"),
	},
	"withdrawn_refunded": {
		withdrawn,
		withdrawn + "; " + refund("gwa", "pay_1", "subscription", "SUB", 4989, "done"),
		withdrawn + "; " + refund("gwa", "pay_1", "subscription", "SUB", 4990, "failed"),
		renewalOf("SUB", "cancelled") + "; " + strings.ReplaceAll(withdrawn, "'SUB'", "'OTHER'"),
	},
	"refunds_answered": {
		refund("gwa", "pay_1", "subscription", "SUB", 1, "requested"),
		refund("gwa", "pay_1", "subscription", "SUB", 1, "pending"),
	},
	"payments_count": {
		`UPDATE payments.payments SET counted = false WHERE gateway_payment_id = 'pay_1'`,
		`UPDATE payments.payments SET counted = false WHERE gateway_payment_id = 'pay_1'; ` +
			refund("gwa", "pay_1", "subscription", "SUB", 4989, "done"),
	},
	"dispute_state_is_history": {
		`ALTER TABLE payments.disputes DISABLE TRIGGER disputes_begin_unnoted; ` + dispute("SUB", "ANA"),
		dispute("SUB", "ANA") + `; ALTER TABLE payments.disputes DISABLE TRIGGER disputes_move_unnoted;
			UPDATE payments.disputes SET state = 'lost', closed_at = now()`,
		dispute("SUB", "ANA") + `; INSERT INTO payments.dispute_transitions (dispute_id, at, from_state, to_state, action)
			SELECT id, now(), 'won', 'open', 'reported_open' FROM payments.disputes`,
	},
	"refund_state_is_history": {
		`ALTER TABLE payments.refunds DISABLE TRIGGER refunds_begin_unnoted; ` +
			refund("gwb", "pi_2", "order", "ORDER", 100, "done"),
		refund("gwb", "pi_2", "order", "ORDER", 100, "done") + `; ALTER TABLE payments.refunds DISABLE TRIGGER refunds_move_unnoted;
			UPDATE payments.refunds SET status = 'failed'`,
		refund("gwb", "pi_2", "order", "ORDER", 100, "done") + `; INSERT INTO payments.refund_transitions (refund_id, at, from_state, to_state, action)
			SELECT id, now(), 'requested', 'done', 'made' FROM payments.refunds`,
	},
	"ledger_has_subjects": {
		`UPDATE payments.payments SET local_id = 'OTHER' WHERE gateway_payment_id = 'pi_2'`,
		`UPDATE payments.payments SET customer_id = 'BIA' WHERE gateway_payment_id = 'pay_1'`,
		refund("gwb", "pi_2", "order", "OTHER", 1, "done"),
		dispute("SUB", "BIA"),
	},
	"events_finished": {
		`UPDATE payments.processed_events SET state = 'applying'`,
		`UPDATE payments.processed_events SET state = 'queued', updated_at = '2026-11-20 10:59'`,
	},
	"events_claimed": {
		`DELETE FROM payments.processed_events`,
		`UPDATE payments.processed_events SET result = '{"status": "ignored"}'`,
		`UPDATE payments.processed_events SET state = 'queued', updated_at = '2026-11-20 11:59'`,
	},
	"events_know_their_subject": {
		`UPDATE payments.processed_events SET state = 'waiting', subjects = ARRAY['pay_1', 'SUB'], result = '{"reason": "unknown subject"}'; UPDATE payments.webhook_logs SET result = '{"reason": "unknown subject"}'`,
		`UPDATE payments.processed_events SET state = 'waiting', subjects = ARRAY['ORDER'], result = '{"reason": "unknown subject"}'; UPDATE payments.webhook_logs SET result = '{"reason": "unknown subject"}'`,
		`INSERT INTO tickets.deleted_orders (id, customer_id, gateway) VALUES ('OTHER', 'BIA', 'gwa'); UPDATE payments.processed_events SET state = 'waiting', subjects = ARRAY['OTHER'], result = '{"reason": "unknown subject"}'; UPDATE payments.webhook_logs SET result = '{"reason": "unknown subject"}'`,
	},
	"deleted_orders_unpaid": {
		`INSERT INTO tickets.deleted_orders (id, customer_id, gateway) VALUES ('OTHER', 'BIA', 'gwa'); INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
			VALUES ('gwa', 'pay_3', 'order', 'OTHER', 'BIA', 2000, 'pix', 'RECEIVED', '2026-11-10', '2026-11-20 11:44', now()); ` + refund("gwa", "pay_3", "order", "OTHER", 1999, "done"),
	},
	"events_have_logs": {`UPDATE payments.processed_events SET state = 'waiting'; DELETE FROM payments.webhook_logs`},
	"one_move_per_event": {`INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source, event_id)
		VALUES ('SUB', 'ANA', now(), 'active', 'suspended', 'x', 'webhook', 'evt_1')`},
	"tickets_issued_counted": {
		`UPDATE tickets.events SET tickets_issued = 1`,
		`UPDATE tickets.events SET capacity = NULL, tickets_issued = 3`,
	},
	"unpaid_places_counted": {
		`UPDATE tickets.events SET places_unpaid = 1`, `UPDATE tickets.events SET places_unpaid_guests = 1`,
		`UPDATE tickets.orders SET state = 'reserved', hold_until = '2026-11-20 12:15'; UPDATE tickets.tickets SET status = 'pending'; UPDATE tickets.events SET places_unpaid = 0`,
	},
	"capacity_respected": {`DROP TRIGGER events_capacity_respected ON tickets.events;
		INSERT INTO tickets.tickets (event_id, customer_id, title, status, reason) VALUES ('EVENT', 'ANA', 'Third', 'available', 'issued')`},
	"ticket_status_is_history": {
		`ALTER TABLE tickets.tickets DISABLE TRIGGER tickets_account_changed; UPDATE tickets.tickets SET status = 'consumed'`,
		`INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason) SELECT id, event_id, now(), 'pending', 'available', 'x' FROM tickets.tickets LIMIT 1`,
	},
	"order_state_is_history": {
		`ALTER TABLE tickets.orders DISABLE TRIGGER orders_move_unnoted; UPDATE tickets.orders SET state = 'refund_due'`,
		`UPDATE tickets.orders SET state = 'refund_due', moves = moves + 1`,
		`INSERT INTO tickets.order_transitions (order_id, at, from_state, to_state, reason) VALUES ('ORDER', now(), 'reserved', 'paid', 'paid')`,
	},
	"disputed_orders_blocked": {
		`UPDATE tickets.orders SET disputed_at = now()`,
		disputeOfOrder("open"),
		disputeOfOrder("lost"),
		disputeOfOrder("won") +
			`; UPDATE tickets.orders SET state = 'lost', payment_status = 'CHARGEBACK_LOST'; UPDATE tickets.tickets SET status = 'expired'`,
		disputeOfOrder("lost") +
			`; UPDATE tickets.orders SET state = 'lost'; UPDATE tickets.tickets SET status = 'expired'`,
	},
	"given_back_refunded": {
		`INSERT INTO tickets.give_backs (order_id, event_id, why, asked_at, created_at) VALUES ('ORDER', 'EVENT', 'withdrawn', '2026-11-19 11:59', '2026-11-19 11:59')`,
		`INSERT INTO tickets.give_backs (order_id, event_id, why, asked_at, created_at, refund_id) VALUES ('ORDER', 'EVENT', 'withdrawn', '2026-11-19 11:59', '2026-11-19 11:59', 'OTHER')`,
		`UPDATE tickets.events SET cancelled_at = now(), is_active = false`,
	},
	"refunded_tickets_void": {
		refundOfTickets("done", "NULL"),
		refundOfTickets("failed", "NULL"),
		refundOfTickets("done", "now()"),
		refundOfTickets("done", "now()") +
			`; UPDATE tickets.tickets SET status = 'expired'; UPDATE tickets.tickets SET holds_place = true`,
		`UPDATE tickets.tickets SET refund_id = 'OTHER', refund_asked_at = now()`,
		`UPDATE tickets.orders SET state = 'refunded'`,
		`UPDATE tickets.tickets SET status = 'expired'; UPDATE tickets.orders SET state = 'lost', payment_status = 'CHARGEBACK_LOST'`,
	},
	"returned_parts_listed": {
		refund("gwb", "pi_2", "order", "ORDER", 1000, "done") +
			`; UPDATE payments.refunds SET source = 'gateway', updated_at = '2026-11-20 11:44'`,
	},
	"box_office_handed_back": {
		handedBack(1000),
		soldAtBoxOffice + `; ` + handedBack(2001),
		soldAtBoxOffice + `; ` + handedBack(999) +
			`; UPDATE tickets.tickets SET refund_id = 'OTHER', refund_asked_at = now(), refunded_at = now(), status = 'expired'`,
		soldAtBoxOffice + `; UPDATE tickets.orders SET state = 'refunded'`,
	},
	"orders_match_tickets": {
		`UPDATE tickets.orders SET quantity = 1, total_cents = 1000`,
		`UPDATE tickets.tickets SET status = 'pending'`,
		`UPDATE tickets.orders SET state = 'refund_due'`,
		`UPDATE tickets.orders SET state = 'released'; UPDATE tickets.tickets SET status = 'expired'`,
	},
	"ended_recurrences_end": {
		`UPDATE subscriptions.subscriptions SET gwa_subscription_id = 'sub_1', gateway_end_open_since = '2026-11-18'`,
		`UPDATE subscriptions.subscriptions SET gwa_subscription_id = 'sub_1'; INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
			VALUES ('SUB', 'ANA', '2026-11-18', 'cancelled', 'active', 'late_money', 'webhook')`,
		`UPDATE subscriptions.subscriptions SET gwb_subscription_id = 'sub_1'; INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
			VALUES ('SUB', 'ANA', '2026-11-18', 'expired', 'active', 'admin_activated', 'admin')`,
	},
	"period_ends_agree": {
		`UPDATE subscriptions.subscriptions SET gateway = 'gwb', gwa_subscription_id = NULL, gwb_subscription_id = 'sub_1', period_end_look_at = '2026-11-18'`,
	},
	"late_money_listed": {
		`UPDATE subscriptions.subscriptions SET status = 'cancelled', started_at = '2026-11-10', payment_method = 'credit_card', ended_at = '2026-11-18';
			UPDATE accounts.users SET current_subscription_id = NULL; ` +
			paid("pi_late", "SUB", "ANA", "2026-11-17"), // charged before the end, told after it
		anotherSubscription("BIA", "expired") + "; " + paid("pi_late", "OTHER", "BIA", "2026-12-01"),
		anotherSubscription("BIA", "cancelled") + "; " + paid("pi_late", "OTHER", "BIA", "2026-11-01") + "; " +
			refund("gwb", "pi_late", "subscription", "OTHER", 4989, "done"),
		deletedAna +
			`; UPDATE subscriptions.subscriptions SET started_at = '2026-11-10', payment_method = 'credit_card'; ` +
			paid("pi_late", "SUB", "ANA", "2026-11-20 11:30"), // on a live row
		deletedAna +
			`; UPDATE subscriptions.subscriptions SET status = 'cancelled', started_at = '2026-11-10', payment_method = 'credit_card', ended_at = '2027-02-01'; ` +
			paid("pi_late", "SUB", "ANA", "2026-11-20 11:30"), // before the deletion ended it
		deletedAna + "; " + paid("pi_late", "SUB", "ANA", "2026-11-20 10:30"), // a code, told after
	},
	"unapplied_match_ledger": {
		unapplied("pay_1", "open", "open") + "; " + refund("gwa", "pay_1", "subscription", "SUB", 4990, "done"),
		unapplied("pay_1", "open", "open") + "; " + refund("gwa", "pay_1", "subscription", "SUB", 4990, "requested"),
		unapplied("pay_1", "refunding", "refunding"),
		unapplied("pay_1", "refunded", "refunded") + "; " + refund("gwa", "pay_1", "subscription", "SUB", 4989, "done"),
		unapplied("pay_1", "extended", "extended") +
			"; UPDATE payments.unapplied_payments SET subscription_id = 'OTHER'",
		unapplied("pay_1", "kept", "open"),
		unapplied("pay_1", "open", "open") + "; " + dispute("SUB", "ANA") +
			"; UPDATE payments.disputes SET state = 'lost', closed_at = now(), amount_cents = 2000; " +
			refund("gwa", "pay_1", "subscription", "SUB", 2990, "done"),
		unapplied("pay_1", "kept", "kept") + "; " + refund("gwa", "pay_1", "subscription", "SUB", 4990, "done"),
		unapplied("pay_nowhere", "open", "open"),
	},
	"orders_match_ledger": {
		paid("pi_again", "ORDER", "ANA", "2026-11-11") +
			"; UPDATE payments.payments SET purpose = 'order' WHERE gateway_payment_id = 'pi_again'",
		`UPDATE tickets.orders SET state = 'refunded'; ` + paid("pi_again", "ORDER", "ANA", "2026-11-11") +
			"; UPDATE payments.payments SET purpose = 'order' WHERE gateway_payment_id = 'pi_again'; " +
			refund("gwb", "pi_2", "order", "ORDER", 2000, "done"),
		`UPDATE payments.payments SET amount_cents = 1999 WHERE purpose = 'order'`,
		`DELETE FROM payments.payments WHERE purpose = 'order'`,
		`UPDATE tickets.orders SET state = 'released'`,
		`UPDATE tickets.orders SET state = 'refunded'`,
	},
	"paid_orders_have_tickets": {
		deletedAna + `; UPDATE tickets.orders SET paid_at = '2026-11-20 11:01'; DELETE FROM tickets.tickets`,
		`ALTER TABLE tickets.tickets DISABLE TRIGGER tickets_account_removed; DELETE FROM tickets.tickets; UPDATE tickets.events SET tickets_issued = 0`,
		deletedAna + `; UPDATE tickets.orders SET paid_at = '2026-11-20 11:01'; DELETE FROM tickets.tickets; ` +
			refund("gwb", "pi_2", "order", "ORDER", 1999, "done"),
	},
	"places_given_back": {
		`UPDATE tickets.orders SET state = 'reserved', hold_until = '2026-11-20 11:44'`,
		`UPDATE tickets.orders SET state = 'refund_due', paid_at = '2026-11-19 11:59'`,
	},
	"redemptions_have_subscriptions": {
		`UPDATE promos.redemptions SET subscription_id = 'OTHER'`,
		`UPDATE promos.redemptions SET customer_id = 'BIA'`,
		`UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = now()`,
	},
	"debits_paid_once": {
		`UPDATE payments.payments SET local_id = 'OTHER' WHERE gateway_payment_id = 'pay_1'`,
		`UPDATE payments.payments SET purpose = 'order' WHERE gateway_payment_id = 'pay_1'`,
	},
	"debits_once_a_period": {
		automatic + anotherDebit("2026-12-09", "NULL"),
		automatic + anotherDebit("2026-12-09", "now()"),
		automatic +
			`INSERT INTO payments.payments SELECT platform.new_object_id(), gateway, gateway_payment_id || n, invoice_id, payment_intent_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, '2026-11-10', '2026-11-10'
			FROM payments.payments, generate_series(1, 2) n WHERE gateway_payment_id = 'pay_1'`,
	},
	"debit_retries_planned": {
		automatic +
			`UPDATE subscriptions.debits SET failed_at = '2026-11-10', failure = 'INSUFFICIENT_FUNDS', retryable = true`,
		automatic +
			`INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, register_date) VALUES ('SUB', '2026-11-10', '2026-11-18', 'planned', '2026-11-10')`,
	},
	"deletions_finished": {
		`INSERT INTO accounts.deletions (customer_id, deleted_at) VALUES ('BIA', '2026-11-19 11:59')`,
	},
	"jobs_done": {
		`UPDATE jobs.river_job SET finalized_at = now() - interval '2 days' WHERE state = 'completed'`,
		`INSERT INTO jobs.river_job (kind, state, max_attempts, attempt, args, finalized_at) VALUES ('payments_event_retry', 'discarded', 25, 25, '{}', now())`,
		`INSERT INTO jobs.river_job (kind, state, max_attempts, args, scheduled_at) VALUES ('payments_event_retry', 'retryable', 25, '{}', now() - interval '16 minutes')`,
	},
}

const automatic = `UPDATE subscriptions.subscriptions SET pix_automatic = true WHERE id = 'SUB'; `

func anotherDebit(cycle, paid string) string {
	return fmt.Sprintf(`INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, gateway_payment_id, register_date, tried_at, ordered_at, paid_at, failed_at)
		VALUES ('SUB', '%s', '%s', 4990, 'pay_2', now(), now(), now(), %s, %s)`, cycle, cycle, paid, paid)
}

func anotherSubscription(customer, status string) string {
	return fmt.Sprintf(`INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, ended_at, price_cents, period_months, intent_open, register_date, register_update_date)
		VALUES ('OTHER', '%s', 'plus', 'gwb', 'pix', '%s', CASE WHEN '%s' IN ('cancelled', 'expired') THEN now() END, 4990, 1, false, now(), now())`, customer, status, status)
}

// replaced ends the sound world's subscription as a renewal does, without one.
const replaced = `UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = now() WHERE id = 'SUB';
	INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source) VALUES ('SUB', 'ANA', now(), 'active', 'cancelled', 'replaced', 'customer')`

// renewalOf is a renewal of ana's in a state; it has begun when that is active.
func renewalOf(renewed, status string) string {
	return fmt.Sprintf(`INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, started_at, ended_at, price_cents, period_months, renews_id, intent_open, register_date, register_update_date)
		VALUES ('OTHER', 'ANA', 'plus', 'gwb', 'credit_card', '%s', CASE WHEN '%s' = 'active' THEN now() END, CASE WHEN '%s' = 'cancelled' THEN now() END, 4990, 1, '%s', false, now(), now())`, status, status, status, renewed)
}

// openIntent has the times of its next look, of its lease, and since when it is not known.
func openIntent(kind, subject, times string) string {
	return fmt.Sprintf(`INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, created_at, next_look_at, leased_until, not_known_since)
		VALUES (platform.new_object_id(), '%s', '%s', 'gwa', 'x', '2026-11-18', %s)`, kind, subject, times)
}

// disputed makes the subscription one that a recurrence charges, and that is disputed.
const disputed = `UPDATE subscriptions.subscriptions SET status = 'suspended', has_chargeback = true, gwa_subscription_id = 'sub_1'; `

// paidWhilePaused is money that settled within the pauses of the plants.
const paidWhilePaused = `INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
	VALUES ('gwa', 'pay_9', 'subscription', 'SUB', 'ANA', 4990, 'pix', 'RECEIVED', '2026-11-16', now(), now()); `

// paidByCard is money of a card that settled within the extensions of the plants.
const paidByCard = `INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
	VALUES ('gwa', 'pay_9', 'subscription', 'SUB', 'ANA', 4990, 'credit_card', 'CONFIRMED', '2026-11-16', now(), now()); `

func chargeMove(state string) string {
	return fmt.Sprintf(`INSERT INTO subscriptions.charge_moves (id, subscription_id, state, from_at, to_at, ended_at, register_date)
		VALUES (platform.new_object_id(), 'SUB', '%s', '2026-11-16', '2026-12-16', CASE WHEN '%s' IN ('done', 'refused') THEN timestamptz '2026-11-15' END, '2026-11-15')`, state, state)
}

// planMove is an order to another plan that nobody asks the gateway about.
const planMove = `INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, register_date) VALUES (platform.new_object_id(), 'SUB', 'plus', '2026-11-20 11:44')`

func pause(state, until string) string {
	return fmt.Sprintf(`INSERT INTO subscriptions.pauses (id, subscription_id, state, since, until, ended_at, register_date)
		VALUES (platform.new_object_id(), 'SUB', '%s', '2026-11-15', %s, CASE WHEN '%s' IN ('resumed', 'void') THEN timestamptz '2026-11-18' END, '2026-11-15')`, state, until, state)
}

// renewalCharge is a code of the sound world's subscription, whose end was 10 December.
func renewalCharge(state, payment, movedTo string) string {
	return fmt.Sprintf(`INSERT INTO subscriptions.renewal_charges (id, subscription_id, customer_id, gateway, amount_cents, state, payable_until, intent_open, gateway_payment_id, moved_from, moved_to, register_date, register_update_date)
		VALUES ('OTHER', 'SUB', 'ANA', 'gwa', 4990, '%s', now(), false, '%s', '2026-12-10', %s, now(), now())`, state,
		payment, movedTo)
}

func refund(gateway, payment, purpose, local string, cents int, status string) string {
	return fmt.Sprintf(`INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, refunded_at, created_at, updated_at)
		VALUES ('%s', '%s', '%s', '%s', 'ANA', %d, '%s', 'admin', 'REFUND-x', 'ADMIN.REFUND.X', '2026-11-01', CASE WHEN '%s' = 'done' THEN now() END, clock_timestamp(), clock_timestamp())`,
		gateway, payment, purpose, local, cents, status, status)
}

// soldAtBoxOffice has the order be one of the counter.
const soldAtBoxOffice = `UPDATE tickets.orders SET sold_by_id = 'OTHER', sold_by = 'root', gateway = NULL, gateway_payment_id = NULL, payment_method = 'cash'`

// handedBack is what staff handed back of the order.
func handedBack(cents int) string {
	return fmt.Sprintf(`INSERT INTO payments.refunds (id, payment_ref, purpose, local_id, customer_id, amount_cents, kind, status, source, event_id, event_type, requested_at, refunded_at, created_at, updated_at)
		VALUES ('OTHER', 'ORDER', 'order', 'ORDER', 'ANA', %d, 'by_hand', 'done', 'admin', 'REFUND-x', 'BOX_OFFICE.REFUND', now(), now(), now(), now())`, cents)
}

// paid is a payment of gateway B that was booked after it was settled.
func paid(payment, local, customer, settledAt string) string {
	return fmt.Sprintf(`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		VALUES ('gwb', '%s', 'subscription', '%s', '%s', 4990, 'pix', 'succeeded', '%s', '2027-01-01', '2027-01-01')`,
		payment, local, customer, settledAt)
}

// unapplied is a payment of gateway A on the list, and the last row of its history.
func unapplied(payment, state, decided string) string {
	return fmt.Sprintf(`INSERT INTO payments.unapplied_payments (kind, gateway, subject, gateway_payment_id, amount_cents, customer_id, subscription_id, state, created_at, updated_at)
		VALUES ('late', 'gwa', '%s', '%s', 4990, 'ANA', 'SUB', '%s', '2026-11-20 10:59', '2026-11-20 10:59');
		INSERT INTO payments.unapplied_decisions (unapplied_id, at, to_state, source) SELECT id, now(), '%s', 'platform' FROM payments.unapplied_payments`, payment, payment, state, decided)
}

func dispute(local, customer string) string {
	return fmt.Sprintf(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
		VALUES ('gwa', 'dp_1', 'pay_1', 'subscription', '%s', '%s', 4990, 'open', 'x', now(), now(), now(), now())`,
		local, customer)
}

func refundOfTickets(status, refundedAt string) string {
	return refund("gwb", "pi_2", "order", "ORDER", 2000, status) +
		`; UPDATE payments.refunds SET updated_at = '2026-11-20 11:44';
		UPDATE tickets.tickets SET refund_asked_at = now(), refunded_at = ` + refundedAt +
		`, refund_id = (SELECT id FROM payments.refunds)`
}

func disputeOfOrder(state string) string {
	closed := "now()"
	if state == "open" {
		closed = "NULL"
	}
	return fmt.Sprintf(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, closed_at, reported_at, created_at, updated_at)
		VALUES ('gwb', 'dp_2', 'pi_2', 'order', 'ORDER', 'ANA', 2000, '%s', 'x', now(), %s, now(), now(), now())`,
		state, closed)
}
