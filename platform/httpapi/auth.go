package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
)

// Auth says who may call an operation; every route states one.
type Auth string

// Who may call (docs/contract/README.md, Who may call).
const (
	Public          Auth = "none"
	Optional        Auth = "optional"       // anyone; a Bearer header has to be good all the same
	SignedIn        Auth = "jwt"            // any user
	Customer        Auth = "customer"       // customers alone
	CustomerOrAdmin Auth = "customer|admin" // the handler tells them apart
	Admin           Auth = "admin"          // admins, root among them
	Root            Auth = "root"           // root alone
	Subscriber      Auth = "subscriber"     // token verified; the handler's own statement checks user and subscription
	Gateway         Auth = "gateway"        // by the gateway's token or signature, in the handler
)

// User types (docs/contract/accounts.md).
const (
	TypeAdmin    = "admin"
	TypeCustomer = "customer"
)

// Claims is what a verified access token says; nothing is read from the
// database for it.
type Claims struct {
	UserID    objectid.ID
	IssuedAt  time.Time
	TokenID   string
	SessionID objectid.ID // "" for a token from before there were sessions
	// ViewerID is the member of staff who sees by the token what its user sees; "" of the user's own. Such a token only
	// reads. ViewerSessionID is the session in which they asked for it.
	ViewerID, ViewerSessionID objectid.ID
}

// Caller is the user behind a request, read live.
type Caller struct {
	ID       objectid.ID
	Username string
	Type     string // TypeAdmin or TypeCustomer
	Root     bool
	Profiles []objectid.ID // ids of users_type
	Handlers []string      // handler names that the profiles hold
	// MFAMissing: the caller is root where root needs a second factor, and signed in without one. They are not Root
	// then, and may do what every user may, such as set one up.
	MFAMissing bool
	Claims     Claims
	// Written is a position in the log after all that the caller has written within the last seconds; 0 where they
	// have written nothing, or where no replica is read.
	Written replica.LSN
}

// IsAdmin reports whether the caller is an admin; root is one.
func (c Caller) IsAdmin() bool { return c.Type == TypeAdmin }

// Authenticator knows tokens and users. The module accounts fills it.
type Authenticator interface {
	// Verify checks signature, kind and expiry of an access token.
	Verify(token string) (Claims, error)
	// Caller reads the user that the claims name. It fails when the user is
	// gone, disabled, or has ended tokens of that age.
	Caller(ctx context.Context, claims Claims) (Caller, error)
}

// Sentences of the contract (docs/contract/accounts.md, Tokens).
var (
	errNoCredentials = &fault.Error{Kind: fault.KindUnauthenticated, Message: "Not authenticated"}
	errBadToken      = &fault.Error{Kind: fault.KindForbidden, Message: "Access Denied: Could not validate token."}

	errOnlyReads = &fault.Error{
		Kind: fault.KindForbidden, Message: "This token only reads: it shows to staff what the customer sees.",
	}
	errNoSecondFactor = &fault.Error{
		Kind: fault.KindForbidden, Code: fault.CodeMFARequired,
		Message: "Root users need a second factor here. Set one up at /me/totp, or sign in by a passkey.",
	}
)

// ErrBadToken is 403 "Access Denied: Could not validate token.", the answer to a
// token that is malformed, expired, of the wrong kind, or of a user who is gone.
func ErrBadToken() *fault.Error { e := *errBadToken; return &e }

type ctxKey int

const (
	callerKey ctxKey = iota
	claimsKey
	requestKey
	handlerKey
)

// CallerOf returns the user behind the request; the zero value on public routes
// and on Subscriber routes.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey).(Caller)
	return c
}

// WithCaller makes CallerOf know the user whom a plain handler has authenticated.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey, c)
}

// ClaimsOf returns what the request's token says.
func ClaimsOf(ctx context.Context) Claims {
	c, _ := ctx.Value(claimsKey).(Claims)
	return c
}

// authorized checks the route's Auth before the body is read.
func (a *API) authorized(op operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		ctx, err := a.authenticate(hc, op)
		if err != nil {
			a.write(hc, err)
			return
		}
		defer rerecord(ctx, &a.cfg)()
		next(huma.WithContext(hc, ctx))
	}
}

// recordInterval is how often a request that is still writing is recorded again: before the last record of it has
// expired.
const recordInterval = 4 * time.Second

