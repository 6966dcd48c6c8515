package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

// people is an Authenticator whose tokens are the names of its users.
type people map[string]httpapi.Caller

func (p people) Verify(token string) (httpapi.Claims, error) {
	if _, ok := p[token]; !ok && token != "gone" {
		return httpapi.Claims{}, errors.New("unknown token")
	}
	return httpapi.Claims{TokenID: token}, nil
}

func (p people) Caller(_ context.Context, c httpapi.Claims) (httpapi.Caller, error) {
	caller, ok := p[c.TokenID]
	if !ok {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	return caller, nil
}

var everybody = people{
	"root":     {ID: objectid.New(), Type: httpapi.TypeAdmin, Root: true},
	"admin":    {ID: objectid.New(), Type: httpapi.TypeAdmin},
	"holder":   {ID: objectid.New(), Type: httpapi.TypeAdmin, Handlers: []string{"thing_permitted"}},
	"customer": {ID: objectid.New(), Type: httpapi.TypeCustomer},
}

type thing struct {
	Title   string       `json:"title" minLength:"1" maxLength:"5"`
	Address *place       `json:"address,omitempty"`
	At      httpapi.Time `json:"at,omitzero"`
}

type place struct {
	City string `json:"city" minLength:"3"`
}

type thingsInput struct{ Body []thing }

type formInput struct{ RawBody []byte }

type said struct {
	Said string `json:"said"`
}

func setup(t *testing.T, change ...func(*httpapi.Config)) *apitest.Client {
	t.Helper()
	cfg := httpapi.Config{
		Version: "test", PublicURL: "https://api.example.com", Auth: everybody, Log: secrettest.Logger(t),
		DocsPage: []byte("<html>docs</html>"),
	}
	for _, f := range change {
		f(&cfg)
	}
	api := httpapi.New(cfg)
	say := func(context.Context, *struct{}) (*httpapi.Output[said], error) { return httpapi.OK(said{"hello"}) }
	for _, auth := range []httpapi.Auth{
		httpapi.Public, httpapi.Optional, httpapi.SignedIn, httpapi.Customer, httpapi.Admin, httpapi.Root,
		httpapi.Subscriber,
	} {
		httpapi.Route(api, http.MethodGet, "/as-"+string(auth), "thing_"+string(auth), auth, say)
	}
	httpapi.Route(api, http.MethodGet, "/permitted", "thing_permitted", httpapi.Admin, say, httpapi.Permission())
	httpapi.Route(api, http.MethodGet, "/permitted-too", "thing_permitted_too", httpapi.Admin, say,
		httpapi.PermissionOf("thing_permitted"))
	httpapi.Route(api, http.MethodGet, "/with-token", "thing_token", httpapi.SignedIn, say, httpapi.TokenInQuery())
	httpapi.Route(api, http.MethodGet, "/throttled", "thing_throttled", httpapi.Public, say, httpapi.PerMinute(2))
	httpapi.Route(api, http.MethodPost, "/things", "thing_create", httpapi.Public,
		func(_ context.Context, in *thingsInput) (*httpapi.Output[said], error) {
			return httpapi.OK(said{in.Body[0].Title})
		}, httpapi.MaxBody(512))
	httpapi.Route(api, http.MethodPost, "/form", "thing_form", httpapi.Public,
		func(_ context.Context, in *formInput) (*httpapi.Output[said], error) {
			form, err := httpapi.ParseForm(in.RawBody)
			if err != nil {
				return nil, err
			}
			return httpapi.OK(said{form.Get("username")})
		}, httpapi.Form("username"))
	httpapi.Route(api, http.MethodGet, "/fails/{how}", "thing_fails", httpapi.Public,
		func(_ context.Context, in *struct {
			How string `path:"how"`
		},
		) (*httpapi.Output[said], error) {
			switch in.How {
			case "panic":
				panic("secret detail")
			case "unknown":
				return nil, errors.New("SELECT secret detail")
			case "throttled":
				return nil, fault.TooManyRequests(1500*time.Millisecond, "Wait 2 seconds.")
			case "late":
				return nil, context.DeadlineExceeded
			case "conflict":
				return nil, fault.Conflict("Taken.").WithField("username").WithCause(errors.New("secret detail"))
			}
			return nil, fault.NotFound("Thing")
		})
	httpapi.Route(api, http.MethodGet, "/whoami", "thing_whoami", httpapi.Public,
		func(ctx context.Context, _ *struct{}) (*httpapi.Output[said], error) {
			return httpapi.OK(said{httpapi.ClientIP(ctx) + " " + httpapi.SelfURL(ctx)})
		})
	return apitest.New(t, api)
}

func TestEveryAuthKindAgainstEveryCaller(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for path, want := range map[string][6]int{ // nobody, bad token, user gone, customer, admin, root
		"/as-none":       {200, 200, 200, 200, 200, 200},
		"/as-optional":   {200, 403, 403, 200, 200, 200},
		"/as-jwt":        {401, 403, 403, 200, 200, 200},
		"/as-customer":   {401, 403, 403, 200, 403, 403},
		"/as-admin":      {401, 403, 403, 403, 200, 200},
		"/as-root":       {401, 403, 403, 403, 403, 200},
		"/as-subscriber": {401, 403, 200, 200, 200, 200}, // the handler checks the user itself
		"/permitted":     {401, 403, 403, 403, 401, 200},
		"/permitted-too": {401, 403, 403, 403, 401, 200},
	} {
		for i, token := range []string{"", "nonsense", "gone", "customer", "admin", "root"} {
			require.Equal(t, want[i], c.As(token).Get(path).Status, "%s as %q", path, token)
		}
	}
	c.As("holder").Get("/permitted").Expect(200)
	c.As("holder").Get("/permitted-too").Expect(200)
	require.Contains(t, c.As("admin").Get("/permitted").Detail(), "no permission for the handler thing_permitted")
	require.Equal(t, "Not authenticated", c.Get("/as-jwt").Detail())
	require.Equal(t, "Access Denied: Could not validate token.", c.As("nonsense").Get("/as-jwt").Detail())
	require.Equal(t, "FORBIDDEN", c.As("customer").Get("/as-admin").Code())
}

func TestTokenInQueryOnlyWhereAllowed(t *testing.T) {
	t.Parallel()
	c := setup(t)
	c.Get("/with-token?token=customer").Expect(200)
	c.Get("/with-token?token=nonsense").Expect(403)
	c.Get("/as-jwt?token=customer").Expect(401)
}

func TestAuthorizationHeaderForms(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for header, want := range map[string]int{
		"": 401, "customer": 401, "Basic customer": 401, "Bearer": 403, "Bearer ": 403, "Bearer x": 403,
		"Bearer customer": 200, "bearer customer": 200,
	} {
		req, err := http.NewRequest(http.MethodGet, c.URL()+"/api/v1/as-jwt", http.NoBody)
		require.NoError(t, err)
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode, "header %q", header)
	}
}

