-- +goose Up
CREATE OR REPLACE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on,
    o.disputed_at, coalesce(r.cents, 0)::bigint AS refunded_cents,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS revenue_cents
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id
LEFT JOIN (
    SELECT local_id, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status = 'done' GROUP BY local_id, payment_ref
) r ON r.local_id = o.id AND r.payment_ref = o.gateway_payment_id;
COMMENT ON VIEW finance.orders IS 'Orders of the ticket store, one row each. Order revenue is the sum of revenue_cents. Source: tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded: an order that was refunded in full, or whose money a dispute took, has left.';
COMMENT ON COLUMN finance.orders.state IS 'reserved, paid, released, refund_due, refunded or lost (a dispute took its money).';
COMMENT ON COLUMN finance.orders.payment_status IS 'The gateways own word; CHARGEBACK_LOST when a dispute took the money.';
COMMENT ON COLUMN finance.orders.disputed_at IS 'Since when a dispute of its payment is open, UTC; null while none is.';
COMMENT ON COLUMN finance.orders.refunded_cents IS 'Given back of its own payment, cents.';
COMMENT ON COLUMN finance.orders.revenue_cents IS 'total_cents minus refunded_cents where is_paid, else 0; cents.';

CREATE OR REPLACE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, o.paid AS paid_orders, greatest(o.revenue_cents - g.cents, 0) AS revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct
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
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents.';

CREATE OR REPLACE VIEW finance.definitions AS
SELECT 1 AS position, 'active subscriptions' AS figure, 'status = ''active'' and (expires_at is null or in the future)' AS formula,
        'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active' AS edges
UNION ALL SELECT 2, 'MRR', 'sum over active of the monthly price as it was when subscribed (snapshot, cents)',
        'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'
UNION ALL SELECT 3, 'mrr_gwa, mrr_gwb', 'the same by gateway', 'add up to MRR exactly'
UNION ALL SELECT 4, 'ARR', 'MRR x 12', ''
UNION ALL SELECT 5, 'average ticket', 'MRR / active, rounded', ''
UNION ALL SELECT 6, 'overdue', '(payment_failures > 0 or suspended) and status not cancelled or expired', ''
UNION ALL SELECT 7, 'days_overdue', 'calendar days from the due date (next_billing_date when past, else the first failure of the run, else last_payment_at plus the period), at least 0', ''
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
UNION ALL SELECT 19, 'order revenue (events)', 'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded) minus what was refunded of them, reais', 'by time of payment; a whole refund or CHARGEBACK_LOST leaves 0'
UNION ALL SELECT 20, 'occupancy_pct', 'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited'
UNION ALL SELECT 21, 'tickets sold / promo', 'with an order / with a promo code and no order', 'not counting expired-unpaid'
UNION ALL SELECT 22, 'average order value; tickets per order', 'paid revenue / paid orders; tickets of paid orders / paid orders', ''
UNION ALL SELECT 23, 'tenure', 'days with access of a customer who ever had it', 'until now for who has it'
UNION ALL SELECT 24, 'cohort', 'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month', 'of the present month, now'
UNION ALL SELECT 25, 'ltv', 'net (series) of all time / customers who ever had access, rounded', ''
UNION ALL SELECT 26, 'reactivations', 'new of the months less the customers whose first access began in them', ''
UNION ALL SELECT 27, 'upgrades', 'moves to a plan of a higher tier, by an admin or by subscribing anew', ''
UNION ALL SELECT 28, 'failed payments; recovered', 'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days', '';

SELECT finance.grant_analysts();

-- +goose Down
CREATE OR REPLACE VIEW finance.definitions AS
SELECT 1 AS position, 'active subscriptions' AS figure, 'status = ''active'' and (expires_at is null or in the future)' AS formula,
        'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active' AS edges
UNION ALL SELECT 2, 'MRR', 'sum over active of the monthly price as it was when subscribed (snapshot, cents)',
        'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'
UNION ALL SELECT 3, 'mrr_gwa, mrr_gwb', 'the same by gateway', 'add up to MRR exactly'
UNION ALL SELECT 4, 'ARR', 'MRR x 12', ''
UNION ALL SELECT 5, 'average ticket', 'MRR / active, rounded', ''
UNION ALL SELECT 6, 'overdue', '(payment_failures > 0 or suspended) and status not cancelled or expired', ''
UNION ALL SELECT 7, 'days_overdue', 'calendar days from the due date (next_billing_date when past, else the first failure of the run, else last_payment_at plus the period), at least 0', ''
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
UNION ALL SELECT 19, 'order revenue (events)', 'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded), reais', 'refunded orders leave it'
UNION ALL SELECT 20, 'occupancy_pct', 'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited'
UNION ALL SELECT 21, 'tickets sold / promo', 'with an order / with a promo code and no order', 'not counting expired-unpaid'
UNION ALL SELECT 22, 'average order value; tickets per order', 'paid revenue / paid orders; tickets of paid orders / paid orders', ''
UNION ALL SELECT 23, 'tenure', 'days with access of a customer who ever had it', 'until now for who has it'
UNION ALL SELECT 24, 'cohort', 'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month', 'of the present month, now'
UNION ALL SELECT 25, 'ltv', 'net (series) of all time / customers who ever had access, rounded', ''
UNION ALL SELECT 26, 'reactivations', 'new of the months less the customers whose first access began in them', ''
UNION ALL SELECT 27, 'upgrades', 'moves to a plan of a higher tier, by an admin or by subscribing anew', ''
UNION ALL SELECT 28, 'failed payments; recovered', 'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days', '';

CREATE OR REPLACE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, o.paid AS paid_orders, o.revenue_cents AS revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct
FROM tickets.events e
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o ON true;
COMMENT ON VIEW finance.events IS 'Events with their occupancy and revenue, one row each. Source: tickets.events, finance.tickets, finance.orders.';
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders, cents.';
DROP VIEW finance.orders;
CREATE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id;
COMMENT ON VIEW finance.orders IS 'Orders of the ticket store, one row each. Order revenue is the sum of total_cents where is_paid. Source: tickets.orders.';
COMMENT ON COLUMN finance.orders.order_id IS 'Key.';
COMMENT ON COLUMN finance.orders.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.orders.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.orders.event_title IS 'The events title.';
COMMENT ON COLUMN finance.orders.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.orders.quantity IS 'Tickets.';
COMMENT ON COLUMN finance.orders.unit_price_cents IS 'Price of one ticket as sold, cents.';
COMMENT ON COLUMN finance.orders.total_cents IS 'Cents.';
COMMENT ON COLUMN finance.orders.gateway IS 'gwa or gwb; null for free orders.';
COMMENT ON COLUMN finance.orders.payment_method IS 'credit_card or pix; null for free orders.';
COMMENT ON COLUMN finance.orders.gateway_payment_id IS 'The gateways id of its payment.';
COMMENT ON COLUMN finance.orders.payment_status IS 'The gateways own word.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded: a refunded order has left.';
COMMENT ON COLUMN finance.orders.state IS 'reserved, paid, released, refund_due or refunded.';
COMMENT ON COLUMN finance.orders.without_login IS 'Bought as a guest.';
COMMENT ON COLUMN finance.orders.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.orders.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.orders.paid_at IS 'When it was paid, UTC.';
COMMENT ON COLUMN finance.orders.paid_on IS 'Day of paid_at in the report time zone.';
COMMENT ON VIEW finance.events IS 'Events with their occupancy and revenue, one row each. Source: tickets.events, finance.tickets, finance.orders.';
SELECT finance.grant_analysts();
