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
