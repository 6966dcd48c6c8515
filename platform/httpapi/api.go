// Package httpapi sets up the HTTP side of the platform: the chi router, huma's
// typed operations, authentication by route, error bodies, limits, the OpenAPI
// document, /routes and /health. Modules register their operations with Route,
// one line each.
package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/cors"
	"github.com/prometheus/client_golang/prometheus"

	"marquee/platform/audit"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
	"marquee/platform/openapi"
	"marquee/platform/postgres"
	"marquee/platform/tracing"
)

// Prefix stands before every path but the webhooks'.
const Prefix = "/api/v1"

// Config is what New needs.
type Config struct {
	Version   string
	PublicURL string // scheme and host under which clients reach the service; no slash at the end
	Auth      Authenticator
	// StillWrites records that a long request of the user is still writing; nil where nobody reads that
	// (Caller.Written).
	StillWrites    func(ctx context.Context, user objectid.ID) error
	Trail          audit.Trail // records what admins write; default: not recorded
	Log            *slog.Logger
	LogOneIn       int // one in so many good requests to Frequent operations is logged; default: each
	Metrics        prometheus.Registerer
	Tracer         *tracing.Tracer    // records a span of each request; nil: no tracing
	TrustedProxies []netip.Prefix     // peers whose X-Forwarded-For and traceparent are believed
	CORSOrigins    []string           // default: any origin, without credentials
	RequestTimeout time.Duration      // default 90 s: a gateway may take a minute for a card
	BodyStall      time.Duration      // longest silence within a request's body; default 10 s
	PieceTime      time.Duration      // in which a client has to take 32 KiB of an answer; default 30 s
	InFlight       int                // requests that are worked on at once; default 64 a core
	NoThrottle     bool               // lifts the limits per address, for load and end-to-end tests
	TestMode       []string           // gateways that take no real money; GET /health says so
	DocsPage       []byte             // HTML of GET /docs, with its own script and style
	Texts          openapi.Texts      // what the OpenAPI document says of each operation
	Pages          Pages              // what browsers are shown beside the API; nil: nothing
	Idempotency    *idempotency.Store // keeps the answers of Idempotent operations; nil: the header is ignored
}

// API is the router with its operations. Build it once, register every module,
// then serve Handler.
type API struct {
	cfg     Config
	mux     *chi.Mux
	huma    huma.API
	metrics *metrics
	bounds  *bounds
	routes  []RouteInfo
	checks  map[string]Check
	thinner thinner
}

// New makes an API without operations of modules, but with health, routes,
// OpenAPI and docs.
func New(cfg Config) *API {
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = 90 * time.Second
	}
	if cfg.BodyStall == 0 {
		cfg.BodyStall = defaultBodyStall
	}
	if len(cfg.CORSOrigins) == 0 {
		cfg.CORSOrigins = []string{"*"}
	}
	if cfg.PieceTime == 0 {
		cfg.PieceTime = defaultPieceTime
	}
	a := &API{
		cfg: cfg, mux: chi.NewMux(), checks: map[string]Check{}, metrics: newMetrics(cfg.Metrics),
		bounds:  newBounds(cfg.InFlight, cfg.Metrics),
		thinner: thinner{oneIn: uint64(max(cfg.LogOneIn, 1)), frequent: map[string]bool{}}, //nolint:gosec // it is positive
	}
	a.mux.Use(
		a.identify,
		a.observe,
		a.logRequests,
		a.recoverPanics,
		securityHeaders,
		cors.Handler(cors.Options{
			AllowedOrigins: cfg.CORSOrigins,
			AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"},
			AllowedHeaders: []string{
				"Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id", "Device-Token", LastEventIDHeader,
				"X-Parental-Pin",
			},
			ExposedHeaders: []string{
				"X-Request-Id", "Retry-After", "Content-Disposition", "Device-Token", replayedHeader,
			},
			MaxAge: 600,
		}),
		a.timeout,
		a.limitReading,
		refuseUnstorable(cfg.Pages),
	)
	a.mux.NotFound(a.notFound)
	a.mux.MethodNotAllowed(plainError(http.StatusMethodNotAllowed))
	a.huma = humachi.New(a.mux, humaConfig(cfg))
	registerEnvelope(a.huma.OpenAPI().Components.Schemas)
	a.registerBuiltin()
	return a
}

