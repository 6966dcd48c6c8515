package scale

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Least is the fewest subscriptions that hold every kind of history.
const Least = 100

// Options of Fill.
type Options struct {
	Subscriptions int
	Now           time.Time // the end of all histories
	// Samples are usernames of customers that may be there already.
	Samples []string
	// Progress hears of each part when it is done; nil hears nothing.
	Progress func(part string, rows int64, took time.Duration)
}

// Fill writes the rows in one transaction, which leaves the database as it was
// when it fails, and renews the planner's statistics. Other writers wait for it.
// It needs the sample plans, and refuses a database that has customers of its own.
func Fill(ctx context.Context, pool *pgxpool.Pool, o Options) error {
	if o.Subscriptions < Least {
		return fmt.Errorf("scale: at least %d subscriptions, so that each kind of history is there", Least)
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("scale: %w", err)
	}
	defer conn.Release()
	f := filler{Options: o}
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return f.fill(ctx, tx) }); err != nil {
		return fmt.Errorf("scale: %w", err)
	}
	return f.timed("statistics", func() (int64, error) {
		_, err := conn.Exec(ctx, "VACUUM (ANALYZE) finance.customer_access, finance.dues, "+strings.Join(filled, ", "))
		return 0, err
	})
}

type filler struct{ Options }

// filled are the tables that get rows.
var filled = []string{
	"accounts.users", "accounts.logins", "subscriptions.subscriptions", "subscriptions.transitions",
	"payments.payments", "payments.failed_attempts",
	"payments.refunds", "payments.refund_transitions", "payments.disputes", "payments.dispute_transitions",
	"payments.webhook_logs", "payments.processed_events", "tickets.events",
	"tickets.customers",
	"tickets.orders", "tickets.order_transitions", "tickets.tickets", "tickets.transitions",
}

// bypassed are triggers whose work is done here for all rows at once: the figures are
// counted anew at the end, and logins come with the customers.
var bypassed = []string{
	"accounts.users TRIGGER USER", "subscriptions.subscriptions TRIGGER USER",
	"subscriptions.transitions TRIGGER finance_transition_added",
	"payments.payments TRIGGER USER", "payments.failed_attempts TRIGGER USER", "payments.refunds TRIGGER USER",
	"payments.disputes TRIGGER USER",
}

// part is one statement; $1 is the number of subscriptions, $2 the instant, as far
// as it names them.
type part struct{ name, sql string }

func (f filler) fill(ctx context.Context, tx pgx.Tx) error {
	if err := f.requireEmpty(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, prepare); err != nil {
		return err
	}
	if err := setTriggers(ctx, tx, "DISABLE"); err != nil {
		return err
	}
	for _, p := range parts() {
		if err := f.run(ctx, tx, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if err := setTriggers(ctx, tx, "ENABLE"); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DROP FUNCTION pg_temp.scale_id, pg_temp.scale_dice")
	return err
}

func parts() []part {
	all := append([]part{}, histories...)
	all = append(all, ledgers...)
	all = append(all, store...)
	return append(all,
		part{"statistics of the new rows", "ANALYZE " + strings.Join(filled, ", ")},
		part{"rollups", "SELECT finance.rebuild()"})
}

func (f filler) run(ctx context.Context, tx pgx.Tx, p part) error {
	var args []any
	if strings.Contains(p.sql, "$1") {
		args = append(args, f.Subscriptions)
	}
	if strings.Contains(p.sql, "$2") {
		args = append(args, f.Now.UTC().Truncate(time.Millisecond))
	}
	return f.timed(p.name, func() (int64, error) {
		tag, err := tx.Exec(ctx, p.sql, args...)
		return tag.RowsAffected(), err
	})
}

func (f filler) timed(name string, run func() (int64, error)) error {
	start := time.Now()
	rows, err := run()
	if err == nil && f.Progress != nil {
		f.Progress(name, rows, time.Since(start))
	}
	return err
}

// requireEmpty keeps made-up customers out of a database that has real ones.
func (f filler) requireEmpty(ctx context.Context, tx pgx.Tx) error {
	var strangers int64
	err := tx.QueryRow(ctx,
		`SELECT count(*) FROM accounts.users WHERE user_type = 'customer' AND username <> ALL (coalesce($1::text[], '{}'))`, f.Samples).Scan(&strangers)
	if err != nil {
		return err
	}
	if strangers > 0 {
		return fmt.Errorf("the database has %d customers of its own already; made-up ones go into a new database alone",
			strangers)
	}
	var plans int
	if err := tx.QueryRow(ctx,
		`SELECT count(*) FROM subscriptions.plans WHERE plan_id IN ('basic', 'plus', 'premium')`).
		Scan(&plans); err != nil {
		return err
	}
	if plans < 3 {
		return errors.New("the sample plans basic, plus and premium are not all there")
	}
	return nil
}

func setTriggers(ctx context.Context, tx pgx.Tx, state string) error {
	for _, n := range bypassed {
		table, trigger, _ := strings.Cut(n, " ")
		if _, err := tx.Exec(ctx, "ALTER TABLE "+table+" "+state+" "+trigger); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes what the parts build on, for the transaction alone: ids that look
// like those made at an instant, dice that fall alike in each run, and the
// subscriptions' lives.
const prepare = `
SET LOCAL work_mem = '128MB';
SET LOCAL statement_timeout = 0;
SET LOCAL timezone = 'UTC';
CREATE FUNCTION pg_temp.scale_id(at timestamptz, kind text, n bigint) RETURNS text LANGUAGE sql STABLE AS
    $$SELECT lpad(to_hex(extract(epoch FROM at)::bigint), 8, '0') || kind || lpad(to_hex(n), 14, '0')$$;
CREATE FUNCTION pg_temp.scale_dice(n bigint, salt bigint) RETURNS double precision LANGUAGE sql IMMUTABLE AS
    $$SELECT (hashint8extended(n, salt) & 1073741823) / 1073741824.0::double precision$$;
CREATE TEMPORARY TABLE scale_counts (
    n bigint, customer bigint, kind text, payments integer
) ON COMMIT DROP;
CREATE TEMPORARY TABLE scale_lives (
    n bigint PRIMARY KEY, id text, customer bigint, customer_id text, kind text, status text, is_renewal boolean,
    plan_id text, gateway text, method text, price bigint, months integer, payments integer, failures integer, refunded bigint,
    registered timestamptz, first_paid timestamptz, last_paid timestamptz, ended timestamptz
) ON COMMIT DROP;`
