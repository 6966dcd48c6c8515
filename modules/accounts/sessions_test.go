package accounts_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// loginFrom signs in with what a client calls itself.
func (b *bundle) loginFrom(t *testing.T, agent, username string) response {
	t.Helper()
	got := b.client.With("User-Agent", agent).PostForm("/token", url.Values{
		"username": {username}, "password": {accountstest.Password},
	})
	require.Equal(t, 200, got.Status, string(got.Body))
	return decoded(t, got.Status, got.Header, got.Body)
}

func (b *bundle) refresh(t *testing.T, session response) response {
	t.Helper()
	return b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": session.text("refresh_token")})
}

func (b *bundle) remove(t *testing.T, path, token string) response {
	t.Helper()
	return b.send(t, http.MethodDelete, path, token, "", "")
}

// sessionsOf lists what the path shows to the token.
func (b *bundle) sessionsOf(t *testing.T, path, token string) []map[string]any {
	t.Helper()
	a := b.get(t, path, token)
	require.Equal(t, 200, a.status, a.raw)
	docs, _ := a.body["docs"].([]any)
	all := make([]map[string]any, len(docs))
	for i, doc := range docs {
		all[i] = doc.(map[string]any)
	}
	return all
}

// sidOf is the claim sid of a token.
func sidOf(t *testing.T, token string) string {
	t.Helper()
	var claims jwt.MapClaims
	_, _, err := jwt.NewParser().ParseUnverified(token, &claims)
	require.NoError(t, err)
	sid, _ := claims["sid"].(string)
	return sid
}

func TestASignInIsASession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	first := b.loginFrom(t, "Phone/1", c.Username)
	b.clock.Advance(time.Minute)
	second := b.loginFrom(t, "Tablet\u202e "+strings.Repeat("é", 400)+"\xff", c.Username)
	sid := sidOf(t, first.text("access_token"))
	require.True(t, objectid.Valid(sid))
	require.Equal(t, sid, sidOf(t, first.text("refresh_token")))
	require.NotEqual(t, sid, sidOf(t, second.text("access_token")))

	all := b.sessionsOf(t, "/me/sessions", first.text("access_token"))
	require.Len(t, all, 2)
	require.Equal(t, "Tablet "+strings.Repeat("é", 293), all[0]["device"], "what cannot be shown is left out")
	require.Equal(t, false, all[0]["current"])
	started := httpapi.Time(b.clock.Now().Add(-time.Minute)).String()
	require.Equal(t, map[string]any{
		"_id": sid, "method": "login", "second_factor": false, "device": "Phone/1", "address": "127.0.0.1",
		"started_at": started, "refreshed_at": started,
		"expires_at": httpapi.Time(b.clock.Now().Add(30*24*time.Hour - time.Minute)).String(), "current": true,
	}, all[1])

	b.clock.Advance(time.Minute)
	renewed := b.refresh(t, first)
	require.Equal(t, 200, renewed.status, renewed.raw)
	require.Equal(t, sid, sidOf(t, renewed.text("access_token")), "rotation keeps it")
	require.Equal(t, sid, sidOf(t, renewed.text("refresh_token")))
	all = b.sessionsOf(t, "/me/sessions", renewed.text("access_token"))
	require.Len(t, all, 2)
	require.Equal(t, sid, all[0]["_id"], "the last used first")
	require.Equal(t, started, all[0]["started_at"])
	require.Equal(t, httpapi.Time(b.clock.Now()).String(), all[0]["refreshed_at"])
	require.Equal(t, httpapi.Time(b.clock.Now().Add(30*24*time.Hour)).String(), all[0]["expires_at"])
	require.Equal(t, "Go-http-client/1.1", all[0]["device"], "of the last refresh")
	b.clock.Advance(31 * 24 * time.Hour)
	last := b.token(t, c.Username)
	require.Len(t, b.sessionsOf(t, "/me/sessions", last), 1, "what is over is not listed")
	require.Equal(t, 401, b.get(t, "/me/sessions", "").status)
}