func humaConfig(cfg Config) huma.Config {
	hc := huma.DefaultConfig("Marquee", cfg.Version)
	hc.CreateHooks = nil // no $schema links in answers
	hc.OpenAPIPath, hc.DocsPath, hc.SchemasPath = "", "", ""
	hc.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	hc.DefaultFormat = "application/json"
	hc.Info.Description = "Backend of a video streaming platform with paid subscriptions and event tickets."
	hc.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	hc.Servers = []*huma.Server{{URL: cfg.PublicURL}}
	hc.Components.Schemas = huma.NewMapRegistry(schemasPlace, schemaName)
	hc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {
			Type: "oauth2", Description: "Log in at POST /token, then send `Authorization: Bearer <access_token>`.",
			Flows: &huma.OAuthFlows{
				Password: &huma.OAuthFlow{TokenURL: Prefix + "/token", Scopes: map[string]string{}},
			},
		},
	}
	return hc
}

// Handler serves everything that is registered.
func (a *API) Handler() http.Handler { return a.mux }

// Mount registers a plain handler, for what is no JSON operation: webhooks and
// file bytes. The path is taken as it stands, without the prefix. Auth and
// permission are for /routes; the handler checks them, with Authenticate and
// Allowed.
func (a *API) Mount(method, path, name string, auth Auth, h http.HandlerFunc, options ...Option) {
	op := operation{auth: auth, class: postgres.Request}
	op.OperationID = name
	for _, set := range options {
		set(&op)
	}
	a.routes = append(a.routes, RouteInfo{
		Method: method, Path: path, Name: name, Auth: auth, Permission: op.permission,
	})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end, err := a.begin(op, r)
		if err != nil {
			a.WriteError(r.Context(), w, err)
			return
		}
		defer end()
		trailed := a.withTrail(ctx, method != http.MethodGet && auth != Gateway, name)
		h(w, r.WithContext(trailed)) //nolint:contextcheck // begin made it of the request's
	})
	a.mux.Method(method, path, handler)
	if method == http.MethodGet {
		a.mux.Method(http.MethodHead, path, handler)
	}
}

// Routes lists what is registered, ordered by path and method.
func (a *API) Routes() []RouteInfo {
	return slices.SortedFunc(slices.Values(a.routes), func(x, y RouteInfo) int {
		return compareStrings(x.Path, y.Path, x.Method, y.Method)
	})
}

// OpenAPI returns the document that describes the registered operations.
func (a *API) OpenAPI() *huma.OpenAPI { return a.huma.OpenAPI() }

// RouteInfo is one row of GET /routes.
type RouteInfo struct {
	Method     string `json:"method"`
	Path       string `json:"path"`
	Name       string `json:"name" doc:"Handler name, also the operation id"`
	Auth       Auth   `json:"auth"`
	Permission string `json:"permission" doc:"Handler name that a profile has to hold; empty when none is needed"`
}

// Named is the route of a handler name; it panics where none is registered yet: a programming error.
func Named(a *API, name string) RouteInfo {
	i := slices.IndexFunc(a.routes, func(r RouteInfo) bool { return r.Name == name })
	if i < 0 {
		panic("httpapi: no route is called " + name)
	}
	return a.routes[i]
}

// Allows reports whether the caller, who is signed in, may call the route, as far as its auth and permission say:
// the route itself checks whether a customer has access.
func (r RouteInfo) Allows(c Caller) bool { return Allowed(c, r.Auth, r.Permission) == nil }

// Option changes one operation.
type Option func(*operation)

type operation struct {
	huma.Operation
	auth         Auth
	permission   string // handler name that a profile has to hold, "" for none
	tokenInQuery bool
	audited      bool // though it only reads
	class        postgres.Class
	stream       bool
	events       bool // a stream of them is answered
	frequent     bool
	notModified  bool
	media        string // content type of the body; "" of JSON
	bodyless     string // what to say to a body that has members; "" where one is passed by
	perMinute    int
	idempotent   bool
	info         reflect.Type // of the envelope's info; nil: it is always null
	output       output
	replay       func(context.Context, objectid.ID) (any, error) // the outcome of a row; nil: there is no replay
	replayed     reflect.Type                                    // what replay returns a pointer to
	guest        func(body []byte) string                        // who calls a public operation
}

