-- +goose Up
CREATE OR REPLACE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on,
    o.disputed_at, coalesce(r.cents, 0)::bigint AS refunded_cents,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS revenue_cents,
    e.cancelled_at AS event_cancelled_at,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NOT NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS kept_cents,
    o.sold_by_id, o.sold_by_id IS NOT NULL AS is_box_office
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id
LEFT JOIN (
    SELECT local_id, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status = 'done' GROUP BY local_id, payment_ref
) r ON r.local_id = o.id AND r.payment_ref = coalesce(o.gateway_payment_id, o.id);
COMMENT ON VIEW finance.orders IS 'Orders of the ticket store and the box office, one row each. Order revenue is the sum of revenue_cents. Source: tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.orders.order_id IS 'Key.';
COMMENT ON COLUMN finance.orders.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.orders.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.orders.event_title IS 'The events title.';
COMMENT ON COLUMN finance.orders.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.orders.quantity IS 'Tickets.';
COMMENT ON COLUMN finance.orders.unit_price_cents IS 'Price of one ticket as sold, cents.';
COMMENT ON COLUMN finance.orders.total_cents IS 'Cents.';
COMMENT ON COLUMN finance.orders.gateway IS 'gwa or gwb; null for free orders and those of the box office.';
COMMENT ON COLUMN finance.orders.payment_method IS 'credit_card or pix; of the box office cash, card_machine or courtesy; null for free orders of the store.';
COMMENT ON COLUMN finance.orders.gateway_payment_id IS 'The gateways id of its payment.';
COMMENT ON COLUMN finance.orders.without_login IS 'Bought as a guest.';
COMMENT ON COLUMN finance.orders.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.orders.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.orders.paid_at IS 'When it was paid, UTC.';
COMMENT ON COLUMN finance.orders.paid_on IS 'Day of paid_at in the report time zone.';
COMMENT ON COLUMN finance.orders.state IS 'reserved, paid, released, refund_due, refunded or lost (a dispute took its money).';
COMMENT ON COLUMN finance.orders.payment_status IS 'The gateways own word; CHARGEBACK_LOST when a dispute took the money.';
COMMENT ON COLUMN finance.orders.disputed_at IS 'Since when a dispute of its payment is open, UTC; null while none is.';
COMMENT ON COLUMN finance.orders.refunded_cents IS 'Given back of its own payment, or handed back at the box office, cents.';
COMMENT ON COLUMN finance.orders.revenue_cents IS 'total_cents minus refunded_cents where is_paid, else 0; cents.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded, and the event is not called off: an order that was refunded in full, or whose money a dispute took, has left.';
COMMENT ON COLUMN finance.orders.event_cancelled_at IS 'When its event was called off, UTC; null while it is not.';
COMMENT ON COLUMN finance.orders.kept_cents IS 'Of a called off event: total_cents minus refunded_cents, as long as it is here; cents. It is owed or was not asked for, and no revenue.';
COMMENT ON COLUMN finance.orders.sold_by_id IS 'Of the box office, the member of staff who sold it; null of the store.';
COMMENT ON COLUMN finance.orders.is_box_office IS 'Sold at the box office: paid at once, without a gateway.';

-- Whoever asks neither for tickets nor for orders has them not counted.
CREATE OR REPLACE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AND e.cancelled_at IS NULL AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, CASE WHEN e.cancelled_at IS NULL THEN o.paid ELSE 0 END AS paid_orders,
    CASE WHEN e.cancelled_at IS NULL THEN greatest(o.revenue_cents - g.cents, 0) ELSE 0 END AS revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct, e.cancelled_at,
    CASE WHEN e.cancelled_at IS NULL THEN 0 ELSE greatest(o.revenue_cents - g.cents, 0) END AS kept_cents
FROM tickets.events e
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o ON true
LEFT JOIN LATERAL (
    SELECT coalesce(sum(r.amount_cents), 0)::bigint AS cents
    FROM tickets.orders b JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = b.id AND r.payment_ref = coalesce(b.gateway_payment_id, b.id) AND r.status = 'done'
    WHERE b.event_id = e.id AND b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) g ON true;
