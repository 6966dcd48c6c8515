// Package bare is the limit that `make bench` measures the platform against: a server of the
// same design with nothing around it. It gives the same answers from the same rows, and
// writes the same rows, with the same promises (who may not, may not; nothing is
// acknowledged before its commit), by net/http and pgx alone.
//
// It has no layers, no validation beyond what the load needs, no metrics and no log: what
// the platform costs beside it is what these cost. It is no product: clients other than
// cmd/bench have nothing of it.
//
//	GET  /api/v1/videos                    one statement; pages by the catalogue's version
//	POST /api/v1/token                     argon2id, as many at once as cores
//	POST /webhooks/gwb                     a paid renewal: one statement, one commit
//	POST /api/v1/store/purchase/gwb/card   free tickets: one statement, one commit
package bare

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config is what the server shares with the platform beside it.
type Config struct {
	DatabaseURL   string
	Addr          string
	PublicURL     string // of the platform: links in answers are the same
	TokenKey      string // kid:secret
	WebhookSecret string
	Connections   int32
}

type server struct {
	Config
	pool   *pgxpool.Pool
	kid    string
	key    []byte
	seen   sync.Map      // verified tokens: text to claims
	pages  sync.Map      // address to page
	stored atomic.Int64  // pages
	slots  chan struct{} // of password hashes
}

// Serve answers until ctx ends.
func Serve(ctx context.Context, c Config) error {
	cfg, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	cfg.MaxConns = c.Connections
	cfg.ConnConfig.RuntimeParams["timezone"], cfg.ConnConfig.RuntimeParams["jit"] = "UTC", "off"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer pool.Close()
	s := &server{Config: c, pool: pool, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	kid, key, _ := strings.Cut(c.TokenKey, ":")
	s.kid, s.key = kid, []byte(key)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /api/v1/videos", respond(s.videos))
	mux.HandleFunc("POST /api/v1/token", respond(s.token))
	mux.HandleFunc("POST /webhooks/gwb", respond(s.webhook))
	mux.HandleFunc("POST /api/v1/store/purchase/gwb/card", respond(s.purchase))
	listening := &http.Server{Addr: c.Addr, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = listening.Close() })
	if err := listening.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// status is an error that a client is told.
type status int

func (s status) Error() string { return http.StatusText(int(s)) }

// respond writes the JSON that a handler gives.
func respond(handle func(*http.Request) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := handle(r)
		var code status
		switch {
		case errors.As(err, &code):
			w.WriteHeader(int(code))
		case err != nil:
			log.Println(r.Method, r.URL.Path, err)
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
		}
	}
}

// claims is the payload of a token.
type claims struct {
	jwt.RegisteredClaims
	Kind     string   `json:"kind"`
	UserID   string   `json:"user_id"`
	Username string   `json:"username"`
	TypeUser []string `json:"type_user"`
	TZ       string   `json:"tz"`
	IssuedMS int64    `json:"iat_ms"`

	SessionID string `json:"sid,omitempty"`
}

func (c claims) issuedAt() time.Time { return time.UnixMilli(c.IssuedMS) }

// caller reads the bearer token, whose signature is checked once. Whether its user may come
// in is each statement's to say.
func (s *server) caller(r *http.Request) (claims, error) {
	text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if known, ok := s.seen.Load(text); ok {
		c := known.(claims)
		if time.Now().Before(c.ExpiresAt.Time) {
			return c, nil
		}
	}
	var c claims
	_, err := jwt.ParseWithClaims(text, &c, func(*jwt.Token) (any, error) { return s.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired())
	if err != nil || c.Kind != "access" {
		return claims{}, status(http.StatusForbidden)
	}
	s.seen.Store(text, c)
	return c, nil
}

// now is the present instant as the database keeps it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// formatTime is the form of instants in answers.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