// Status sets the status of a success; default 200.
func Status(code int) Option { return func(o *operation) { o.DefaultStatus = code } }

// Frequent marks an operation whose lines in the log Config.LogOneIn may thin out: one that reads, and is neither for
// administrators nor about money.
func Frequent() Option { return func(o *operation) { o.frequent = true } }

// MaxBody bounds the request body in bytes; default 1 MiB. Over it: 413.
func MaxBody(bytes int64) Option { return func(o *operation) { o.MaxBodyBytes = bytes + 1 } }

// Permission demands that the caller's profiles hold the operation's own name.
func Permission() Option { return func(o *operation) { o.permission = o.OperationID } }

// PermissionOf demands that the caller's profiles hold the name of another
// operation: whoever may call that one may call this.
func PermissionOf(handler string) Option { return func(o *operation) { o.permission = handler } }

// TokenInQuery accepts the access token in the query parameter token as well.
func TokenInQuery() Option { return func(o *operation) { o.tokenInQuery = true } }

// PerMinute throttles the operation by client address, in memory, against
// floods; cooldowns of codes live in Postgres.
func PerMinute(n int) Option { return func(o *operation) { o.perMinute = n } }

// Summary is the operation's line in the documentation.
func Summary(text string) Option { return func(o *operation) { o.Operation.Summary = text } }

// Metadata gives the operation something that others find at it in API.OpenAPI; it is not published.
func Metadata(key string, value any) Option {
	return func(o *operation) { o.Operation.Metadata = map[string]any{key: value} }
}

// ResponseSchema states the schema of an answer that the handler gives as bytes.
func ResponseSchema(s *huma.Schema) Option {
	return func(o *operation) {
		o.Responses = map[string]*huma.Response{"200": {
			Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: s}},
		}}
	}
}

// Response states an answer of an operation that writes its body itself.
func Response(status string, r *huma.Response) Option {
	return func(o *operation) {
		if o.Responses == nil {
			o.Responses = map[string]*huma.Response{}
		}
		o.Responses[status] = r
	}
}

// Audited gives the audit trail to a route that reads: one that hands out so much
// that it has to be known who took it.
func Audited() Option { return func(o *operation) { o.audited = true } }

// BodySchema states the schema of a request body that the handler reads, and
// validates, as bytes.
func BodySchema(s *huma.Schema) Option {
	return func(o *operation) {
		o.SkipValidateBody = true
		o.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: s}}}
	}
}

// Parameters documents parameters that the handler reads from RequestURL.
func Parameters(params ...*huma.Param) Option {
	return func(o *operation) { o.Operation.Parameters = append(o.Operation.Parameters, params...) }
}

// Bodyless refuses a body with members, to an operation that takes none, with 422: says follows the name of the first.
func Bodyless(says string) Option { return func(o *operation) { o.bodyless = says } }

// Form makes the body a form of the named required text fields; read it with
// RawBody and ParseForm.
func Form(fields ...string) Option {
	return func(o *operation) {
		o.media = formType
		o.SkipValidateBody = true
		props := map[string]*huma.Schema{}
		for _, f := range fields {
			props[f] = &huma.Schema{Type: "string"}
		}
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			formType: {Schema: &huma.Schema{Type: "object", Properties: props, Required: fields}},
		}}
	}
}