func TestBadBodies(t *testing.T) {
	t.Parallel()
	c := setup(t)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for name, row := range map[string]struct {
		contentType, body string
		status            int
		field             string
	}{
		"fine":            {"application/json; charset=utf-8", `[{"title":"ok"}]`, 200, ""},
		"upper case":      {"APPLICATION/JSON", `[{"title":"ok"}]`, 200, ""},
		"mixed case":      {"Application/Json ; Charset=UTF-8", `[{"title":"ok"}]`, 200, ""},
		"no content type": {"", `[{"title":"ok"}]`, 415, ""},
		"text":            {"text/plain", `[{"title":"ok"}]`, 415, ""},
		"form":            {"application/x-www-form-urlencoded", `a=b`, 415, ""},
		"malformed":       {"application/json", `[{"title":`, 422, "body"},
		"empty":           {"application/json", ``, 422, "body"},
		"not an array":    {"application/json", `{"title":"ok"}`, 422, "body"},
		"missing":         {"application/json", `[{"title":"ok"},{}]`, 422, "title"},
		"too long":        {"application/json", `[{"title":"longer"}]`, 422, "title"},
		"nested":          {"application/json", `[{"title":"ok","address":{"city":"x"}}]`, 422, "address.city"},
		"unknown":         {"application/json", `[{"title":"ok","color":"red"}]`, 422, "color"},
		"wrong type":      {"application/json", `[{"title":7}]`, 422, "title"},
		"bad time":        {"application/json", `[{"title":"ok","at":"tomorrow"}]`, 422, "at"},
		"NUL":             {"application/json", `[{"title":"a\u0000"}]`, 422, "title"},
		"no NUL":          {"application/json", `[{"title":"\\u00"}]`, 200, ""},
		"too deep":        {"application/json", deep, 422, "body"},
		"too large":       {"application/json", `[{"title":"` + strings.Repeat("x", 600) + `"}]`, 413, ""},
	} {
		a := c.Send(http.MethodPost, "/things", row.contentType, []byte(row.body))
		require.Equal(t, row.status, a.Status, "%s: %s", name, a.Body)
		require.NotEmpty(t, a.Map(), name)
		if row.status == 422 {
			require.Equal(t, "VALIDATION_ERROR", a.Code(), name)
			require.Equal(t, row.field, a.Field(), name)
			require.NotEmpty(t, a.Detail(), name)
		}
	}
	index := c.Post("/things", `[{"title":"ok"},{"title":""}]`).Map()["detail"].([]any)[0].(map[string]any)["loc"]
	require.Equal(t, []any{"body", float64(1), "title"}, index)
}

