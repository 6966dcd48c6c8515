package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A new database costs its server more than most tests ask of it: its files, its sessions, and
// what each session plans and looks up for the first time. So the databases of DB are emptied
// and used again with their sessions, and what the migrations left in them is put back; sequences
// go on, so that no id comes twice. One is dropped instead when its test has failed, changed the
// schema, written much, or left sessions on it that are not its pool's.

const (
	// spares bounds the databases that wait for their next test.
	spares = 8
	// worthEmptying is the size of all tables in bytes, beyond which a new database is cheaper.
	worthEmptying = 4 << 20
)

var errDropped = errors.New("pgtest: the database is not used again")

// spare is a database of DB with its sessions.
type spare struct {
	*database
	pool   *pgxpool.Pool
	origin origin
}

// origin is how the migrations left a database.
type origin struct {
	xid      int64             // nothing that they wrote is younger
	objects  int64             // what the schema is made of
	rows     map[string]int64  // of each table that has some
	contents map[string][]byte // of the same, as COPY writes them
}

// spareDatabase is one that an earlier test has left, or a new one.
func (s *server) spareDatabase(t testing.TB) (*spare, error) {
	s.mu.Lock()
	if last := len(s.spares) - 1; last >= 0 {
		sp := s.spares[last]
		s.spares = s.spares[:last]
		s.mu.Unlock()
		return sp, nil
	}
	s.mu.Unlock()
	d, err := s.clone(t.Context())
	if err != nil {
		return nil, err
	}
	sp := &spare{database: d}
	// It outlives the test.
	ctx := context.WithoutCancel(t.Context())
	if sp.pool, err = d.openPool(ctx, poolSize); err != nil {
		return nil, err
	}
	return sp, sp.remember(ctx)
}

// giveBack empties the database for the next test, or drops it.
func (s *server) giveBack(t testing.TB, sp *spare) {
	if !t.Failed() && sp.empty(context.WithoutCancel(t.Context())) == nil {
		s.mu.Lock()
		room := len(s.spares) < spares
		if room {
			s.spares = append(s.spares, sp)
		}
		s.mu.Unlock()
		if room {
			return
		}
	}
	closePool(t, sp.pool)
	s.finish(sp.name)
}

// objectsSQL counts what the schema is made of, and what of it is younger than $1, with the settings of the database.
// Numbers below 16384 are the system's.
const objectsSQL = `
	SELECT count(*), count(*) FILTER (WHERE xid > $1) FROM (
		SELECT xmin::text::bigint FROM pg_class WHERE oid >= 16384
		UNION ALL SELECT xmin::text::bigint FROM pg_attribute WHERE attrelid >= 16384
		UNION ALL SELECT xmin::text::bigint FROM pg_index WHERE indexrelid >= 16384
		UNION ALL SELECT xmin::text::bigint FROM pg_proc WHERE oid >= 16384
		UNION ALL SELECT xmin::text::bigint FROM pg_rewrite WHERE oid >= 16384
		UNION ALL SELECT xmin::text::bigint FROM pg_statistic WHERE starelid >= 16384
		UNION ALL SELECT xmin::text::bigint FROM pg_constraint
		UNION ALL SELECT xmin::text::bigint FROM pg_trigger
		UNION ALL SELECT xmin::text::bigint FROM pg_attrdef
		UNION ALL SELECT xmin::text::bigint FROM pg_namespace
		UNION ALL SELECT xmin::text::bigint FROM pg_db_role_setting
			WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
	) AS object (xid)`

// tablesSQL are the tables that have had rows, and their size.
const tablesSQL = `
	SELECT name, size FROM (
		SELECT format('%I.%I', n.nspname, c.relname), pg_relation_size(c.oid)
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
	) AS tables (name, size)
	WHERE size > 0`

