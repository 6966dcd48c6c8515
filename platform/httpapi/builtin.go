package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"marquee/platform/openapi"
	"marquee/platform/postgres"
)

// Check probes one thing that the service cannot do without.
type Check func(context.Context) error

// Warning is the error of a check that somebody has to see to, while requests are
// still to be sent here: GET /health shows it as degraded and answers 200.
type Warning string

func (w Warning) Error() string { return string(w) }

// AddCheck makes GET /health ask check under the name.
func (a *API) AddCheck(name string, check Check) { a.checks[name] = check }

type healthBody struct {
	Status   string            `json:"status" enum:"ok,degraded"`
	Version  string            `json:"version"`
	Checks   map[string]string `json:"checks"`
	TestMode []string          `json:"test_mode" nullable:"false" doc:"Gateways that take no real money: a sandbox's address, or a test key"`
}

type routesBody struct {
	Routes []routeRow `json:"routes"`
}

// routeRow is a row of GET /routes, as it is for who reads it.
type routeRow struct {
	RouteInfo
	Allowed bool `json:"allowed" doc:"Whether the caller may call it, as far as its auth and permission say"`
}

// registerBuiltin adds the routes that belong to no module.
func (a *API) registerBuiltin() {
	Route(a, http.MethodGet, "/routes", "route_list", SignedIn,
		func(ctx context.Context, _ *struct{}) (*Output[routesBody], error) {
			caller, routes := CallerOf(ctx), a.Routes()
			rows := make([]routeRow, len(routes))
			for i, route := range routes {
				rows[i] = routeRow{RouteInfo: route, Allowed: route.Allows(caller)}
			}
			return OK(routesBody{Routes: rows})
		})
	Route(a, http.MethodGet, "/health", "health_get", Public, a.health, Brief(), Frequent())
	a.Mount(http.MethodGet, Prefix+"/openapi.json", "openapi_get", Public, a.openAPIDocument())
	a.Mount(http.MethodGet, Prefix+"/docs", "docs_get", Public, docs(a.cfg.DocsPage))
}

type healthOutput struct {
	Status int
	Body   healthBody
}

func (a *API) health(ctx context.Context, _ *struct{}) (*healthOutput, error) {
	requestCtx := ctx
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	out := &healthOutput{
		Status: http.StatusOK,
		Body: healthBody{
			Status: "ok", Version: a.cfg.Version, Checks: map[string]string{},
			TestMode: append([]string{}, a.cfg.TestMode...),
		},
	}
	for name, check := range a.checks {
		out.Body.Checks[name] = "ok"
		if err := check(ctx); err != nil {
			if hungUp(requestCtx) {
				return nil, err // which says nothing of the check
			}
			out.Body.Status = "degraded"
			if postgres.IsLocked(err) { // somebody holds a table: other requests are answered
				a.cfg.Log.WarnContext(ctx, "health check put off", slog.String("check", name), slog.Any("error", err))
				out.Body.Checks[name] = "busy"
				continue
			}
			a.cfg.Log.ErrorContext(ctx, "health check failed", slog.String("check", name), slog.Any("error", err))
			if w, ok := errors.AsType[Warning](err); ok {
				out.Body.Checks[name] = string(w)
				continue
			}
			out.Status, out.Body.Checks[name] = http.StatusServiceUnavailable, "failing"
		}
	}
	return out, nil
}

// Document renders the OpenAPI document, as GET /openapi.json answers it, of what is registered
// by now.
func (a *API) Document() ([]byte, error) {
	generated, err := json.Marshal(a.huma.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("render the OpenAPI document: %w", err)
	}
	return openapi.Publish(generated, a.cfg.Texts)
}

// openAPIDocument renders the document once, at the first request: by then
// every module has registered.
func (a *API) openAPIDocument() http.HandlerFunc {
	document := sync.OnceValues(a.Document)
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := document()
		if err != nil {
			a.WriteError(r.Context(), w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}
}

// docs shows the page of the documentation, which reads openapi.json beside it.
func docs(page []byte) http.HandlerFunc {
	policy := InlinePolicy(page)
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		_, _ = w.Write(page)
	}
}