func TestForms(t *testing.T) {
	t.Parallel()
	c := setup(t)
	form := "application/x-www-form-urlencoded"
	require.Equal(t, "ana", c.Send(http.MethodPost, "/form", form, []byte("username=ana")).Expect(200).Map()["said"])
	c.Send(http.MethodPost, "/form", "application/json", []byte(`{"username":"ana"}`)).Expect(415)
	c.Send(http.MethodPost, "/form", form, []byte("username=%zz")).Expect(422)
	c.Send(http.MethodPost, "/form", form, []byte("username=%00")).Expect(422)
}

func TestErrorsAreRendered(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for how, status := range map[string]int{
		"panic": 500, "unknown": 500, "late": 503, "throttled": 429, "conflict": 409, "missing": 404,
	} {
		a := c.Get("/fails/" + how).Expect(status)
		require.NotContains(t, string(a.Body), "secret")
		require.NotEmpty(t, a.Header.Get("X-Request-Id"))
	}
	require.Equal(t, "Internal Server Error", c.Get("/fails/unknown").Detail())
	require.Equal(t, "2", c.Get("/fails/throttled").Header.Get("Retry-After"))
	require.Equal(t, "username", c.Get("/fails/conflict").Field())
	require.Equal(t, "NOT_FOUND", c.Get("/fails/missing").Code())
	require.Equal(t, "Not Found", c.Get("/nowhere").Expect(404).Detail())
	require.Equal(t, "Method Not Allowed", c.Delete("/things", nil).Expect(405).Detail())
	require.Equal(t, "x", c.Get("/as-none?a=1&x=y%00").Expect(422).Field())
	require.Empty(t, c.Get("/as-none?x%00=1").Expect(422).Field())
	require.Equal(t, "VALIDATION_ERROR", c.Get("/fails/%ff%fe").Expect(422).Code())
}

func TestThrottleByAddress(t *testing.T) {
	t.Parallel()
	c := setup(t)
	c.Get("/throttled").Expect(200)
	c.Get("/throttled").Expect(200)
	a := c.Get("/throttled").Expect(429)
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	lifted := setup(t, func(cfg *httpapi.Config) { cfg.NoThrottle = true })
	for range 5 {
		lifted.Get("/throttled").Expect(200)
	}
}