COMMENT ON VIEW finance.events IS 'Events with their occupancy and revenue, one row each. Source: tickets.events, finance.tickets, tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.events.event_id IS 'Key.';
COMMENT ON COLUMN finance.events.title IS 'Title.';
COMMENT ON COLUMN finance.events.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.events.event_date IS 'Start, UTC.';
COMMENT ON COLUMN finance.events.ends_at IS 'End, UTC; three hours after the start when none was given.';
COMMENT ON COLUMN finance.events.location IS 'Place.';
COMMENT ON COLUMN finance.events.capacity IS 'Places; 0 is unlimited.';
COMMENT ON COLUMN finance.events.is_active IS 'Switched on.';
COMMENT ON COLUMN finance.events.is_on_sale IS 'Sold in the store.';
COMMENT ON COLUMN finance.events.ticket_value_cents IS 'Price of one ticket, cents; 0 is free.';
COMMENT ON COLUMN finance.events.tickets_live IS 'Tickets pending, available or consumed.';
COMMENT ON COLUMN finance.events.tickets_sold IS 'Tickets with an order, not counting those that expired unpaid.';
COMMENT ON COLUMN finance.events.tickets_promo IS 'Tickets with a promo code and no order, likewise.';
COMMENT ON COLUMN finance.events.tickets_pending IS 'Tickets whose order is not paid yet.';
COMMENT ON COLUMN finance.events.tickets_available IS 'Tickets good to enter.';
COMMENT ON COLUMN finance.events.tickets_consumed IS 'Tickets used.';
COMMENT ON COLUMN finance.events.tickets_expired IS 'Tickets expired, paid or not.';
COMMENT ON COLUMN finance.events.orders_count IS 'Orders, paid or not.';
COMMENT ON COLUMN finance.events.paid_orders IS 'Paid orders.';
COMMENT ON COLUMN finance.events.occupancy_pct IS 'tickets_live / capacity x 100, two decimals; 0 for unlimited, and of a called off event.';
COMMENT ON COLUMN finance.events.is_upcoming IS 'Starts after finance.now(), and is not called off.';
COMMENT ON COLUMN finance.events.cancelled_at IS 'When it was called off, UTC; none of its orders and tickets counts.';
COMMENT ON COLUMN finance.events.kept_cents IS 'Of a called off event: what of its paid orders is not given back, cents.';
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents; 0 of a called off event.';