// rerecord records again and again that the request writes, until it ends: it may write only at its end.
func rerecord(ctx context.Context, cfg *Config) (end func()) {
	caller := CallerOf(ctx)
	if cfg.StillWrites == nil || !Writes(ctx) || caller.ID == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timer := time.AfterFunc(recordInterval, func() {
		for ctx.Err() == nil {
			if err := cfg.StillWrites(ctx, caller.ID); err != nil && ctx.Err() == nil {
				cfg.Log.WarnContext(ctx, "what a caller writes may be missing in their next list", slog.Any("error", err))
			}
			select {
			case <-ctx.Done():
			case <-time.After(recordInterval):
			}
		}
	})
	return func() { cancel(); timer.Stop() }
}

func (a *API) authenticate(hc huma.Context, op operation) (context.Context, error) {
	ctx := hc.Context()
	if of, acts := ctx.Value(insideKey{}).(*inside); acts {
		ctx, err := known(ctx, a, op, of.claims)
		var f *fault.Error
		of.refused = errors.As(err, &f) && (f.Kind == fault.KindForbidden || f.Kind == fault.KindUnauthenticated)
		return ctx, err
	}
	token, given := bearer(hc.Header("Authorization"))
	if op.auth == Public || op.auth == Gateway {
		if given && a.cfg.StillWrites != nil { // they may have written just before; the caller is not read here
			ctx = replica.After(ctx, replica.Everything)
		}
		return ctx, nil
	}
	if !given && op.tokenInQuery {
		token = hc.Query("token")
		given = token != ""
	}
	if !given {
		if op.auth == Optional {
			return ctx, nil
		}
		return nil, errNoCredentials
	}
	claims, err := verify(a, token, op.Method)
	if err != nil {
		return nil, err
	}
	return known(ctx, a, op, claims)
}

// known has the user of the claims read, and checks that they may call the operation.
func known(ctx context.Context, a *API, op operation, claims Claims) (context.Context, error) {
	ctx = context.WithValue(ctx, claimsKey, claims)
	if op.auth == Subscriber && claims.ViewerID == "" {
		return ctx, nil
	}
	caller, err := readCaller(ctx, a, claims)
	if err != nil {
		return nil, err
	}
	if op.auth == Subscriber { // whoever looks through the customer's eyes may still do so
		return ctx, nil
	}
	if err := Allowed(caller, op.auth, op.permission); err != nil {
		return nil, err
	}
	return replica.After(WithCaller(ctx, caller), caller.Written), nil
}

// Again reads the caller of a request that is answered for long anew, and checks that they may still call the route.
// An error says that they may not, or that it cannot be known.
func Again(ctx context.Context, a *API, route RouteInfo) (Caller, error) {
	ctx, err := known(ctx, a, operation{auth: route.Auth, permission: route.Permission}, ClaimsOf(ctx))
	if err != nil {
		return Caller{}, err
	}
	return CallerOf(ctx), nil
}

// ListsFromNow lets the next lists of the caller show what is written by now, where replicas are read.
func ListsFromNow(ctx context.Context, a *API) error {
	if a.cfg.StillWrites == nil {
		return nil
	}
	return a.cfg.StillWrites(ctx, CallerOf(ctx).ID)
}

// verify is what a token says, of one that may be used for the method.
func verify(a *API, token, method string) (Claims, error) {
	claims, err := a.cfg.Auth.Verify(token)
	switch {
	case err != nil:
		return claims, errBadToken
	case claims.ViewerID != "" && method != http.MethodGet && method != http.MethodHead:
		return claims, errOnlyReads
	}
	return claims, nil
}

