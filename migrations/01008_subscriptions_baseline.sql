-- +goose Up
CREATE SCHEMA subscriptions;
COMMENT ON SCHEMA subscriptions IS 'Plans, subscriptions, and the history of their states.';

CREATE TABLE subscriptions.plans (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    plan_id                text COLLATE "C" NOT NULL,
    name                   text COLLATE "C" NOT NULL,
    description            text COLLATE "C",
    amount_cents           bigint NOT NULL,
    interval_unit          text COLLATE "C" NOT NULL DEFAULT 'MONTH',
    trial_enabled          boolean NOT NULL DEFAULT false,
    trial_days             integer NOT NULL DEFAULT 0,
    tier                   integer NOT NULL DEFAULT 1,
    is_active              boolean NOT NULL DEFAULT true,
    gwb_product_id         text COLLATE "C",
    gwb_price_id           text COLLATE "C",
    gwb_price_amount_cents bigint,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL,
    register_update_date   timestamptz NOT NULL,
    CONSTRAINT plans_plan_id_unique UNIQUE (plan_id),
    CONSTRAINT plans_plan_id_form CHECK (plan_id ~ '^[a-z0-9_-]{3,50}$'),
    CONSTRAINT plans_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT plans_interval_unit_known CHECK (interval_unit = 'MONTH'),
    CONSTRAINT plans_trial_days_range CHECK (trial_days BETWEEN 0 AND 730),
    CONSTRAINT plans_tier_positive CHECK (tier >= 1),
    CONSTRAINT plans_amount_bounded CHECK (amount_cents <= 100000000),
    CONSTRAINT plans_gwb_price_amount_bounded CHECK (gwb_price_amount_cents <= 100000000)
);
COMMENT ON TABLE subscriptions.plans IS 'What can be subscribed to. plan_id never changes; a changed amount leaves sold subscriptions as they are.';
COMMENT ON COLUMN subscriptions.plans.amount_cents IS 'Price of one month.';
COMMENT ON COLUMN subscriptions.plans.tier IS '1 basic, 2 plus, 3 premium.';
COMMENT ON COLUMN subscriptions.plans.gwb_price_amount_cents IS 'The amount that gwb_price_id stands for: a price cannot change at gateway B, so another amount needs another price.';
CREATE INDEX plans_by_update ON subscriptions.plans (register_update_date DESC, id);