CREATE OR REPLACE VIEW finance.refunds AS
SELECT r.id AS refund_id, r.gateway, r.gateway_refund_id, r.payment_ref, r.purpose,
    CASE WHEN r.purpose = 'subscription' THEN r.local_id END::text AS subscription_id, CASE WHEN r.purpose = 'order' THEN r.local_id END::text AS order_id,
    r.customer_id, r.amount_cents, r.status, r.status = 'done' AS is_done, r.source, r.event_id, r.event_type, r.requested_at,
    r.refunded_at, (r.refunded_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS refunded_on
FROM payments.refunds r;
COMMENT ON VIEW finance.refunds IS 'Refunds, one row each, also those under way and failed. Money counts where is_done. Source: payments.refunds.';
COMMENT ON COLUMN finance.refunds.refund_id IS 'Key.';
COMMENT ON COLUMN finance.refunds.gateway IS 'gwa or gwb; null of what was handed back at the box office.';
COMMENT ON COLUMN finance.refunds.gateway_refund_id IS 'Gateway B re_…; gateway A gives none.';
COMMENT ON COLUMN finance.refunds.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge; handed back at the box office: the order.';
COMMENT ON COLUMN finance.refunds.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.refunds.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.refunds.amount_cents IS 'What is given back, cents.';
COMMENT ON COLUMN finance.refunds.status IS 'requested, pending, done or failed.';
COMMENT ON COLUMN finance.refunds.is_done IS 'The money counts as given back. Only these rows enter totals.';
COMMENT ON COLUMN finance.refunds.event_id IS 'REFUND-… of one asked for here, else the gateways event.';
COMMENT ON COLUMN finance.refunds.event_type IS 'What reported it.';
COMMENT ON COLUMN finance.refunds.requested_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.refunds.refunded_at IS 'When the money counted as given back, UTC; null before.';
COMMENT ON COLUMN finance.refunds.refunded_on IS 'Day of refunded_at in the report time zone.';
COMMENT ON COLUMN finance.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';

CREATE OR REPLACE VIEW finance.box_office AS
SELECT o.id::text AS entry_id, 'sale' AS kind, o.event_id, o.id AS order_id, o.payment_method AS method, o.sold_by_id AS staff_id, o.paid_at AS at,
    (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day, o.quantity AS tickets, o.total_cents AS amount_cents
FROM tickets.orders o WHERE o.sold_by_id IS NOT NULL
UNION ALL
SELECT r.id::text, 'refund', o.event_id, o.id, o.payment_method, r.admin_id, r.refunded_at,
    (r.refunded_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date,
    (SELECT count(*) FROM tickets.tickets t WHERE t.order_id = o.id AND t.refund_id = r.id)::integer, r.amount_cents
FROM tickets.orders o JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = o.id AND r.kind = 'by_hand' WHERE o.sold_by_id IS NOT NULL;
COMMENT ON VIEW finance.box_office IS 'What the box office sold and handed back, one row each; the till of a day is sales minus refunds of the method. Source: tickets.orders, tickets.tickets, payments.refunds.';
COMMENT ON COLUMN finance.box_office.entry_id IS 'Key: of a sale the order, of a refund the refund.';
COMMENT ON COLUMN finance.box_office.kind IS 'sale or refund.';
COMMENT ON COLUMN finance.box_office.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.box_office.order_id IS 'The order (finance.orders).';
COMMENT ON COLUMN finance.box_office.method IS 'cash, card_machine or courtesy: how the order was paid, and is handed back.';
COMMENT ON COLUMN finance.box_office.staff_id IS 'Who sold it, or handed it back.';
COMMENT ON COLUMN finance.box_office.at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.box_office.day IS 'Day of it in the report time zone.';
COMMENT ON COLUMN finance.box_office.tickets IS 'Tickets sold, or given back.';
COMMENT ON COLUMN finance.box_office.amount_cents IS 'Taken, or handed back, cents; 0 of courtesies.';

CREATE OR REPLACE VIEW finance.box_office_personal AS
SELECT o.id::text AS entry_id, o.sold_by AS staff, o.note FROM tickets.orders o WHERE o.sold_by_id IS NOT NULL
UNION ALL
SELECT r.id::text, r.admin, r.reason FROM payments.refunds r WHERE r.kind = 'by_hand';
COMMENT ON VIEW finance.box_office_personal IS 'PERSONAL DATA: who sold and handed back at the box office, and what they wrote. Source: tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.box_office_personal.entry_id IS 'Key, as in finance.box_office.';
COMMENT ON COLUMN finance.box_office_personal.staff IS 'Username of that time.';
COMMENT ON COLUMN finance.box_office_personal.note IS 'Free text: why a courtesy was given, why a sale was taken back.';

CREATE OR REPLACE VIEW finance.unapplied_payments AS
SELECT u.id AS unapplied_id, u.gateway, u.gateway_payment_id, u.kind, u.state, u.state IN ('open', 'refunding') AS is_open, u.customer_id, u.subscription_id,
    u.order_id, u.amount_cents, u.paid_at, u.created_at, (u.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on
FROM payments.unapplied_payments u;
COMMENT ON VIEW finance.unapplied_payments IS 'Money that bought nothing, or that a gateway did not give back, one row each, and what was decided about it. Source: payments.unapplied_payments.';
COMMENT ON COLUMN finance.unapplied_payments.unapplied_id IS 'Key.';
COMMENT ON COLUMN finance.unapplied_payments.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.unapplied_payments.gateway_payment_id IS 'The gateways id of the payment; null while none is known.';
COMMENT ON COLUMN finance.unapplied_payments.kind IS 'late, duplicate, foreign, unrefundable or unknown.';
COMMENT ON COLUMN finance.unapplied_payments.state IS 'open, refunding, refunded, extended or kept.';
COMMENT ON COLUMN finance.unapplied_payments.is_open IS 'Nobody has decided yet, or its refund is under way.';
COMMENT ON COLUMN finance.unapplied_payments.customer_id IS 'The customer (finance.customers); stays when they are deleted; null while it is not known whose it is.';
COMMENT ON COLUMN finance.unapplied_payments.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.unapplied_payments.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.unapplied_payments.amount_cents IS 'What it is about, cents; null while unknown.';
COMMENT ON COLUMN finance.unapplied_payments.paid_at IS 'When it was paid, UTC.';
COMMENT ON COLUMN finance.unapplied_payments.created_at IS 'When it was listed, UTC.';
COMMENT ON COLUMN finance.unapplied_payments.created_on IS 'Day of created_at in the report time zone.';

CREATE OR REPLACE VIEW finance.definitions AS
SELECT 1 AS position, 'active subscriptions' AS figure, 'status = ''active'' and (expires_at is null or in the future)' AS formula,
        'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active' AS edges
UNION ALL SELECT 2, 'MRR', 'sum over active of the monthly price as it was when subscribed (snapshot, cents)',
        'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'
UNION ALL SELECT 3, 'mrr_gwa, mrr_gwb', 'the same by gateway', 'add up to MRR exactly'
UNION ALL SELECT 4, 'ARR', 'MRR x 12', ''
UNION ALL SELECT 5, 'average ticket', 'MRR / active, rounded', ''
UNION ALL SELECT 6, 'overdue', '(payment_failures > 0 or suspended) and status not cancelled or expired', ''
UNION ALL SELECT 7, 'days_overdue', 'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid', ''
UNION ALL SELECT 8, 'total_amount_at_risk', 'sum of the monthly prices of the overdue', ''
UNION ALL SELECT 9, 'exits', 'transitions out of active that end access; unit is the customer; moment is when access stops, not when cancelling was asked',
        'replacing a subscription by renewal is no exit; suspended and paid again within the period is no exit; someone who joins and leaves in the period counts in new and cancelled'
UNION ALL SELECT 10, 'churn of a month', 'cancelled / active_start x 100; active_end = active_start + new - cancelled holds in every row', 'may exceed 100'
UNION ALL SELECT 11, 'churn_rate_30d', 'exits in the last 30 days / active 30 days ago x 100', ''
UNION ALL SELECT 12, 'by_reason', 'payment_failure, customer_cancelled, admin_cancelled, chargeback, expired', 'every exit has exactly one; gone_at_gateway (missing at the gateway, seen twice) counts under admin_cancelled'
UNION ALL SELECT 13, 'gross (series)', 'subscription payments settled in the bucket, by time of payment, once per gateway payment',
        'cash basis: a yearly PIX is whole in its month; card CONFIRMED and, 32 days later, RECEIVED are one payment; ticket sales stay in the events dashboard'
UNION ALL SELECT 14, 'refunds, chargebacks (series)', 'by time of refund, of dispute', 'a won dispute counts back in its own bucket'
UNION ALL SELECT 15, 'net (series)', 'gross - refunds - chargebacks', 'may be negative'
UNION ALL SELECT 16, 'net_revenue_30d', 'MRR - refunds of the last 30 days', 'cash_net_30d is given beside it: gross - refunds - chargebacks of the same days'
UNION ALL SELECT 17, 'payment_success_rate', 'settled attempts / (settled + failed attempts) of the last 30 days x 100',
        'an attempt is one (gateway, payment or invoice, attempt number); a PIX that merely ran out is no attempt'
UNION ALL SELECT 18, 'total_refunded, total_chargebacks', 'sums of the ledgers of subscriptions, all time, cents', ''
UNION ALL SELECT 19, 'order revenue (events)', 'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded) minus what was refunded of them, reais; none of a called off event', 'by time of payment; a whole refund or CHARGEBACK_LOST leaves 0'
UNION ALL SELECT 20, 'occupancy_pct', 'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited; none of a called off event'
UNION ALL SELECT 21, 'tickets sold / promo', 'with an order / with a promo code and no order', 'not counting expired-unpaid'
UNION ALL SELECT 22, 'average order value; tickets per order', 'paid revenue / paid orders; tickets of paid orders / paid orders', ''
UNION ALL SELECT 23, 'tenure', 'days with access of a customer who ever had it', 'until now for who has it'
UNION ALL SELECT 24, 'cohort', 'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month', 'of the present month, now'
UNION ALL SELECT 25, 'ltv', 'net (series) of all time / customers who ever had access, rounded', ''
UNION ALL SELECT 26, 'reactivations', 'new of the months less the customers whose first access began in them', ''
UNION ALL SELECT 27, 'upgrades', 'moves to a plan of a higher tier, by an admin or by subscribing anew', ''
UNION ALL SELECT 28, 'failed payments; recovered', 'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days', ''
UNION ALL SELECT 29, 'movements of a month', 'opening MRR + new + expansion + reactivation - contraction - churn = closing MRR, to the cent, by customer',
        'new: first activation ever of the customer; reactivation: a return after an exit; expansion, contraction: another price while active; a replacement by renewal is none, but for another price; a subscription that returns within the month of its exit is none, but for another price; a trial counts as MRR does'
UNION ALL SELECT 30, 'box office', 'sold: totals of its orders, when sold; refunded: what was handed back, when handed back; net: sold - refunded; by day of the report time zone, method and member of staff',
        'its orders are orders as any: in order revenue, paid orders, averages, tickets sold, occupancy and sales by method, a courtesy as an order of 0; never in gross, refunds or net of subscriptions; a called off event changes nothing in what the till took';
COMMENT ON VIEW finance.definitions IS 'What each figure means, one row a figure, also at GET /api/v1/admin/finance/definitions. Everywhere: money in integer cents, half-open intervals, days and months of the report time zone, a zero denominator gives 0, percentages rounded half up to two decimals.';
COMMENT ON COLUMN finance.definitions.position IS 'Order of reading.';
COMMENT ON COLUMN finance.definitions.figure IS 'Name, as in the API.';
COMMENT ON COLUMN finance.definitions.formula IS 'How it is computed.';
COMMENT ON COLUMN finance.definitions.edges IS 'What holds at the edges; empty when there is nothing to say.';

SELECT finance.grant_analysts();

-- +goose Down
DROP VIEW finance.unapplied_payments;
DROP VIEW finance.box_office_personal;
DROP VIEW finance.box_office;
DROP VIEW finance.orders;
CREATE OR REPLACE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on,
    o.disputed_at, coalesce(r.cents, 0)::bigint AS refunded_cents,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS revenue_cents,
    e.cancelled_at AS event_cancelled_at,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NOT NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS kept_cents
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id
LEFT JOIN (
    SELECT local_id, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status = 'done' GROUP BY local_id, payment_ref
) r ON r.local_id = o.id AND r.payment_ref = o.gateway_payment_id;
COMMENT ON VIEW finance.orders IS 'Orders of the ticket store, one row each. Order revenue is the sum of revenue_cents. Source: tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.orders.order_id IS 'Key.';
COMMENT ON COLUMN finance.orders.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.orders.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.orders.event_title IS 'The events title.';
COMMENT ON COLUMN finance.orders.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.orders.quantity IS 'Tickets.';
COMMENT ON COLUMN finance.orders.unit_price_cents IS 'Price of one ticket as sold, cents.';
COMMENT ON COLUMN finance.orders.total_cents IS 'Cents.';
COMMENT ON COLUMN finance.orders.gateway IS 'gwa or gwb; null for free orders.';
COMMENT ON COLUMN finance.orders.payment_method IS 'credit_card or pix; null for free orders.';
COMMENT ON COLUMN finance.orders.gateway_payment_id IS 'The gateways id of its payment.';
COMMENT ON COLUMN finance.orders.without_login IS 'Bought as a guest.';
COMMENT ON COLUMN finance.orders.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.orders.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.orders.paid_at IS 'When it was paid, UTC.';
COMMENT ON COLUMN finance.orders.paid_on IS 'Day of paid_at in the report time zone.';
COMMENT ON COLUMN finance.orders.state IS 'reserved, paid, released, refund_due, refunded or lost (a dispute took its money).';
COMMENT ON COLUMN finance.orders.payment_status IS 'The gateways own word; CHARGEBACK_LOST when a dispute took the money.';
COMMENT ON COLUMN finance.orders.disputed_at IS 'Since when a dispute of its payment is open, UTC; null while none is.';
COMMENT ON COLUMN finance.orders.refunded_cents IS 'Given back of its own payment, cents.';
COMMENT ON COLUMN finance.orders.revenue_cents IS 'total_cents minus refunded_cents where is_paid, else 0; cents.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded, and the event is not called off: an order that was refunded in full, or whose money a dispute took, has left.';
COMMENT ON COLUMN finance.orders.event_cancelled_at IS 'When its event was called off, UTC; null while it is not.';
COMMENT ON COLUMN finance.orders.kept_cents IS 'Of a called off event: total_cents minus refunded_cents, as long as it is here; cents. It is owed or was not asked for, and no revenue.';

-- Whoever asks neither for tickets nor for orders has them not counted.
CREATE OR REPLACE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AND e.cancelled_at IS NULL AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, CASE WHEN e.cancelled_at IS NULL THEN o.paid ELSE 0 END AS paid_orders,
    CASE WHEN e.cancelled_at IS NULL THEN greatest(o.revenue_cents - g.cents, 0) ELSE 0 END AS revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct, e.cancelled_at,
    CASE WHEN e.cancelled_at IS NULL THEN 0 ELSE greatest(o.revenue_cents - g.cents, 0) END AS kept_cents
FROM tickets.events e
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o ON true
LEFT JOIN LATERAL (
    SELECT coalesce(sum(r.amount_cents), 0)::bigint AS cents
    FROM tickets.orders b JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = b.id AND r.payment_ref = b.gateway_payment_id AND r.status = 'done'
    WHERE b.event_id = e.id AND b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) g ON true;
COMMENT ON VIEW finance.events IS 'Events with their occupancy and revenue, one row each. Source: tickets.events, finance.tickets, tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.events.event_id IS 'Key.';
COMMENT ON COLUMN finance.events.title IS 'Title.';
COMMENT ON COLUMN finance.events.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.events.event_date IS 'Start, UTC.';
COMMENT ON COLUMN finance.events.ends_at IS 'End, UTC; three hours after the start when none was given.';
COMMENT ON COLUMN finance.events.location IS 'Place.';
COMMENT ON COLUMN finance.events.capacity IS 'Places; 0 is unlimited.';
COMMENT ON COLUMN finance.events.is_active IS 'Switched on.';
COMMENT ON COLUMN finance.events.is_on_sale IS 'Sold in the store.';
COMMENT ON COLUMN finance.events.ticket_value_cents IS 'Price of one ticket, cents; 0 is free.';
COMMENT ON COLUMN finance.events.tickets_live IS 'Tickets pending, available or consumed.';
COMMENT ON COLUMN finance.events.tickets_sold IS 'Tickets with an order, not counting those that expired unpaid.';
COMMENT ON COLUMN finance.events.tickets_promo IS 'Tickets with a promo code and no order, likewise.';
COMMENT ON COLUMN finance.events.tickets_pending IS 'Tickets whose order is not paid yet.';
COMMENT ON COLUMN finance.events.tickets_available IS 'Tickets good to enter.';
COMMENT ON COLUMN finance.events.tickets_consumed IS 'Tickets used.';
COMMENT ON COLUMN finance.events.tickets_expired IS 'Tickets expired, paid or not.';
COMMENT ON COLUMN finance.events.orders_count IS 'Orders, paid or not.';
COMMENT ON COLUMN finance.events.paid_orders IS 'Paid orders.';
COMMENT ON COLUMN finance.events.occupancy_pct IS 'tickets_live / capacity x 100, two decimals; 0 for unlimited, and of a called off event.';
COMMENT ON COLUMN finance.events.is_upcoming IS 'Starts after finance.now(), and is not called off.';
COMMENT ON COLUMN finance.events.cancelled_at IS 'When it was called off, UTC; none of its orders and tickets counts.';
COMMENT ON COLUMN finance.events.kept_cents IS 'Of a called off event: what of its paid orders is not given back, cents.';
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents; 0 of a called off event.';

CREATE OR REPLACE VIEW finance.refunds AS
SELECT r.id AS refund_id, r.gateway, r.gateway_refund_id, r.payment_ref, r.purpose,
    CASE WHEN r.purpose = 'subscription' THEN r.local_id END::text AS subscription_id, CASE WHEN r.purpose = 'order' THEN r.local_id END::text AS order_id,
    r.customer_id, r.amount_cents, r.status, r.status = 'done' AS is_done, r.source, r.event_id, r.event_type, r.requested_at,
    r.refunded_at, (r.refunded_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS refunded_on
FROM payments.refunds r;
COMMENT ON VIEW finance.refunds IS 'Refunds, one row each, also those under way and failed. Money counts where is_done. Source: payments.refunds.';
COMMENT ON COLUMN finance.refunds.refund_id IS 'Key.';
COMMENT ON COLUMN finance.refunds.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.refunds.gateway_refund_id IS 'Gateway B re_…; gateway A gives none.';
COMMENT ON COLUMN finance.refunds.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge.';
COMMENT ON COLUMN finance.refunds.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.refunds.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.refunds.amount_cents IS 'What is given back, cents.';
COMMENT ON COLUMN finance.refunds.status IS 'requested, pending, done or failed.';
COMMENT ON COLUMN finance.refunds.is_done IS 'The money counts as given back. Only these rows enter totals.';
COMMENT ON COLUMN finance.refunds.event_id IS 'REFUND-… of one asked for here, else the gateways event.';
COMMENT ON COLUMN finance.refunds.event_type IS 'What reported it.';
COMMENT ON COLUMN finance.refunds.requested_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.refunds.refunded_at IS 'When the money counted as given back, UTC; null before.';
COMMENT ON COLUMN finance.refunds.refunded_on IS 'Day of refunded_at in the report time zone.';
COMMENT ON COLUMN finance.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';

CREATE OR REPLACE VIEW finance.definitions AS
SELECT 1 AS position, 'active subscriptions' AS figure, 'status = ''active'' and (expires_at is null or in the future)' AS formula,
        'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active' AS edges
UNION ALL SELECT 2, 'MRR', 'sum over active of the monthly price as it was when subscribed (snapshot, cents)',
        'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'
UNION ALL SELECT 3, 'mrr_gwa, mrr_gwb', 'the same by gateway', 'add up to MRR exactly'
UNION ALL SELECT 4, 'ARR', 'MRR x 12', ''
UNION ALL SELECT 5, 'average ticket', 'MRR / active, rounded', ''
UNION ALL SELECT 6, 'overdue', '(payment_failures > 0 or suspended) and status not cancelled or expired', ''
UNION ALL SELECT 7, 'days_overdue', 'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid', ''
UNION ALL SELECT 8, 'total_amount_at_risk', 'sum of the monthly prices of the overdue', ''
UNION ALL SELECT 9, 'exits', 'transitions out of active that end access; unit is the customer; moment is when access stops, not when cancelling was asked',
        'replacing a subscription by renewal is no exit; suspended and paid again within the period is no exit; someone who joins and leaves in the period counts in new and cancelled'
UNION ALL SELECT 10, 'churn of a month', 'cancelled / active_start x 100; active_end = active_start + new - cancelled holds in every row', 'may exceed 100'
UNION ALL SELECT 11, 'churn_rate_30d', 'exits in the last 30 days / active 30 days ago x 100', ''
UNION ALL SELECT 12, 'by_reason', 'payment_failure, customer_cancelled, admin_cancelled, chargeback, expired', 'every exit has exactly one; gone_at_gateway (missing at the gateway, seen twice) counts under admin_cancelled'
UNION ALL SELECT 13, 'gross (series)', 'subscription payments settled in the bucket, by time of payment, once per gateway payment',
        'cash basis: a yearly PIX is whole in its month; card CONFIRMED and, 32 days later, RECEIVED are one payment; ticket sales stay in the events dashboard'
UNION ALL SELECT 14, 'refunds, chargebacks (series)', 'by time of refund, of dispute', 'a won dispute counts back in its own bucket'
UNION ALL SELECT 15, 'net (series)', 'gross - refunds - chargebacks', 'may be negative'
UNION ALL SELECT 16, 'net_revenue_30d', 'MRR - refunds of the last 30 days', 'cash_net_30d is given beside it: gross - refunds - chargebacks of the same days'
UNION ALL SELECT 17, 'payment_success_rate', 'settled attempts / (settled + failed attempts) of the last 30 days x 100',
        'an attempt is one (gateway, payment or invoice, attempt number); a PIX that merely ran out is no attempt'
UNION ALL SELECT 18, 'total_refunded, total_chargebacks', 'sums of the ledgers of subscriptions, all time, cents', ''
UNION ALL SELECT 19, 'order revenue (events)', 'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded) minus what was refunded of them, reais; none of a called off event', 'by time of payment; a whole refund or CHARGEBACK_LOST leaves 0'
UNION ALL SELECT 20, 'occupancy_pct', 'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited; none of a called off event'
UNION ALL SELECT 21, 'tickets sold / promo', 'with an order / with a promo code and no order', 'not counting expired-unpaid'
UNION ALL SELECT 22, 'average order value; tickets per order', 'paid revenue / paid orders; tickets of paid orders / paid orders', ''
UNION ALL SELECT 23, 'tenure', 'days with access of a customer who ever had it', 'until now for who has it'
UNION ALL SELECT 24, 'cohort', 'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month', 'of the present month, now'
UNION ALL SELECT 25, 'ltv', 'net (series) of all time / customers who ever had access, rounded', ''
UNION ALL SELECT 26, 'reactivations', 'new of the months less the customers whose first access began in them', ''
UNION ALL SELECT 27, 'upgrades', 'moves to a plan of a higher tier, by an admin or by subscribing anew', ''
UNION ALL SELECT 28, 'failed payments; recovered', 'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days', ''
UNION ALL SELECT 29, 'movements of a month', 'opening MRR + new + expansion + reactivation - contraction - churn = closing MRR, to the cent, by customer',
        'new: first activation ever of the customer; reactivation: a return after an exit; expansion, contraction: another price while active; a replacement by renewal is none, but for another price; a subscription that returns within the month of its exit is none, but for another price; a trial counts as MRR does';
COMMENT ON VIEW finance.definitions IS 'What each figure means, one row a figure, also at GET /api/v1/admin/finance/definitions. Everywhere: money in integer cents, half-open intervals, days and months of the report time zone, a zero denominator gives 0, percentages rounded half up to two decimals.';
COMMENT ON COLUMN finance.definitions.position IS 'Order of reading.';
COMMENT ON COLUMN finance.definitions.figure IS 'Name, as in the API.';
COMMENT ON COLUMN finance.definitions.formula IS 'How it is computed.';
COMMENT ON COLUMN finance.definitions.edges IS 'What holds at the edges; empty when there is nothing to say.';

SELECT finance.grant_analysts();
