package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"marquee/platform/audit"
	"marquee/platform/objectid"
)

// request is what the rest of the way may ask about the HTTP request.
type request struct {
	id     string
	addr   netip.Addr
	public string
	url    *url.URL
	agent  string
	head   bool   // the method is HEAD
	writes bool   // the method may change something
	lastID string // Last-Event-ID
}

// withTrail makes a request that may write, or is audited all the same, known to the audit trail, by the name
// of its handler.
func (a *API) withTrail(ctx context.Context, audited bool, handler string) context.Context {
	if !audited {
		return ctx
	}
	ctx = context.WithValue(ctx, handlerKey, handler)
	if a.cfg.Trail == nil {
		return ctx
	}
	return audit.With(ctx, a.cfg.Trail)
}

// HandlerName returns the name of the handler that a writing request came to, as
// in GET /routes; "" for reads and outside of requests.
func HandlerName(ctx context.Context) string {
	name, _ := ctx.Value(handlerKey).(string)
	return name
}

func requestOf(ctx context.Context) request {
	r, _ := ctx.Value(requestKey).(request)
	return r
}

// LastEventIDHeader is where a client repeats the id of the last event that it has of a stream.
const LastEventIDHeader = "Last-Event-ID"

// LastEventID is the id of the last event that the client of the request has; "" of one that has none.
func LastEventID(ctx context.Context) string { return requestOf(ctx).lastID }

// RequestID returns the id that the answer carries as X-Request-Id.
func RequestID(ctx context.Context) string { return requestOf(ctx).id }

// Writes reports whether the request may change something, by its method.
func Writes(ctx context.Context) bool { return requestOf(ctx).writes }

// ClientIP returns the caller's address; behind a trusted proxy, the one that
// the proxy saw.
func ClientIP(ctx context.Context) string {
	addr := requestOf(ctx).addr
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

// UserAgent returns what the client calls itself, as it was sent; "" when it does not.
func UserAgent(ctx context.Context) string { return requestOf(ctx).agent }

// maxDeviceLength bounds what a client calls itself, in characters.
const maxDeviceLength = 300

// Device is UserAgent as it can be kept and shown: printable, and of 300 characters at most.
func Device(ctx context.Context) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(UserAgent(ctx), ""))
	for at := range name {
		if utf8.RuneCountInString(name[:at]) == maxDeviceLength {
			return name[:at]
		}
	}
	return name
}

// ClientNetwork returns what one subscriber has for themself: the IPv4 address, or the
// /64 of an IPv6 address, as text; "" where no address is known.
func ClientNetwork(ctx context.Context) string {
	addr := requestOf(ctx).addr.Unmap()
	if addr.Is4() {
		return addr.String()
	}
	network, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return ""
	}
	return network.String()
}

// SelfURL returns the address of the request as clients see it.
func SelfURL(ctx context.Context) string {
	r := requestOf(ctx)
	if r.url == nil {
		return ""
	}
	return r.public + r.url.RequestURI()
}

// RequestURL returns a copy of the path and query of the request, as clients see
// it, for links to other pages of a list.
func RequestURL(ctx context.Context) *url.URL {
	r := requestOf(ctx)
	u, err := url.Parse(r.public)
	if err != nil || r.url == nil {
		return &url.URL{}
	}
	u.Path, u.RawPath, u.RawQuery = r.url.Path, r.url.RawPath, r.url.RawQuery
	return u
}

// RawQuery returns the query of the request as the client wrote it, without the question mark.
func RawQuery(ctx context.Context) string {
	if u := requestOf(ctx).url; u != nil {
		return u.RawQuery
	}
	return ""
}

// PublicURL returns the scheme and host under which clients reach the service.
func (a *API) PublicURL() string { return a.cfg.PublicURL }

// identify gives the request an id and an address. A caller's own id is kept
// when it looks like one, so that a trace crosses services.
func (a *API) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !plausibleID(id) {
			id = objectid.New().String()
		}
		w.Header().Set("X-Request-Id", id)
		req := request{
			id: id, addr: a.clientAddr(r), public: a.cfg.PublicURL, url: r.URL, agent: r.UserAgent(),
			head: r.Method == http.MethodHead, writes: !reads(r) && r.Method != http.MethodOptions,
			lastID: r.Header.Get(LastEventIDHeader),
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey, req)))
	})
}

func plausibleID(id string) bool {
	if len(id) < 8 || len(id) > 64 {
		return false
	}
	return strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// clientAddr walks X-Forwarded-For from the right, past the trusted proxies.
func (a *API) clientAddr(r *http.Request) netip.Addr {
	addr := peerOf(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.trusted(addr); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop
	}
	return addr.Unmap()
}

// peerOf is the address at the other end of the connection; not valid where there is none.
func peerOf(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	addr, _ := netip.ParseAddr(host)
	return addr
}

func (a *API) trusted(addr netip.Addr) bool {
	for _, p := range a.cfg.TrustedProxies {
		if p.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}

func unwrap(hc huma.Context) (*http.Request, http.ResponseWriter) { return humachi.Unwrap(hc) }