CREATE TABLE subscriptions.subscriptions (
    id                     platform.object_id PRIMARY KEY,
    customer_id            platform.object_id NOT NULL,
    plan_id                text COLLATE "C" NOT NULL CONSTRAINT subscriptions_plan_known REFERENCES subscriptions.plans (plan_id),
    gateway                text COLLATE "C" NOT NULL,
    payment_method         text COLLATE "C" NOT NULL,
    status                 text COLLATE "C" NOT NULL,
    price_cents            bigint NOT NULL,
    period_months          integer NOT NULL,
    trial_days             integer NOT NULL DEFAULT 0,

    gwa_subscription_id    text COLLATE "C",
    gwa_customer_id        text COLLATE "C",
    gwa_pix_auth_id        text COLLATE "C",
    gwb_subscription_id    text COLLATE "C",
    gwb_customer_id        text COLLATE "C",
    gwb_price_id           text COLLATE "C",

    pix_payment_id         text COLLATE "C",
    pix_payload            text COLLATE "C",
    pix_image              text COLLATE "C",
    pix_expires_at         timestamptz,

    started_at             timestamptz,
    next_billing_date      timestamptz,
    last_payment_at        timestamptz,
    expires_at             timestamptz,
    ended_at               timestamptz,
    gateway_deleted_at     timestamptz,
    cancel_at_period_end   boolean NOT NULL DEFAULT false,
    payment_failures       integer NOT NULL DEFAULT 0,
    total_refunded_cents   bigint NOT NULL DEFAULT 0,
    has_chargeback         boolean NOT NULL DEFAULT false,

    intent_open            boolean NOT NULL,
    recovery_tries         integer NOT NULL DEFAULT 0,
    recovery_at            timestamptz,
    last_event_at          timestamptz,
    last_event_id          text COLLATE "C",
    last_paid_invoice_id   text COLLATE "C",

    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL,
    register_update_date   timestamptz NOT NULL,
    pix_automatic          boolean NOT NULL DEFAULT false,
    pix_conciliation_id    text COLLATE "C",
    promo_code             text COLLATE "C",
    first_amount_cents     bigint,
    gateway_ended_at       timestamptz,
    anchor_day             integer,
    renews_id              platform.object_id,
    starts_at              timestamptz,
    gateway_end_open_since timestamptz,
    period_end_told_at     timestamptz,
    period_end_tells       integer NOT NULL DEFAULT 0,
    period_end_look_at     timestamptz,

    CONSTRAINT subscriptions_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT subscriptions_payment_method_known CHECK (payment_method IN ('credit_card', 'pix', 'boleto')),
    CONSTRAINT subscriptions_status_known CHECK (status IN ('active', 'pending', 'suspended', 'cancelled', 'expired')),
    CONSTRAINT subscriptions_price_not_negative CHECK (price_cents >= 0),
    CONSTRAINT subscriptions_period_positive CHECK (period_months >= 1),
    CONSTRAINT subscriptions_trial_days_not_negative CHECK (trial_days >= 0),
    CONSTRAINT subscriptions_failures_not_negative CHECK (payment_failures >= 0),
    CONSTRAINT subscriptions_refunded_not_negative CHECK (total_refunded_cents >= 0),
    CONSTRAINT subscriptions_ended_when_terminal CHECK ((ended_at IS NOT NULL) = (status IN ('cancelled', 'expired'))),
    CONSTRAINT subscriptions_intent_has_recovery CHECK (intent_open = (recovery_at IS NOT NULL)),
    CONSTRAINT subscriptions_automatic_is_pix CHECK (NOT pix_automatic OR payment_method = 'pix'),
    CONSTRAINT subscriptions_first_amount_not_negative CHECK (first_amount_cents >= 0),
    CONSTRAINT subscriptions_anchor_day_of_month CHECK (anchor_day BETWEEN 1 AND 31),
    CONSTRAINT subscriptions_renews_known FOREIGN KEY (renews_id) REFERENCES subscriptions.subscriptions (id),
    CONSTRAINT subscriptions_renews_another CHECK (renews_id <> id),
    CONSTRAINT subscriptions_start_is_of_a_renewal CHECK (starts_at IS NULL OR renews_id IS NOT NULL),
    CONSTRAINT subscriptions_price_bounded CHECK (price_cents <= 100000000),
    CONSTRAINT subscriptions_first_amount_bounded CHECK (first_amount_cents <= 100000000000),
    CONSTRAINT subscriptions_refunded_bounded CHECK (total_refunded_cents <= 100000000000)
);
COMMENT ON TABLE subscriptions.subscriptions IS 'One row a wish to subscribe, written before the gateway is called.';
COMMENT ON COLUMN subscriptions.subscriptions.customer_id IS 'Kept without a foreign key: the record of what was sold outlives the customer.';
COMMENT ON COLUMN subscriptions.subscriptions.price_cents IS 'Price of one month as it was sold; a later change of the plan does not move it.';
COMMENT ON COLUMN subscriptions.subscriptions.period_months IS 'Months that one payment buys: 1 by card, the configured period by PIX.';
COMMENT ON COLUMN subscriptions.subscriptions.trial_days IS 'Free days that this subscription began with; 0 without a trial.';
COMMENT ON COLUMN subscriptions.subscriptions.pix_payment_id IS 'The PIX payment at the gateway (gateway A: pay_, gateway B: pi_).';
COMMENT ON COLUMN subscriptions.subscriptions.pix_image IS 'PNG of the QR code in base64, without a data: prefix.';
COMMENT ON COLUMN subscriptions.subscriptions.expires_at IS 'End of access. Null while a recurrence runs.';
COMMENT ON COLUMN subscriptions.subscriptions.ended_at IS 'When it became cancelled or expired.';
COMMENT ON COLUMN subscriptions.subscriptions.gateway_deleted_at IS 'Set when the gateway deleted a subscription whose paid period is still running.';
COMMENT ON COLUMN subscriptions.subscriptions.payment_failures IS 'Failures in a row; a payment resets it.';
COMMENT ON COLUMN subscriptions.subscriptions.total_refunded_cents IS 'Sum of the refund ledger, rewritten with each refund, never incremented from an event.';
COMMENT ON COLUMN subscriptions.subscriptions.intent_open IS 'The gateway was or is being asked and its answer is not written here yet.';
COMMENT ON COLUMN subscriptions.subscriptions.recovery_at IS 'When the recovery job may next ask the gateway about an open intent.';
COMMENT ON COLUMN subscriptions.subscriptions.last_event_at IS 'The gateway''s instant of the newest status event applied, at most that of its coming; older ones are ignored.';
COMMENT ON COLUMN subscriptions.subscriptions.last_paid_invoice_id IS 'Newest invoice known to be paid; a failure of it that comes late does not count.';
COMMENT ON COLUMN subscriptions.subscriptions.pix_automatic IS 'The payer authorizes debits: a job makes each one.';
COMMENT ON COLUMN subscriptions.subscriptions.pix_conciliation_id IS 'Id of the first code of an automatic PIX: the only thing by which its payment is known.';
COMMENT ON COLUMN subscriptions.subscriptions.promo_code IS 'The code that lowers the first payment.';
COMMENT ON COLUMN subscriptions.subscriptions.first_amount_cents IS 'What the first payment costs when a promo code lowers it; null without one.';
COMMENT ON COLUMN subscriptions.subscriptions.gateway_ended_at IS 'When the gateway confirmed that nothing of an ended subscription runs there.';
COMMENT ON COLUMN subscriptions.subscriptions.anchor_day IS 'Day of the month, in REPORT_TZ, on which periods begin; in a shorter month its last day stands in. Null until the first period is known, and in rows of older versions.';
COMMENT ON COLUMN subscriptions.subscriptions.renews_id IS 'The subscription beside which this one waits, as pending, until the gateway took its card; then one transaction replaces that by this.';
COMMENT ON COLUMN subscriptions.subscriptions.starts_at IS 'End of the paid time of the renewed one, at which the recurrence charges first. Null: at once.';
COMMENT ON COLUMN subscriptions.subscriptions.gateway_end_open_since IS 'Set when a subscription is opened again, for one period, whose recurrence was to end and whose gateway had not confirmed that: what runs there is still to be ended. Null once gateway_deleted_at says that it is.';
COMMENT ON COLUMN subscriptions.subscriptions.period_end_told_at IS 'When a call of ours last told gateway B whether the subscription ends with its period, by our clock. An event of before says nothing about cancel_at_period_end by itself.';
COMMENT ON COLUMN subscriptions.subscriptions.period_end_tells IS 'How many such calls were answered: two that overlap see it, and have the gateway read.';
COMMENT ON COLUMN subscriptions.subscriptions.period_end_look_at IS 'From when on gateway B is to be read, to hold cancel_at_period_end against what stands there; null when that was done.';
CREATE UNIQUE INDEX subscriptions_gwa_subscription_unique ON subscriptions.subscriptions (gwa_subscription_id) WHERE gwa_subscription_id IS NOT NULL;
CREATE UNIQUE INDEX subscriptions_gwa_pix_auth_unique ON subscriptions.subscriptions (gwa_pix_auth_id) WHERE gwa_pix_auth_id IS NOT NULL;
CREATE UNIQUE INDEX subscriptions_gwb_subscription_unique ON subscriptions.subscriptions (gwb_subscription_id) WHERE gwb_subscription_id IS NOT NULL;
CREATE UNIQUE INDEX subscriptions_pix_payment_unique ON subscriptions.subscriptions (gateway, pix_payment_id) WHERE pix_payment_id IS NOT NULL;
CREATE INDEX subscriptions_by_customer ON subscriptions.subscriptions (customer_id, register_date DESC);
CREATE INDEX subscriptions_by_gateway_status ON subscriptions.subscriptions (gateway, status);
CREATE INDEX subscriptions_by_expiry ON subscriptions.subscriptions (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX subscriptions_by_plan ON subscriptions.subscriptions (plan_id);
CREATE INDEX subscriptions_by_update ON subscriptions.subscriptions (register_update_date DESC, id);
CREATE INDEX subscriptions_open_intents ON subscriptions.subscriptions (recovery_at) WHERE intent_open;
CREATE UNIQUE INDEX subscriptions_pix_conciliation_unique ON subscriptions.subscriptions (pix_conciliation_id) WHERE pix_conciliation_id IS NOT NULL;
CREATE INDEX subscriptions_by_next_billing ON subscriptions.subscriptions (next_billing_date) WHERE status IN ('active', 'suspended');
CREATE INDEX subscriptions_active_until ON subscriptions.subscriptions (expires_at) WHERE status = 'active' AND expires_at IS NOT NULL;
COMMENT ON INDEX subscriptions.subscriptions_active_until IS 'Finds the few whose access has ended and whose job has not come yet.';
CREATE INDEX subscriptions_overdue ON subscriptions.subscriptions (id)
    WHERE (payment_failures > 0 OR status = 'suspended') AND status NOT IN ('cancelled', 'expired');
COMMENT ON INDEX subscriptions.subscriptions_overdue IS 'For the list of the overdue.';
CREATE INDEX subscriptions_by_creation ON subscriptions.subscriptions (register_date DESC);
COMMENT ON INDEX subscriptions.subscriptions_by_creation IS 'For reports and exports of a period.';
CREATE INDEX subscriptions_plan_history ON subscriptions.subscriptions (customer_id, started_at, id) INCLUDE (plan_id) WHERE started_at IS NOT NULL;
COMMENT ON INDEX subscriptions.subscriptions_plan_history IS 'The plans that a customer has had, in order: finance.plan_moves.';
CREATE INDEX subscriptions_disputed ON subscriptions.subscriptions (id) WHERE has_chargeback AND status = 'suspended';
CREATE INDEX subscriptions_open_stops ON subscriptions.subscriptions (register_update_date)
WHERE cancel_at_period_end AND gateway_deleted_at IS NULL AND gateway = 'gwa' AND status IN ('active', 'suspended');
COMMENT ON INDEX subscriptions.subscriptions_open_stops IS 'Recurrences that have still to be stopped at gateway A: those that are, and PIX periods that were paid once.';
CREATE UNIQUE INDEX subscriptions_one_live_per_customer ON subscriptions.subscriptions (customer_id)
WHERE status IN ('active', 'pending', 'suspended') AND NOT (status = 'pending' AND renews_id IS NOT NULL);
COMMENT ON INDEX subscriptions.subscriptions_one_live_per_customer IS 'A renewal that waits stands beside it: subscriptions_one_renewal_per_customer.';
CREATE UNIQUE INDEX subscriptions_one_renewal_per_customer ON subscriptions.subscriptions (customer_id) WHERE status = 'pending' AND renews_id IS NOT NULL;
CREATE INDEX subscriptions_by_renewed ON subscriptions.subscriptions (renews_id) WHERE renews_id IS NOT NULL;
CREATE INDEX subscriptions_gateway_end_open ON subscriptions.subscriptions (gateway_end_open_since) WHERE gateway_end_open_since IS NOT NULL;
CREATE INDEX subscriptions_by_gateway_customer ON subscriptions.subscriptions (gateway, (coalesce(gwa_customer_id, gwb_customer_id)));
COMMENT ON INDEX subscriptions.subscriptions_by_gateway_customer IS 'Whose money it is that names no subscription.';
CREATE INDEX subscriptions_with_chargeback ON subscriptions.subscriptions (id) WHERE has_chargeback;
COMMENT ON INDEX subscriptions.subscriptions_with_chargeback IS 'For the sweep: what followed a disputed subscription by renewals';
CREATE INDEX subscriptions_period_end_look ON subscriptions.subscriptions (period_end_look_at) WHERE period_end_look_at IS NOT NULL;

CREATE TABLE subscriptions.transitions (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription_id platform.object_id NOT NULL CONSTRAINT transitions_subscription_known REFERENCES subscriptions.subscriptions (id),
    customer_id     platform.object_id NOT NULL,
    at              timestamptz NOT NULL,
    from_status     text COLLATE "C",
    to_status       text COLLATE "C" NOT NULL,
    reason          text COLLATE "C" NOT NULL,
    source          text COLLATE "C" NOT NULL,
    actor_id        platform.object_id,
    event_id        text COLLATE "C",
    CONSTRAINT transitions_from_known CHECK (from_status IN ('active', 'pending', 'suspended', 'cancelled', 'expired')),
    CONSTRAINT transitions_to_known CHECK (to_status IN ('active', 'pending', 'suspended', 'cancelled', 'expired')),
    CONSTRAINT transitions_moves CHECK (from_status IS DISTINCT FROM to_status OR reason = 'withdrawn')
);
COMMENT ON TABLE subscriptions.transitions IS 'Every change of a subscription''s status, append-only; churn is counted from here.';
COMMENT ON COLUMN subscriptions.transitions.from_status IS 'Null for the row that began the subscription.';
COMMENT ON COLUMN subscriptions.transitions.source IS 'What moved it: subscribe, webhook, recovery, live_read, job, customer or admin.';
COMMENT ON COLUMN subscriptions.transitions.actor_id IS 'The user who asked for it; null for gateways and jobs.';
COMMENT ON COLUMN subscriptions.transitions.event_id IS 'The gateway''s event, when one moved it.';
COMMENT ON CONSTRAINT transitions_moves ON subscriptions.transitions IS 'A withdrawal from what has ended already leaves the status as it is.';
CREATE INDEX transitions_by_subscription ON subscriptions.transitions (subscription_id, id);
CREATE INDEX transitions_by_instant ON subscriptions.transitions (at);
CREATE INDEX transitions_of_renewals ON subscriptions.transitions (subscription_id) WHERE reason = 'renewed';
COMMENT ON INDEX subscriptions.transitions_of_renewals IS 'Tells subscriptions that replaced another.';
CREATE INDEX transitions_of_access ON subscriptions.transitions (customer_id, id) WHERE from_status = 'active' OR to_status = 'active';
COMMENT ON INDEX subscriptions.transitions_of_access IS 'A customer''s movements, in order.';
CREATE INDEX transitions_of_withdrawals ON subscriptions.transitions (subscription_id, id) WHERE reason = 'chargeback_withdrawn';
COMMENT ON INDEX subscriptions.transitions_of_withdrawals IS 'Moves that undo the one before them.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'subscriptions.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION subscriptions.refuse_change() IS 'Keeps the history append-only, also against people at psql.';
CREATE TRIGGER transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON subscriptions.transitions
    FOR EACH STATEMENT EXECUTE FUNCTION subscriptions.refuse_change();

CREATE TABLE subscriptions.debits (
    subscription_id    platform.object_id NOT NULL CONSTRAINT debits_subscription_known REFERENCES subscriptions.subscriptions (id),
    cycle              date NOT NULL,
    due_date           date NOT NULL,
    amount_cents       bigint NOT NULL,
    gateway_payment_id text COLLATE "C",
    register_date      timestamptz NOT NULL,
    ordered_at         timestamptz,
    tried_at           timestamptz NOT NULL,
    paid_at            timestamptz,
    failed_at          timestamptz,
    failure            text,
    retryable          boolean NOT NULL DEFAULT false,
    CONSTRAINT debits_one_per_cycle PRIMARY KEY (subscription_id, cycle),
    CONSTRAINT debits_payment_unique UNIQUE (gateway_payment_id),
    CONSTRAINT debits_amount_positive CHECK (amount_cents > 0),
    CONSTRAINT debits_ordered_has_payment CHECK ((gateway_payment_id IS NULL) = (ordered_at IS NULL)),
    CONSTRAINT debits_amount_bounded CHECK (amount_cents <= 100000000000)
);
COMMENT ON TABLE subscriptions.debits IS 'Debits of automatic PIX, one a cycle, written before the gateway is asked for it.';
COMMENT ON COLUMN subscriptions.debits.cycle IS 'The day, in REPORT_TZ, on which the period begins that the debit pays.';
COMMENT ON COLUMN subscriptions.debits.due_date IS 'The day on which it is to be taken, as the gateway took the order.';
COMMENT ON COLUMN subscriptions.debits.ordered_at IS 'When the gateway took the order; null while its answer is not known.';
COMMENT ON COLUMN subscriptions.debits.tried_at IS 'When somebody last set about ordering it: who comes soon after keeps off, since the gateway takes two orders of one cycle.';
COMMENT ON COLUMN subscriptions.debits.paid_at IS 'When its money was booked.';
COMMENT ON COLUMN subscriptions.debits.failed_at IS 'When we heard first that its day passed without money, or that it was taken back. A retry, or its PIX code, may pay it all the same.';
COMMENT ON COLUMN subscriptions.debits.failure IS 'The gateway''s word for the last failure.';
COMMENT ON COLUMN subscriptions.debits.retryable IS 'Whether the bank may be asked again: not after a final reason, nor after the payer took it back.';

CREATE TABLE subscriptions.dunning_mails (
    subscription_id platform.object_id NOT NULL CONSTRAINT dunning_mails_subscription_known REFERENCES subscriptions.subscriptions (id),
    payment_id      text COLLATE "C" NOT NULL,
    day             integer NOT NULL,
    amount_cents    bigint NOT NULL,
    due_at          timestamptz NOT NULL,
    claimed_at      timestamptz,
    sent_at         timestamptz,
    dropped_at      timestamptz,
    register_date   timestamptz NOT NULL,
    CONSTRAINT dunning_mails_once_a_day PRIMARY KEY (subscription_id, payment_id, day),
    CONSTRAINT dunning_mails_day_not_negative CHECK (day >= 0),
    CONSTRAINT dunning_mails_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT dunning_mails_sent_or_dropped CHECK (sent_at IS NULL OR dropped_at IS NULL),
    CONSTRAINT dunning_mails_amount_bounded CHECK (amount_cents <= 100000000000)
);
COMMENT ON TABLE subscriptions.dunning_mails IS 'Mails about failed payments, one a (payment, day), written in the transaction that recorded the failure.';
COMMENT ON COLUMN subscriptions.dunning_mails.payment_id IS 'The payment at the gateway that failed: the invoice at gateway B, the charge at gateway A.';
COMMENT ON COLUMN subscriptions.dunning_mails.day IS 'Days after the failure.';
COMMENT ON COLUMN subscriptions.dunning_mails.claimed_at IS 'Since when a job has it in hand; after some minutes it counts as lost.';
COMMENT ON COLUMN subscriptions.dunning_mails.dropped_at IS 'When it turned out that nothing is left to be asked for: paid, ended, disputed, or the customer is gone.';
CREATE INDEX dunning_mails_waiting ON subscriptions.dunning_mails (due_at) WHERE sent_at IS NULL AND dropped_at IS NULL;

CREATE TABLE subscriptions.plan_moves (
    id              platform.object_id PRIMARY KEY,
    subscription_id platform.object_id NOT NULL CONSTRAINT plan_moves_subscription_known REFERENCES subscriptions.subscriptions (id),
    plan_id         text COLLATE "C" NOT NULL CONSTRAINT plan_moves_plan_known REFERENCES subscriptions.plans (plan_id),
    state           text COLLATE "C" NOT NULL DEFAULT 'open',
    tries           integer NOT NULL DEFAULT 0,
    next_try_at     timestamptz,
    ended_at        timestamptz,
    created_by_id   platform.object_id,
    register_date   timestamptz NOT NULL,
    from_cents      bigint,
    CONSTRAINT plan_moves_state_known CHECK (state IN ('open', 'done', 'refused', 'void')),
    CONSTRAINT plan_moves_open_has_next_try CHECK ((state = 'open') = (next_try_at IS NOT NULL)),
    CONSTRAINT plan_moves_ended CHECK ((state = 'open') = (ended_at IS NULL)),
    CONSTRAINT plan_moves_tries_not_negative CHECK (tries >= 0),
    CONSTRAINT plan_moves_price_not_negative CHECK (from_cents >= 0),
    CONSTRAINT plan_moves_price_bounded CHECK (from_cents <= 100000000)
);
COMMENT ON TABLE subscriptions.plan_moves IS 'Orders to move a running recurrence to another plan, written before its gateway is asked for the new price.';
COMMENT ON COLUMN subscriptions.plan_moves.plan_id IS 'The plan to move to; the subscription takes it on when the gateway has confirmed the price.';
COMMENT ON COLUMN subscriptions.plan_moves.state IS 'open: the gateway is being asked; done; refused: the gateway certainly kept the old price; void: the subscription ended first.';
COMMENT ON COLUMN subscriptions.plan_moves.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.plan_moves.created_by_id IS 'The admin who ordered it.';
COMMENT ON COLUMN subscriptions.plan_moves.from_cents IS 'The price a month that the move leaves: a charge made ahead may still be of it. Null of moves ordered before this was kept.';
CREATE UNIQUE INDEX plan_moves_one_open ON subscriptions.plan_moves (subscription_id) WHERE state = 'open';
CREATE INDEX plan_moves_waiting ON subscriptions.plan_moves (next_try_at) WHERE state = 'open';

CREATE TABLE subscriptions.pauses (
    id              platform.object_id PRIMARY KEY,
    subscription_id platform.object_id NOT NULL CONSTRAINT pauses_subscription_known REFERENCES subscriptions.subscriptions (id),
    state           text COLLATE "C" NOT NULL DEFAULT 'pausing',
    since           timestamptz NOT NULL,
    until           timestamptz,
    next_due        timestamptz,
    tries           integer NOT NULL DEFAULT 0,
    next_try_at     timestamptz,
    leased_until    timestamptz,
    paused_at       timestamptz,
    ended_at        timestamptz,
    register_date   timestamptz NOT NULL,
    CONSTRAINT pauses_state_known CHECK (state IN ('pausing', 'paused', 'resuming', 'resumed', 'void')),
    CONSTRAINT pauses_asked_has_next_try CHECK ((state IN ('pausing', 'resuming')) = (next_try_at IS NOT NULL)),
    CONSTRAINT pauses_over_has_end CHECK ((state IN ('resumed', 'void')) = (ended_at IS NOT NULL)),
    CONSTRAINT pauses_tries_not_negative CHECK (tries >= 0)
);
COMMENT ON TABLE subscriptions.pauses IS 'Orders to collect nothing for a disputed subscription, written before its gateway is asked, and to collect again.';
COMMENT ON COLUMN subscriptions.pauses.state IS 'pausing: the gateway is being asked to collect nothing; paused: it has confirmed; resuming: it is being asked to collect again; resumed; void: the subscription ended first.';
COMMENT ON COLUMN subscriptions.pauses.since IS 'When the dispute was opened, by the gateway''s clock: money that settles from then on is given back.';
COMMENT ON COLUMN subscriptions.pauses.until IS 'When the dispute was won, by the gateway''s clock, or lifted by an admin; money that settles from then on counts.';
COMMENT ON COLUMN subscriptions.pauses.next_due IS 'The first day for which a charge had been made and was removed.';
COMMENT ON COLUMN subscriptions.pauses.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.pauses.leased_until IS 'Until then one worker asks the gateway, and no other does.';
CREATE UNIQUE INDEX pauses_one_open ON subscriptions.pauses (subscription_id) WHERE state IN ('pausing', 'paused', 'resuming');
CREATE INDEX pauses_waiting ON subscriptions.pauses (next_try_at) WHERE state IN ('pausing', 'resuming');
CREATE INDEX pauses_of_subscription ON subscriptions.pauses (subscription_id, id);

CREATE TABLE subscriptions.debit_retries (
    subscription_id platform.object_id NOT NULL,
    cycle           date NOT NULL,
    retry_date      date NOT NULL,
    state           text NOT NULL,
    reason          text,
    order_id        text COLLATE "C",
    tried_at        timestamptz,
    ordered_at      timestamptz,
    ended_at        timestamptz,
    register_date   timestamptz NOT NULL,
    CONSTRAINT debit_retries_one_a_day PRIMARY KEY (subscription_id, cycle, retry_date),
    CONSTRAINT debit_retries_of_debit FOREIGN KEY (subscription_id, cycle) REFERENCES subscriptions.debits (subscription_id, cycle),
    CONSTRAINT debit_retries_state_known CHECK (state IN ('planned', 'ordered', 'refused', 'paid', 'dropped')),
    CONSTRAINT debit_retries_ended CHECK ((state IN ('planned', 'ordered')) = (ended_at IS NULL)),
    CONSTRAINT debit_retries_ordered CHECK (state <> 'ordered' OR ordered_at IS NOT NULL)
);
COMMENT ON TABLE subscriptions.debit_retries IS 'The days on which a debit of automatic PIX that failed is to be taken again, one row each, planned when it fails.';
COMMENT ON COLUMN subscriptions.debit_retries.state IS 'planned; ordered at the gateway; then refused by the bank, or paid. dropped: it is ordered no more.';
COMMENT ON COLUMN subscriptions.debit_retries.reason IS 'Why it was refused or dropped.';
COMMENT ON COLUMN subscriptions.debit_retries.order_id IS 'The gateway''s id of the order.';
COMMENT ON COLUMN subscriptions.debit_retries.tried_at IS 'When somebody last set about ordering it.';
CREATE UNIQUE INDEX debit_retries_one_ordered ON subscriptions.debit_retries (subscription_id, cycle) WHERE state = 'ordered';
CREATE INDEX debit_retries_planned ON subscriptions.debit_retries (retry_date) WHERE state = 'planned';

CREATE TABLE subscriptions.renewal_charges (
    id                   platform.object_id PRIMARY KEY,
    subscription_id      platform.object_id NOT NULL CONSTRAINT renewal_charges_subscription_known REFERENCES subscriptions.subscriptions (id),
    customer_id          platform.object_id NOT NULL,
    gateway              text COLLATE "C" NOT NULL CONSTRAINT renewal_charges_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    cycle                date,
    amount_cents         bigint NOT NULL CONSTRAINT renewal_charges_amount_positive CHECK (amount_cents > 0),
    state                text COLLATE "C" NOT NULL CONSTRAINT renewal_charges_state_known CHECK (state IN ('open', 'paid', 'unapplied', 'gone')),
    payable_until        timestamptz NOT NULL,
    intent_open          boolean NOT NULL,
    look_at              timestamptz,
    misses               integer NOT NULL DEFAULT 0,
    gateway_payment_id   text COLLATE "C",
    pix_payload          text COLLATE "C",
    pix_image            text COLLATE "C",
    pix_expires_at       timestamptz,
    moved_from           timestamptz,
    moved_to             timestamptz,
    register_date        timestamptz NOT NULL,
    register_update_date timestamptz NOT NULL,
    CONSTRAINT renewal_charges_intent_has_look CHECK (intent_open = (look_at IS NOT NULL)),
    CONSTRAINT renewal_charges_intent_is_open CHECK (NOT intent_open OR state = 'open'),
    CONSTRAINT renewal_charges_paid_moves_the_end CHECK ((state = 'paid') = (moved_to IS NOT NULL)),
    CONSTRAINT renewal_charges_amount_bounded CHECK (amount_cents <= 100000000000)
);
COMMENT ON TABLE subscriptions.renewal_charges IS 'PIX codes that pay a further period of a subscription, written before the gateway is asked; the id is what the gateway is told as our reference.';
COMMENT ON COLUMN subscriptions.renewal_charges.cycle IS 'Of automatic PIX: the day, in REPORT_TZ, on which the period begins that the code pays in place of the debit. Null: the next period of a manual PIX.';
COMMENT ON COLUMN subscriptions.renewal_charges.state IS 'open: it may be paid, or is being ordered. paid: it moved the end. unapplied: paid when nothing could take it. gone: it can no longer be paid.';
COMMENT ON COLUMN subscriptions.renewal_charges.payable_until IS 'Until when the gateway is asked to take the code.';
COMMENT ON COLUMN subscriptions.renewal_charges.look_at IS 'Read by the release before payments.intents had the looks; goes with the next one. Lies ahead while the order has an intent.';
COMMENT ON COLUMN subscriptions.renewal_charges.misses IS 'Written by the release before payments.intents had the looks; goes with the next one.';
COMMENT ON COLUMN subscriptions.renewal_charges.moved_from IS 'The end of the paid time before the payment; null where the subscription had ended.';
COMMENT ON COLUMN subscriptions.renewal_charges.moved_to IS 'The end of the paid time that the payment gave.';
CREATE UNIQUE INDEX renewal_charges_one_open ON subscriptions.renewal_charges (subscription_id, coalesce(cycle, '-infinity'::date)) WHERE state = 'open';
CREATE UNIQUE INDEX renewal_charges_one_per_payment ON subscriptions.renewal_charges (gateway, gateway_payment_id) WHERE gateway_payment_id IS NOT NULL;
CREATE INDEX renewal_charges_open ON subscriptions.renewal_charges (register_date) WHERE state = 'open';
CREATE INDEX renewal_charges_by_customer ON subscriptions.renewal_charges (customer_id);

CREATE TABLE subscriptions.charge_moves (
    id              platform.object_id PRIMARY KEY,
    subscription_id platform.object_id NOT NULL CONSTRAINT charge_moves_subscription_known REFERENCES subscriptions.subscriptions (id),
    from_at         timestamptz NOT NULL,
    to_at           timestamptz NOT NULL,
    state           text COLLATE "C" NOT NULL DEFAULT 'open',
    tries           integer NOT NULL DEFAULT 0,
    next_try_at     timestamptz,
    ended_at        timestamptz,
    created_by_id   platform.object_id,
    register_date   timestamptz NOT NULL,
    refused_since   timestamptz,
    refusal         text COLLATE "C",
    CONSTRAINT charge_moves_state_known CHECK (state IN ('open', 'done', 'refused', 'void')),
    CONSTRAINT charge_moves_open_has_next_try CHECK ((state = 'open') = (next_try_at IS NOT NULL)),
    CONSTRAINT charge_moves_over_has_end CHECK ((state = 'open') = (ended_at IS NULL)),
    CONSTRAINT charge_moves_forward CHECK (to_at > from_at),
    CONSTRAINT charge_moves_tries_not_negative CHECK (tries >= 0)
);
COMMENT ON TABLE subscriptions.charge_moves IS 'Orders to charge a card subscription that was extended first at the end of its extension, written with the extension and before its gateway is asked.';
COMMENT ON COLUMN subscriptions.charge_moves.from_at IS 'When the next charge would have been due: what settles for the time from here to to_at is given back.';
COMMENT ON COLUMN subscriptions.charge_moves.to_at IS 'When the next charge is to be due.';
COMMENT ON COLUMN subscriptions.charge_moves.state IS 'open: the gateway is being asked; done: it has confirmed; refused: it certainly did not; void: the subscription ended first, or the day has come.';
COMMENT ON COLUMN subscriptions.charge_moves.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.charge_moves.refused_since IS 'Since when the gateway finds the open order wrong; it is asked again for a quarter of an hour before that counts.';
COMMENT ON COLUMN subscriptions.charge_moves.refusal IS 'What the gateway said when that counted: the extension was taken back. Null of a refused order: nothing charges there any more, and the extension stands.';
CREATE UNIQUE INDEX charge_moves_one_open ON subscriptions.charge_moves (subscription_id) WHERE state = 'open';
CREATE INDEX charge_moves_waiting ON subscriptions.charge_moves (next_try_at) WHERE state = 'open';
CREATE INDEX charge_moves_of_subscription ON subscriptions.charge_moves (subscription_id, to_at);

CREATE TABLE subscriptions.trial_uses (
    tax_id_mac      bytea PRIMARY KEY,
    subscription_id platform.object_id,
    claimed_at      timestamptz NOT NULL,
    began_at        timestamptz,
    CONSTRAINT trial_uses_subscription_exists FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions (id)
        ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED
);
COMMENT ON TABLE subscriptions.trial_uses IS
    'Who has had a trial: one for each tax id, kept 24 months from its beginning, also after the account is deleted. A row whose trial has not begun counts while its subscription is pending.';
COMMENT ON COLUMN subscriptions.trial_uses.tax_id_mac IS 'HMAC-SHA-256 of the tax id with a server key (TRIAL_KEY): without it no tax id is found in here.';
COMMENT ON COLUMN subscriptions.trial_uses.subscription_id IS 'Null for trials of earlier versions and of deleted accounts.';
CREATE INDEX trial_uses_by_subscription ON subscriptions.trial_uses (subscription_id) WHERE subscription_id IS NOT NULL;
CREATE INDEX trial_uses_by_age ON subscriptions.trial_uses (coalesce(began_at, claimed_at));

CREATE TABLE subscriptions.stray_recurrences (
    gateway       text NOT NULL,
    recurrence_id text NOT NULL,
    reference     platform.object_id NOT NULL,
    payment_id    text NOT NULL,
    held          boolean NOT NULL,
    found_at      timestamptz NOT NULL,
    confirmed_at  timestamptz,
    told_at       timestamptz,
    outcome       text,
    ended_at      timestamptz,
    PRIMARY KEY (gateway, recurrence_id),
    CONSTRAINT stray_recurrences_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT stray_recurrences_outcome_known CHECK (outcome IN ('ended', 'owned', 'kept')),
    CONSTRAINT stray_recurrences_ends_with_outcome CHECK ((outcome IS NULL) = (ended_at IS NULL))
);
COMMENT ON TABLE subscriptions.stray_recurrences IS 'Recurrences that charge at a gateway, name an id of ours and are no subscription''s here, as after a restore of an older database.';
COMMENT ON COLUMN subscriptions.stray_recurrences.reference IS 'The id of ours that it names; no row has it.';
COMMENT ON COLUMN subscriptions.stray_recurrences.payment_id IS 'The charge that told of it; it stands on the list of unapplied payments.';
COMMENT ON COLUMN subscriptions.stray_recurrences.held IS 'Found after a restore: ended only once it is confirmed.';
COMMENT ON COLUMN subscriptions.stray_recurrences.confirmed_at IS 'When a run of marquee reconcile --apply said that it is to end, which it had been listed for before.';
COMMENT ON COLUMN subscriptions.stray_recurrences.told_at IS 'When the operators were told that it waits.';
COMMENT ON COLUMN subscriptions.stray_recurrences.outcome IS 'ended: at the gateway; owned: a subscription has it by now; kept: an admin has kept its charge.';
CREATE INDEX stray_recurrences_open ON subscriptions.stray_recurrences (found_at) WHERE ended_at IS NULL;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions.has_access(customer_id platform.object_id, at timestamptz) RETURNS TABLE (has_access boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT 1 FROM subscriptions.subscriptions s
        WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION subscriptions.has_access(platform.object_id, timestamptz) IS
    'Published: whether the customer may watch then. One row. The date is looked at itself, so that a late expiry job grants nothing.';

-- +goose Down
DROP SCHEMA subscriptions CASCADE;