func TestSigningUpIsASession(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	later := b.post(t, "/customers/signup", "", signupOf("lia", map[string]any{"verify_email_now": false}))
	require.Equal(t, 200, later.status, later.raw)
	token := later.text("auth", "access_token")
	all := b.sessionsOf(t, "/me/sessions", token)
	require.Len(t, all, 1)
	require.Equal(t, "signup", all[0]["method"])
	require.Equal(t, true, all[0]["current"])
	require.Equal(t, later.text("auth", "expiration"), all[0]["expires_at"], "it has no refresh token")

	require.Equal(t, 200, b.post(t, "/customers/signup", "", signupOf("mia", nil)).status)
	confirmed := b.post(t, "/customers/signup", "",
		signupOf("mia", map[string]any{"verification_code": b.mailedCode(t, "mia@example.com", 1)}))
	require.Equal(t, 200, confirmed.status, confirmed.raw)
	other := confirmed.text("info", "auth", "access_token")
	require.NotEmpty(t, sidOf(t, other))
	require.Equal(t, 200, b.remove(t, "/me/sessions/"+sidOf(t, token), token).status)
	require.Equal(t, 403, b.get(t, "/current-user", token).status)
	_, err := b.files.CallerByArchiveToken(t.Context(), later.text("auth", "archive_token"))
	require.True(t, fault.Is(err, fault.KindForbidden), "%v", err)
	require.Equal(t, 200, b.get(t, "/current-user", other).status)
}

// Each of the ways in ends with the session, and only with its own.
func TestAnEndedSessionIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	this, other := b.login(t, c.Username, accountstest.Password), b.login(t, c.Username, accountstest.Password)
	again := b.post(t, "/auth/refresh-archive-token", other.text("access_token"), "")
	renewed := b.refresh(t, other)
	a := b.remove(t, "/me/sessions/"+sidOf(t, other.text("access_token")), this.text("access_token"))
	require.Equal(t, 200, a.status, a.raw)
	require.JSONEq(t, `{"message":"The session is ended.","ended":1}`, a.raw)

	for _, token := range []string{other.text("access_token"), renewed.text("access_token")} {
		refused := b.get(t, "/current-user", token)
		require.Equal(t, 403, refused.status)
		require.JSONEq(t, `{"detail":"`+badToken+`"}`, refused.raw)
	}
	for _, session := range []response{other, renewed} {
		refused := b.refresh(t, session)
		require.Equal(t, 403, refused.status)
		require.JSONEq(t, `{"detail":"`+badToken+`"}`, refused.raw)
	}
	for _, archive := range []string{other.text("archive_token"), again.text("archive_token")} {
		_, err := b.files.CallerByArchiveToken(t.Context(), archive)
		require.True(t, fault.Is(err, fault.KindForbidden), "%v", err)
	}
	require.Equal(t, 200, b.get(t, "/current-user", this.text("access_token")).status)
	_, err := b.files.CallerByArchiveToken(t.Context(), this.text("archive_token"))
	require.NoError(t, err)
	require.Len(t, b.sessionsOf(t, "/me/sessions", this.text("access_token")), 1)
	require.Equal(t, 404, b.remove(t, "/me/sessions/"+sidOf(t, other.text("access_token")),
		this.text("access_token")).status, "it is ended already")

	// As long as the last of its tokens lives, and then the row goes.
	b.clock.Advance(30*24*time.Hour - time.Second)
	require.Equal(t, 403, b.refresh(t, renewed).status)
	require.NoError(t, accounts.ForgetOld(t.Context(), b.svc))
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM accounts.sessions`))
	b.clock.Advance(2 * time.Hour)
	require.NoError(t, accounts.ForgetOld(t.Context(), b.svc))
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.sessions`))

	fresh := b.login(t, c.Username, accountstest.Password)
	require.Equal(t, 200, b.remove(t, "/me/sessions/"+strings.ToUpper(sidOf(t, fresh.text("access_token"))),
		fresh.text("access_token")).status, "one signs out by ending the session that asks")
	require.Equal(t, 403, b.get(t, "/me/sessions", fresh.text("access_token")).status)
}

func TestAllOtherSessionsEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, stranger := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	strangers := b.token(t, stranger.Username)
	this := b.token(t, c.Username)
	others := []string{b.token(t, c.Username), b.token(t, c.Username)}
	a := b.remove(t, "/me/sessions", this)
	require.Equal(t, 200, a.status, a.raw)
	require.JSONEq(t, `{"message":"2 sessions ended.","ended":2}`, a.raw)
	require.Equal(t, 200, b.get(t, "/current-user", this).status)
	for _, token := range others {
		require.Equal(t, 403, b.get(t, "/current-user", token).status)
	}
	require.Equal(t, 200, b.get(t, "/current-user", strangers).status)
	require.JSONEq(t, `{"message":"0 sessions ended.","ended":0}`, b.remove(t, "/me/sessions", this).raw)
	// What was ended otherwise is not ended once more.
	b.token(t, c.Username)
	b.clock.Advance(time.Minute)
	changed := changePassword(t, b, this, accountstest.Password, newPassword)
	require.Equal(t, 200, changed.status, changed.raw)
	require.Equal(t, sidOf(t, this), sidOf(t, changed.text("access_token")), "the session goes on")
	require.Len(t, b.sessionsOf(t, "/me/sessions", changed.text("access_token")), 1)
	require.JSONEq(t, `{"message":"0 sessions ended.","ended":0}`,
		b.remove(t, "/me/sessions", changed.text("access_token")).raw)
}

// Whose session it is, the statement says: an id that is known to somebody else is none.
func TestNobodyEndsTheSessionOfAnother(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	victim := sidOf(t, o.customerJWT)
	other := o.token(t, accountstest.Customer(t, o.db).Username)
	for _, token := range []string{other, o.adminToken, o.rootToken} {
		require.Equal(t, 404, o.bundle.remove(t, "/me/sessions/"+victim, token).status)
	}
	for _, token := range []string{other, o.adminToken} {
		for _, path := range []string{"", "/" + victim} {
			a := o.bundle.remove(t, "/admin/users/"+o.customer.ID.String()+"/sessions"+path, token)
			require.Equal(t, 403, a.status, a.raw)
		}
		require.Equal(t, 403, o.get(t, "/admin/users/"+o.customer.ID.String()+"/sessions", token).status)
	}
	require.Equal(t, 404, o.bundle.remove(t,
		"/admin/users/"+o.admin.ID.String()+"/sessions/"+victim, o.rootToken).status, "it is not the admin's")
	require.Equal(t, 200, o.get(t, "/current-user", o.customerJWT).status)
	require.Equal(t, 422, o.bundle.remove(t, "/me/sessions/x", other).status)
}

func TestRootSeesAndEndsTheSessionsOfOthers(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	for _, of := range []struct {
		id       objectid.ID
		token    string
		resource string
	}{{o.customer.ID, o.customerJWT, "customers"}, {o.admin.ID, o.adminToken, "users"}} {
		path := "/admin/users/" + of.id.String() + "/sessions"
		second := o.token(t, map[string]string{"customers": o.customer.Username, "users": o.admin.Username}[of.resource])
		third := o.token(t, map[string]string{"customers": o.customer.Username, "users": o.admin.Username}[of.resource])
		all := o.sessionsOf(t, path, o.rootToken)
		require.Len(t, all, 3)
		for _, s := range all {
			require.Equal(t, false, s["current"])
		}
		require.Equal(t, 200, o.bundle.remove(t, path+"/"+sidOf(t, of.token), o.rootToken).status)
		require.Equal(t, 403, o.get(t, "/current-user", of.token).status)
		require.Equal(t, 200, o.get(t, "/current-user", second).status)
		require.JSONEq(t, `{"message":"2 sessions ended.","ended":2}`, o.bundle.remove(t, path, o.rootToken).raw)
		for _, token := range []string{second, third} {
			require.Equal(t, 403, o.get(t, "/current-user", token).status)
		}
		require.Empty(t, o.sessionsOf(t, path, o.rootToken))
		require.Equal(t, 2, o.count(t, `SELECT count(*) FROM accounts.audit_log WHERE actor_id = $1 AND record_id = $2
			AND resource = $3 AND action IN ('user_session_end', 'user_session_end_all')`, o.root.ID, of.id, of.resource))
	}
	nobody := "/admin/users/" + objectid.New().String() + "/sessions"
	require.Equal(t, 404, o.get(t, nobody, o.rootToken).status)
	require.Equal(t, 404, o.bundle.remove(t, nobody, o.rootToken).status)
	require.Equal(t, 404, o.bundle.remove(t, nobody+"/"+objectid.New().String(), o.rootToken).status)
}

