package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"marquee/platform/secret"
)

// Analyst is a login that reads the figures in SQL, as CreateAnalyst leaves it.
type Analyst struct {
	Name, Password string
	URL            string   // with the password; empty where the connection string is of another form
	Settings       []string // what its sessions begin with
	Left           []string // statements that an administrator of the server has to run
}

// analystSettings are set for the login itself: it does not inherit those of its role.
var analystSettings = [][2]string{
	{"default_transaction_read_only", "on"},
	{"statement_timeout", "60s"},
	{"idle_in_transaction_session_timeout", "10min"},
	{"search_path", "finance"},
}

var analystName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// CreateAnalyst makes a login of marquee_analyst, or of marquee_analyst_personal, with
// limits of its own, and takes from everybody who is not the database's owner what a
// reader could fill it with, temporary tables, tables in schema public and large objects, and
// hold it up with, advisory locks. A login that exists gets the same and, being somebody's,
// keeps its password.
func CreateAnalyst(ctx context.Context, cfg Config, name string, personal bool) (Analyst, error) {
	a := Analyst{Name: name}
	if !analystName.MatchString(name) || strings.HasPrefix(name, "pg_") {
		return a, errors.New("the name has to be of lower case letters, digits and _, and begin with a letter")
	}
	if _, err := standingOf(ctx, cfg); err != nil {
		return a, err
	}
	address, err := cfg.Database.SessionURL()
	if err != nil {
		return a, err
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return a, fmt.Errorf("the database does not answer: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := refuseNoAnalyst(ctx, conn, name); err != nil {
		return a, err
	}
	if a.Left, err = closeToReaders(ctx, conn, name); err != nil {
		return a, err
	}
	if err := a.makeLogin(ctx, conn, personal); err != nil {
		return a, err
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" && a.Password != "" {
		u.User = url.UserPassword(name, a.Password)
		a.URL = u.String()
	}
	return a, nil
}

// refuseNoAnalyst keeps the command from the logins of programs and administrators.
func refuseNoAnalyst(ctx context.Context, conn *pgx.Conn, name string) error {
	var more bool
	err := conn.QueryRow(ctx,
		`SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR NOT rolcanlogin
			OR EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
				WHERE m.member = r.oid AND g.rolname NOT LIKE 'marquee\_analyst%')
			OR EXISTS (SELECT FROM pg_database WHERE datdba = r.oid)
			OR EXISTS (SELECT FROM pg_class WHERE relowner = r.oid)
		FROM pg_roles r WHERE rolname = $1`, name).Scan(&more)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the role: %w", err)
	}
	if more {
		return fmt.Errorf("role %s exists and is more than an analyst: it owns something, has other rights, or is no login", name)
	}
	return nil
}

// closeToReaders takes what Postgres gives to every login. What this user may not take
// away is returned, to be run by an administrator. Advisory locks, by which a reader could
// hold up refunds, stay with whoever owns something in the database, or may use another of
// its schemas than that of the figures: the product takes such locks itself.
func closeToReaders(ctx context.Context, conn *pgx.Conn, analyst string) (left []string, err error) {
	rows, err := conn.Query(ctx, `
		SELECT format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC;', current_database()) FROM pg_database
		WHERE datname = current_database() AND (datacl IS NULL OR EXISTS (SELECT FROM aclexplode(datacl) WHERE grantee = 0 AND privilege_type = 'TEMPORARY'))
		UNION ALL
		SELECT 'REVOKE CREATE ON SCHEMA public FROM PUBLIC;' FROM pg_namespace
		WHERE nspname = 'public' AND EXISTS (SELECT FROM aclexplode(nspacl) WHERE grantee = 0 AND privilege_type = 'CREATE')
		UNION ALL
		SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC;', oid::regprocedure) FROM pg_proc
		WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^(lo_|lowrite$|loread$)'
			AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0))
		UNION ALL
		SELECT format('GRANT EXECUTE ON FUNCTION %1$s TO %2$s; REVOKE EXECUTE ON FUNCTION %1$s FROM PUBLIC;', p.oid::regprocedure, keep.names)
		FROM pg_proc p, (
			SELECT string_agg(quote_ident(r.rolname), ', ' ORDER BY r.rolname) AS names FROM pg_roles r
			WHERE r.rolname <> $1 AND r.rolname !~ '^(pg_|marquee_analyst)' AND r.oid IN (
				SELECT datdba FROM pg_database WHERE datname = current_database()
				UNION SELECT current_user::regrole
				UNION SELECT relowner FROM pg_class
				UNION SELECT nspowner FROM pg_namespace
				UNION SELECT a.grantee FROM pg_namespace n, aclexplode(n.nspacl) a
				WHERE n.nspname NOT IN ('public', 'finance', 'pg_catalog', 'information_schema'))
		) keep
		WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_'
			AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) WHERE grantee = 0))
		ORDER BY 1 DESC`, analyst)
	if err != nil {
		return nil, fmt.Errorf("look at what everybody may: %w", err)
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look at what everybody may: %w", err)
	}
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil && !insufficient(err) {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	// Postgres only warns when it has revoked nothing: what still stands is left to do.
	rows, err = conn.Query(ctx, `
		SELECT s FROM unnest($1::text[]) s WHERE CASE
			WHEN s LIKE '%ON DATABASE%' THEN EXISTS (SELECT FROM pg_database WHERE datname = current_database()
				AND (datacl IS NULL OR EXISTS (
					SELECT FROM aclexplode(datacl) WHERE grantee = 0 AND privilege_type = 'TEMPORARY')))
			WHEN s LIKE '%ON SCHEMA%' THEN EXISTS (SELECT FROM pg_namespace n, aclexplode(nspacl) a
				WHERE n.nspname = 'public' AND a.grantee = 0 AND a.privilege_type = 'CREATE')
			ELSE EXISTS (SELECT FROM pg_proc p
				WHERE p.oid = substring(s FROM 'REVOKE EXECUTE ON FUNCTION (.*) FROM PUBLIC')::regprocedure
					AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0))) END`, statements)
	if err != nil {
		return nil, fmt.Errorf("look at what everybody may still: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// makeLogin makes the role, or sets what is missing of one that is there.
func (a *Analyst) makeLogin(ctx context.Context, conn *pgx.Conn, personal bool) error {
	name, group := pgx.Identifier{a.Name}.Sanitize(), "marquee_analyst"
	if personal {
		group = "marquee_analyst_personal"
	}
	password := secret.Random(18)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var there bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", a.Name).
			Scan(&there); err != nil {
			return fmt.Errorf("look for the role: %w", err)
		}
		var statements []string
		if !there {
			a.Password = password
			statements = append(statements,
				"CREATE ROLE "+name+
					" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT 5 PASSWORD '"+password+
					"'")
		}
		statements = append(statements, "REVOKE marquee_analyst, marquee_analyst_personal FROM "+name,
			"GRANT "+group+" TO "+name)
		for _, s := range analystSettings {
			a.Settings = append(a.Settings, s[0]+" = "+s[1])
			statements = append(statements, "ALTER ROLE "+name+" SET "+s[0]+" = '"+s[1]+"'")
		}
		for _, statement := range append(statements, "SELECT finance.grant_analysts()") {
			if _, err := tx.Exec(ctx, statement); err != nil {
				if insufficient(err) {
					return errors.New("the user of DATABASE_URL may not make logins: run this command with that of an administrator of the server, such as postgres")
				}
				return fmt.Errorf("make the login: %w", err)
			}
		}
		return nil
	})
}

func insufficient(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == "42501"
}
