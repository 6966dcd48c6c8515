package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/httprate"

	"marquee/platform/fault"
)

const formType = "application/x-www-form-urlencoded"

// ParseForm reads an urlencoded body.
func ParseForm(raw []byte) (url.Values, error) {
	form, err := url.ParseQuery(string(raw))
	if err != nil || bytes.ContainsRune(raw, 0) || strings.Contains(strings.ToLower(string(raw)), "%00") {
		return nil, fault.InvalidAt("is not a valid form", "body")
	}
	return form, nil
}

// typed refuses a body whose content type is not the route's: 415. The media type is "" of JSON.
func (a *API) typed(media string) func(huma.Context, func(huma.Context)) {
	want := cmp.Or(media, "application/json")
	sentence := "The body has to be sent with Content-Type: " + want + "."
	return func(hc huma.Context, next func(huma.Context)) {
		r, _ := unwrap(hc)
		body := hc.Operation().RequestBody
		if body == nil || r.ContentLength == 0 {
			next(hc)
			return
		}
		if err := RefuseEncoded(r); err != nil {
			a.write(hc, err)
			return
		}
		header := r.Header.Get("Content-Type")
		given, _, err := mime.ParseMediaType(header)
		if _, declared := body.Content[given]; err != nil || (given != want && !declared) {
			a.write(hc, &fault.Error{Kind: fault.KindUnsupported, Message: sentence})
			return
		}
		if _, parameters, some := strings.Cut(header, ";"); some { // huma compares media types as they are written
			r.Header.Set("Content-Type", given+";"+parameters)
		} else {
			r.Header.Set("Content-Type", given)
		}
		next(hc)
	}
}

// RefuseEncoded is 415 for a body with a Content-Encoding. None is decoded; read as it
// stands, it would not be what the client says that it is.
func RefuseEncoded(r *http.Request) error {
	for _, coding := range strings.Split(strings.Join(r.Header.Values("Content-Encoding"), ","), ",") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return &fault.Error{
				Kind: fault.KindUnsupported, Message: "The body has to be sent without Content-Encoding.",
			}
		}
	}
	return nil
}

// throttled bounds the calls of one address to one operation.
func (a *API) throttled(perMinute int) func(huma.Context, func(huma.Context)) {
	if perMinute == 0 || a.cfg.NoThrottle {
		return func(hc huma.Context, next func(huma.Context)) { next(hc) }
	}
	limiter := httprate.NewRateLimiter(perMinute, time.Minute)
	return func(hc huma.Context, next func(huma.Context)) {
		_, w := unwrap(hc)
		if limiter.OnLimit(w, mustRequest(hc), ClientNetwork(hc.Context())) {
			wait := time.Minute
			if s, err := strconv.Atoi(w.Header().Get("Retry-After")); err == nil && s > 0 {
				wait = time.Duration(s) * time.Second
			}
			a.write(hc, fault.TooManyRequests(wait, "Too many requests. Try again in %s.", fault.Seconds(wait)))
			return
		}
		next(hc)
	}
}

func mustRequest(hc huma.Context) *http.Request { r, _ := unwrap(hc); return r }

func (a *API) timeout(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), a.cfg.RequestTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuseUnstorable keeps away from Postgres what its texts cannot hold: U+0000 in
// a path or query, and a path that is no UTF-8. Parameters that are none are
// refused where they are read. Who looks for a page is shown that there is none.
func refuseUnstorable(all Pages) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			err := unstorable(r.URL)
			pages := pagesFor(r, all)
			switch {
			case err == nil:
				next.ServeHTTP(w, r)
			case pages != nil && !wantsJSON(r):
				pages.NotFound(w, r)
			default:
				WriteJSON(w, http.StatusUnprocessableEntity, bodyOf(err))
			}
		})
	}
}

// unstorable is 422 with where an address holds what no text in Postgres can; nil for nothing.
func unstorable(address *url.URL) *fault.Error {
	const holds = "holds the character U+0000"
	switch {
	case !utf8.ValidString(address.Path):
		return fault.InvalidAt("is not valid UTF-8", "path")
	case strings.ContainsRune(address.Path, 0):
		return fault.InvalidAt(holds, "path")
	case strings.Contains(address.RawQuery, "%00"):
		return fault.InvalidAt(holds, atNUL(address.Query())...)
	}
	return nil
}

// atNUL is where in the query U+0000 stands: the parameter, when its name is whole.
func atNUL(query url.Values) []any {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !strings.ContainsRune(name, 0) &&
			slices.ContainsFunc(query[name], func(v string) bool { return strings.ContainsRune(v, 0) }) {
			return []any{"query", name}
		}
	}
	return []any{"query"}
}

// secured are the headers that every answer begins with. The values are shared: a handler sets others in their place.
var secured = http.Header{
	"X-Content-Type-Options": {"nosniff"},
	"X-Frame-Options":        {"DENY"},
	"Referrer-Policy":        {"no-referrer"},
	"Content-Security-Policy": {
		"default-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	},
	"Strict-Transport-Security": {"max-age=31536000; includeSubDomains"},
	"Cache-Control":             {"no-store"},
}

func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), secured)
		next.ServeHTTP(w, r)
	})
}

func (a *API) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // the documented sentinel is compared by identity
				panic(v)
			}
			a.cfg.Log.ErrorContext(ctx, "panic", slog.String("request_id", RequestID(ctx)),
				slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			WriteJSON(w, http.StatusInternalServerError, &ErrorBody{Detail: internalSentence})
		}()
		next.ServeHTTP(w, r)
	})
}

func typeFor[T any]() reflect.Type { return reflect.TypeFor[T]() }

func compareStrings(pairs ...string) int {
	for i := 0; i+1 < len(pairs); i += 2 {
		if c := strings.Compare(pairs[i], pairs[i+1]); c != 0 {
			return c
		}
	}
	return 0
}

func tagOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "admin" && len(parts) > 1 {
		return "admin " + parts[1]
	}
	return parts[0]
}