// remember notes what the database is put back to. No test has written in it yet.
func (sp *spare) remember(ctx context.Context) error {
	conn, err := sp.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	o := &sp.origin
	if err := conn.QueryRow(ctx, "SELECT pg_current_xact_id()::text::bigint").Scan(&o.xid); err != nil {
		return err
	}
	var younger int64
	if err := conn.QueryRow(ctx, objectsSQL, o.xid).Scan(&o.objects, &younger); err != nil {
		return err
	}
	rows, _ := conn.Query(ctx, tablesSQL)
	tables, err := numbers(rows)
	if err != nil {
		return err
	}
	o.rows, o.contents = map[string]int64{}, map[string][]byte{}
	for table := range tables {
		var content bytes.Buffer
		copied, err := conn.Conn().PgConn().CopyTo(ctx, &content, "COPY "+table+" TO STDOUT")
		if err != nil {
			return err
		}
		o.rows[table], o.contents[table] = copied.RowsAffected(), content.Bytes()
	}
	return nil
}

// empty puts the database back to its origin, or says that it is to be dropped.
func (sp *spare) empty(ctx context.Context) error {
	if sp.pool.Stat().AcquiredConns() > 0 {
		return errDropped
	}
	idle := sp.pool.AcquireAllIdle(ctx)
	defer func() {
		for _, conn := range idle {
			conn.Release()
		}
	}()
	if len(idle) == 0 {
		return errDropped
	}
	for _, conn := range idle {
		const begunAnew = "RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all()"
		if _, err := conn.Conn().PgConn().Exec(ctx, begunAnew).ReadAll(); err != nil {
			return err
		}
	}
	w, err := sp.written(ctx, idle[0].Conn())
	if err != nil {
		return err
	}
	if w.sessions > len(idle) || w.objects != sp.origin.objects || w.younger > 0 || w.size() > worthEmptying {
		return errDropped
	}
	return pgx.BeginFunc(ctx, idle[0], func(tx pgx.Tx) error { return sp.putBack(ctx, tx, w) })
}

// written is what a test has left in its database.
type written struct {
	sessions         int
	objects, younger int64
	tables           map[string]int64 // and their sizes
	changed          []string         // of those that had rows at the origin
}

func (w *written) size() (all int64) {
	for _, size := range w.tables {
		all += size
	}
	return all
}

func (sp *spare) written(ctx context.Context, conn *pgx.Conn) (*written, error) {
	w := &written{}
	var batch pgx.Batch
	batch.Queue(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`).
		QueryRow(func(row pgx.Row) error { return row.Scan(&w.sessions) })
	batch.Queue(objectsSQL, sp.origin.xid).QueryRow(func(row pgx.Row) error { return row.Scan(&w.objects, &w.younger) })
	batch.Queue(tablesSQL).Query(func(rows pgx.Rows) (err error) {
		w.tables, err = numbers(rows)
		return err
	})
	for table, n := range sp.origin.rows {
		batch.Queue("SELECT count(*) <> $1 OR coalesce(max(xmin::text::bigint) > $2, false) FROM "+table, n, sp.origin.xid).
			QueryRow(func(row pgx.Row) error {
				var changed bool
				err := row.Scan(&changed)
				if changed {
					w.changed = append(w.changed, table)
				}
				return err
			})
	}
	return w, conn.SendBatch(ctx, &batch).Close()
}

// putBack deletes without triggers and foreign keys, which would write and look up more.
func (sp *spare) putBack(ctx context.Context, tx pgx.Tx, w *written) error {
	var all strings.Builder
	all.WriteString("SET LOCAL session_replication_role = replica;")
	for table := range w.tables {
		if _, kept := sp.origin.rows[table]; !kept || slices.Contains(w.changed, table) {
			fmt.Fprintf(&all, "DELETE FROM %s;", table)
		}
	}
	session := tx.Conn().PgConn()
	if _, err := session.Exec(ctx, all.String()).ReadAll(); err != nil {
		return err
	}
	if len(w.changed) == 0 {
		return nil
	}
	for _, table := range w.changed {
		if _, err := session.CopyFrom(ctx, bytes.NewReader(sp.origin.contents[table]), "COPY "+table+" FROM STDIN"); err != nil {
			return err
		}
	}
	return tx.QueryRow(ctx, "SELECT pg_current_xact_id()::text::bigint").Scan(&sp.origin.xid)
}

// numbers reads rows of a name and a number.
func numbers(rows pgx.Rows) (map[string]int64, error) {
	all := map[string]int64{}
	var name string
	var n int64
	_, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		all[name] = n
		return nil
	})
	return all, err
}