// older are tokens of a release before sessions.
func older(t *testing.T, b *bundle, userID objectid.ID, kind, id string) string {
	t.Helper()
	return signed(t, "test", "0123456789abcdef0123456789abcdef", jwt.MapClaims{
		"user_id": userID, "kind": kind, "jti": id, "iat_ms": b.clock.Now().UnixMilli(),
		"exp": b.clock.Now().Add(30 * 24 * time.Hour).Unix(),
	})
}

func TestTokensOfBeforeSessionsStayGood(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	access := older(t, b, c.ID, "access", "an access token")
	require.Equal(t, 200, b.get(t, "/current-user", access).status)
	require.Empty(t, b.sessionsOf(t, "/me/sessions", access))
	archive := b.post(t, "/auth/refresh-archive-token", access, "")
	require.Equal(t, 200, archive.status, archive.raw)
	_, err := b.files.CallerByArchiveToken(t.Context(), archive.text("archive_token"))
	require.NoError(t, err)

	refresh := map[string]any{"refresh_token": older(t, b, c.ID, "refresh", "a refresh token")}
	first := b.post(t, "/auth/refresh-token", "", refresh)
	require.Equal(t, 200, first.status, first.raw)
	second := b.post(t, "/auth/refresh-token", "", refresh)
	require.Equal(t, 200, second.status, second.raw)
	sid := sidOf(t, first.text("refresh_token"))
	require.Equal(t, sid, sidOf(t, second.text("access_token")), "one token, one session")
	all := b.sessionsOf(t, "/me/sessions", second.text("access_token"))
	require.Len(t, all, 1)
	require.Equal(t, "earlier", all[0]["method"])
	require.Equal(t, 200, b.remove(t, "/me/sessions/"+sid, access).status)
	require.Equal(t, 403, b.post(t, "/auth/refresh-token", "", refresh).status, "it is ended as well")
	require.Equal(t, 403, b.get(t, "/current-user", first.text("access_token")).status)
	require.Equal(t, 200, b.get(t, "/current-user", access).status)
	require.JSONEq(t, `{"message":"0 sessions ended.","ended":0}`, b.remove(t, "/me/sessions", access).raw)

	malformed := signed(t, "test", "0123456789abcdef0123456789abcdef", jwt.MapClaims{"user_id": c.ID, "sid": "x"})
	require.Equal(t, 403, b.get(t, "/current-user", malformed).status)
}

// endWhileRefreshing ends a session in a transaction that is open when its refresh token is used, and commits it then. It
// returns the status of the refresh.
func endWhileRefreshing(t *testing.T, b *bundle) int {
	t.Helper()
	c := accountstest.Customer(t, b.db)
	session := b.login(t, c.Username, accountstest.Password)
	b.clock.Advance(time.Minute)
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `UPDATE accounts.sessions SET ended_at = now() WHERE user_id = $1`, c.ID)
	require.NoError(t, err)
	status := make(chan int)
	go func() {
		status <- b.client.Post("/auth/refresh-token", map[string]any{"refresh_token": session.text("refresh_token")}).Status
	}()
	b.awaitLock(t)
	require.NoError(t, tx.Commit(t.Context()))
	return <-status
}