// Raw makes the body a file of a content type; read it with RawBody.
func Raw(contentType, doc string) Option {
	return func(o *operation) {
		o.media = contentType
		o.SkipValidateBody = true
		o.RequestBody = &huma.RequestBody{Required: true, Description: doc, Content: map[string]*huma.MediaType{
			contentType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}
	}
}

// OptionalField adds a text field to a Form, before this option, that may be left out.
func OptionalField(name, doc string) Option {
	return func(o *operation) {
		o.RequestBody.Content[formType].Schema.Properties[name] = &huma.Schema{Type: "string", Description: doc}
	}
}

// Route registers one operation under Prefix. The name is the handler name that
// /routes shows and that profiles may hold, and the OpenAPI operation id. The
// handler returns a value, or a *fault.Error; any other error becomes a 500 with
// a fixed sentence and a log line.
func Route[I, O any](a *API, method, path, name string, auth Auth, handler func(context.Context, *I) (*O, error),
	options ...Option,
) {
	register(a, prepared(a, method, path, name, auth, reflect.TypeFor[O](), options), untyped(handler))
}

// untyped hides the handler's result type from the compiler: the result is a *O, or a nil interface.
func untyped[A, O any](f func(context.Context, A) (*O, error)) func(context.Context, A) (any, error) {
	return func(ctx context.Context, arg A) (any, error) {
		out, err := f(ctx, arg)
		if out == nil {
			return nil, err
		}
		return out, err
	}
}

// register is Route for all outputs.
func register[I any](a *API, op *operation, handler func(context.Context, *I) (any, error)) {
	run := func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		return respond(ctx, a, op, func(ctx context.Context) (any, error) { return handler(ctx, in) })
	}
	if op.Method == http.MethodGet {
		huma.Register(a.huma, headOf(op.Operation), run)
	}
	huma.Register(a.huma, op.Operation, run)
	document(a, *op)
}

// respond calls a handler, or its replay, and returns what huma writes of the result; for a nil result that is the
// status alone.
func respond(ctx context.Context, a *API, op *operation,
	handler func(context.Context) (any, error),
) (*huma.StreamResponse, error) {
	out, done, err := replayed(ctx, op.replay)
	if !done {
		ctx := a.withTrail(ctx, op.Method != http.MethodGet || op.audited, op.OperationID)
		if op.Method == http.MethodGet {
			out, err = readTwice(ctx, func() (any, error) { return handler(ctx) })
		} else {
			out, err = handler(ctx)
		}
	}
	switch {
	case errors.Is(err, errHeadEnds), err == nil && out == nil:
		return nil, nil //nolint:nilnil // huma answers with the status alone
	case err != nil:
		return nil, a.rendered(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) { op.output.writeTo(hc, a.huma, out) }}, nil
}

// prepared is the operation with its middlewares and what a success answers: outside Route, which is compiled anew for
// each pair of types.
func prepared(a *API, method, path, name string, auth Auth, returned reflect.Type, options []Option) *operation {
	op := operation{auth: auth, class: postgres.Request, output: outputOf(returned)}
	op.Method, op.Path, op.OperationID = method, Prefix+path, name
	op.MaxBodyBytes = 1<<20 + 1 // the first length that is refused, as huma takes it
	op.BodyReadTimeout = -1     // limitReading bounds it
	for _, set := range options {
		set(&op)
	}
	if op.replay != nil && op.replayed != returned {
		panic("httpapi: the replay of " + name + " has another output than its handler")
	}
	op.output.document(&op.Operation, a.huma.OpenAPI().Components.Schemas)
	op.Tags = []string{tagOf(path)}
	if auth != Public && auth != Gateway {
		op.Security = []map[string][]string{{"bearer": {}}}
	}
	a.routes = append(a.routes, RouteInfo{
		Method: method, Path: op.Path, Name: name, Auth: auth, Permission: op.permission,
	})
	if op.frequent {
		if method != http.MethodGet || !slices.Contains([]Auth{Public, SignedIn, Subscriber}, auth) {
			panic("httpapi: " + name + " needs a line in the log for each request")
		}
		a.thinner.frequent[op.Path] = true
	}
	op.Extensions = map[string]any{"x-auth": string(auth)}
	op.Middlewares = huma.Middlewares{
		a.inPlace(op), a.throttled(op.perMinute), a.typed(op.media), a.authorized(op), a.withBody(op),
		a.withoutNulls(op), a.once(op),
	}
	return &op
}

// document adds what huma does not derive from the types of an operation.
func document(a *API, op operation) {
	documentNotModified(a.huma.OpenAPI(), op)
	typeInfo(a.huma.OpenAPI(), op)
	a.lackBody(op)
	a.noBlanks(op)
}