// bearer returns the token of an Authorization header; given is false without
// the header or its Bearer prefix.
func bearer(header string) (token string, given bool) {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// Allowed says whether the caller may call an operation with this auth that
// demands this permission ("" for none); the error is the answer.
func Allowed(c Caller, auth Auth, permission string) error {
	if c.MFAMissing && (permission != "" || auth == Admin || auth == Root || auth == CustomerOrAdmin) {
		return errNoSecondFactor
	}
	switch auth {
	case Customer:
		if c.Type != TypeCustomer {
			return fault.Forbidden("This route is for customers.")
		}
	case Admin:
		if !c.IsAdmin() {
			return fault.Forbidden("This route is for administrators.")
		}
	case Root:
		if !c.Root {
			return fault.Forbidden("This route is for root users.")
		}
	}
	if permission != "" && !c.Root && !slices.Contains(c.Handlers, permission) {
		return &fault.Error{
			Kind: fault.KindUnauthenticated, Message: "The user has no permission for the handler " + permission + ".",
		}
	}
	return nil
}

// callerShare names the share of the connections that reading callers may take, for all routes together: otherwise a
// few calls that wait for a lock on users would use up the connections of all others.
const callerShare = "caller"

// readCaller reads who calls.
func readCaller(ctx context.Context, a *API, claims Claims) (Caller, error) {
	ctx = postgres.Sharing(ctx, callerShare)
	return readTwice(ctx, func() (Caller, error) { return a.cfg.Auth.Caller(ctx, claims) })
}

// Authenticate is authorized for plain handlers that Mount registers: it returns
// the caller for a bearer token, or the error to write with WriteError.
func (a *API) Authenticate(r *http.Request) (Caller, error) {
	token, given := bearer(r.Header.Get("Authorization"))
	if !given {
		return Caller{}, errNoCredentials
	}
	claims, err := verify(a, token, r.Method)
	if err != nil {
		return Caller{}, err
	}
	caller, err := readCaller(r.Context(), a, claims)
	if err == nil {
		ctx := r.Context()
		context.AfterFunc(ctx, rerecord(WithCaller(ctx, caller), &a.cfg))
	}
	return caller, err
}

// insideKey has the user for whom the platform calls its own API, an *inside.
type insideKey struct{}

type inside struct {
	claims  Claims
	refused bool // they may not call the operation, are gone or disabled, or the claims were ended
}

// Inside reports whether the platform itself calls the operation, by Act, for a user who began it before and may have
// signed out since.
func Inside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// maxActed bounds what is read of an answer.
const maxActed = 64 << 10

// Acted is what the API answered to Act.
type Acted struct {
	Status   int
	Sentence string // of an error
	// Refused: the user may not call the operation any more, is gone or disabled, or what they began it with was ended.
	// Nothing was done.
	Refused bool
}

// Act calls an operation for a user without a connection: with the rights, the checks and the audit trail of a request
// of theirs at this moment. The claims are those with which they began it, a second factor where it is required
// included: signing out does not end it, which all else that ends tokens of that age, or the session, does. The path
// has the prefix. The error is one of the program's.
func Act(ctx context.Context, a *API, began Claims, method, path, requestID string, body any) (Acted, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return Acted{}, fmt.Errorf("write the body of %s: %w", path, err)
	}
	if body == nil {
		raw = nil
	}
	of := &inside{claims: began}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, insideKey{}, of), method, path, bytes.NewReader(raw))
	if err != nil {
		return Acted{}, fmt.Errorf("call %s: %w", path, err)
	}
	req.RequestURI, req.RemoteAddr, req.Host = path, "127.0.0.1:0", "localhost"
	req.Header.Set("X-Request-Id", requestID)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	w := &collected{header: http.Header{}, status: http.StatusOK}
	a.Handler().ServeHTTP(w, req)
	return Acted{Status: w.status, Sentence: w.sentence(), Refused: of.refused}, nil
}

// Continue is a context in which a job goes on with what a user began by a route: as them at this moment, with their
// entries in the audit trail. The id takes the place of a request's. Errors: those of the route for who may not call it
// any more, is gone or disabled, or whose claims were ended by anything but signing out.
func Continue(ctx context.Context, a *API, began Claims, route RouteInfo, id string) (context.Context, error) {
	ctx = context.WithValue(ctx, insideKey{}, &inside{claims: began})
	ctx = context.WithValue(ctx, requestKey, request{id: id, url: &url.URL{Path: route.Path}, writes: true})
	ctx, err := known(ctx, a, operation{auth: route.Auth, permission: route.Permission}, began)
	if err != nil {
		return nil, err
	}
	return a.withTrail(ctx, true, route.Name), nil
}

// collected is what a handler has written.
type collected struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *collected) Header() http.Header { return w.header }

func (w *collected) WriteHeader(status int) { w.status = status }

func (w *collected) Write(p []byte) (int, error) {
	if room := maxActed - w.body.Len(); room > 0 {
		w.body.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// sentence is the error's message; "" of a success.
func (w *collected) sentence() string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Detail any `json:"detail"`
	}
	if w.status < http.StatusBadRequest || json.Unmarshal(w.body.Bytes(), &body) != nil {
		return ""
	}
	if text, ok := body.Detail.(string); ok && body.Error.Message == "" {
		return text
	}
	return body.Error.Message
}