// awaitLock waits until somebody waits for a lock.
func (b *bundle) awaitLock(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		var waiting int
		err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting > 0
	}, time.Minute, 5*time.Millisecond)
}

func TestASessionEndsWhileItRefreshes(t *testing.T) {
	t.Parallel()
	require.Equal(t, 403, endWhileRefreshing(t, setup(t)))
}

// The same with the mark of the end taken away: the refresh, which had read the session before it ended, goes through.
func TestASessionEndsWhileItRefreshesWithoutTheGuard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `CREATE FUNCTION unmark() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.ended_at := NULL; RETURN NEW; END'`)
	b.exec(t, `CREATE TRIGGER unmark BEFORE UPDATE ON accounts.sessions FOR EACH ROW EXECUTE FUNCTION unmark()`)
	require.Equal(t, 200, endWhileRefreshing(t, b))
}

// Whichever comes first, what comes of it is refused: no token of an ended session opens anything.
func TestRefreshesAndEndsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	for range 5 {
		session := b.login(t, c.Username, accountstest.Password)
		this := b.token(t, c.Username)
		issued := make(chan string, 20)
		var n atomic.Int64
		parallel(cap(issued), func() int {
			if n.Add(1) == int64(cap(issued)/2) {
				return b.remove(t, "/me/sessions", this).status
			}
			a := b.refresh(t, session)
			issued <- a.text("access_token")
			return a.status
		})
		require.Equal(t, 200, b.remove(t, "/me/sessions", this).status)
		close(issued)
		for token := range issued {
			if token != "" {
				require.Equal(t, 403, b.get(t, "/current-user", token).status)
			}
		}
		require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.sessions
			WHERE ended_at IS NOT NULL AND expires_at < refreshed_at + interval '30 days'`))
	}
}

func TestSessionsGoWithTheAccount(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	file := o.get(t, "/customers/me/data", o.customerJWT)
	require.Equal(t, 200, file.status, file.raw)
	held, _ := file.body["sessions"].([]any)
	require.Len(t, held, 1)
	require.Equal(t, sidOf(t, o.customerJWT), held[0].(map[string]any)["_id"])
	require.Contains(t, held[0], "ended_at")
	require.Equal(t, map[string]any{"confirmed_at": nil, "recovery_codes": 0.0}, file.body["second_factor"])

	require.Equal(t, 200, o.bundle.remove(t, "/customers/me", o.customerJWT).status)
	require.Equal(t, 200, o.json(t, http.MethodDelete, "/users", o.rootToken, ids(o.admin.ID)).status)
	require.Equal(t, 1, o.count(t, `SELECT count(*) FROM accounts.sessions`), "root's is left")
	require.Equal(t, 403, o.get(t, "/current-user", o.customerJWT).status)
	require.Equal(t, 403, o.get(t, "/current-user", o.adminToken).status)
}

func TestASessionLivesAsLongAsItsLongestToken(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.RefreshTokenTTL = time.Hour })
	token := b.token(t, accountstest.Customer(t, b.db).Username)
	require.Equal(t, httpapi.Time(b.clock.Now().Add(12*time.Hour)).String(),
		b.sessionsOf(t, "/me/sessions", token)[0]["expires_at"])
}

// A caller who is read without the session of their token would outlive its end.
func TestEachCallerIsReadWithTheSession(t *testing.T) {
	t.Parallel()
	calls := regexp.MustCompile(`accounts\.caller\(([^)]*)\)`)
	files, err := filepath.Glob("../../sql/*/*.sql")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, call := range calls.FindAllStringSubmatch(string(raw), -1) {
			found++
			require.Len(t, strings.Split(call[1], ","), 4, "%s: %s", file, call[0])
		}
	}
	require.Greater(t, found, 4)
}