func TestClientAddressBehindProxies(t *testing.T) {
	t.Parallel()
	api := func(trusted ...netip.Prefix) http.Handler {
		a := httpapi.New(httpapi.Config{Auth: everybody, Log: secrettest.Logger(t), TrustedProxies: trusted})
		httpapi.Route(a, http.MethodGet, "/ip", "ip", httpapi.Public,
			func(ctx context.Context, _ *struct{}) (*httpapi.Output[said], error) {
				return httpapi.OK(said{httpapi.ClientIP(ctx)})
			})
		return a.Handler()
	}
	call := func(h http.Handler, forwarded string) string {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/ip", nil)
		r.RemoteAddr = "10.0.0.9:4000"
		r.Header.Set("X-Forwarded-For", forwarded)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return strings.TrimSpace(w.Body.String())
	}
	inner := netip.MustParsePrefix("10.0.0.0/8")
	require.Equal(t, `{"said":"10.0.0.9"}`, call(api(), "203.0.113.7"))
	require.Equal(t, `{"said":"203.0.113.7"}`, call(api(inner), "198.51.100.1, 203.0.113.7, 10.1.1.1"))
	require.Equal(t, `{"said":"10.0.0.9"}`, call(api(inner), "nonsense"))
}

func TestOwnRoutes(t *testing.T) {
	t.Parallel()
	c := setup(t)
	health := c.Get("/health").Expect(200).Map()
	require.Equal(t, "ok", health["status"])
	require.Equal(t, []any{}, health["test_mode"], "none is in test mode")
	require.Equal(t, "3.1.0", c.Get("/openapi.json").Expect(200).Map()["openapi"])
	docs := c.Get("/docs").Expect(200)
	require.Equal(t, "text/html; charset=utf-8", docs.Header.Get("Content-Type"))
	c.Get("/routes").Expect(401)
	var list struct{ Routes []httpapi.RouteInfo }
	c.As("customer").Get("/routes").Expect(200).JSON(&list)
	require.Contains(t, list.Routes, httpapi.RouteInfo{
		Method: "GET", Path: "/api/v1/permitted", Name: "thing_permitted", Auth: httpapi.Admin,
		Permission: "thing_permitted",
	})
	allowed := func(user string) (names []string) {
		var rows struct {
			Routes []struct {
				Name    string
				Allowed bool
			}
		}
		c.As(user).Get("/routes").Expect(200).JSON(&rows)
		for _, row := range rows.Routes {
			if row.Allowed {
				names = append(names, row.Name)
			}
		}
		return names
	}
	require.NotContains(t, allowed("customer"), "thing_permitted")
	require.NotContains(t, allowed("admin"), "thing_permitted", "no profile of theirs holds it")
	require.Contains(t, allowed("root"), "thing_permitted")
	for name, value := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
	} {
		require.Equal(t, value, c.Get("/health").Header.Get(name))
	}
}

func TestTimeForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-11-20": "2026-11-20T00:00:00.000Z", "2026-11-20T17:03:12Z": "2026-11-20T17:03:12.000Z",
		"2026-11-20T14:03:12.3456-03:00": "2026-11-20T17:03:12.345Z", "2026-11-20T17:03:12": "2026-11-20T17:03:12.000Z",
	} {
		at, err := httpapi.ParseTime(in)
		require.NoError(t, err, in)
		require.Equal(t, want, httpapi.Time(at).String())
	}
	for _, bad := range []string{
		"", "now", "2026-02-30", "20/11/2026", "1732122192", "infinity", "9999-12-31T23:59:59-14:00",
		"0001-01-01T00:00:00+14:00", "2027-01-01T00:00:00+24:00", "2027-01-01T00:00:00-23:60",
	} {
		_, err := httpapi.ParseTime(bad)
		require.ErrorIs(t, err, httpapi.ErrTime, bad)
	}
}

func FuzzCheckJSON(f *testing.F) {
	f.Add([]byte(`[{"a":1}]`))
	f.Add([]byte(`"\u0000"`))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = httpapi.CheckJSON(data) })
}
