package bare

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/argon2"
)

// Lives of what a login gives, as the platform's defaults are.
const (
	accessLife  = 12 * time.Hour
	refreshLife = 720 * time.Hour
	archiveLife = 12 * time.Hour
)

// tokens is the answer to a login.
type tokens struct {
	AccessToken           string `json:"access_token"`
	RefreshToken          string `json:"refresh_token"`
	ArchiveToken          string `json:"archive_token"`
	TokenType             string `json:"token_type"`
	IDToken               string `json:"id_token"`
	Expiration            string `json:"expiration"`
	PasswordResetRequired bool   `json:"password_reset_required,omitempty"`
	Message               string `json:"message,omitempty"`
}

// token logs a user in: one read, the hash, durable rows for the archive token and the session.
func (s *server) token(r *http.Request) ([]byte, error) {
	if err := r.ParseForm(); err != nil {
		return nil, status(http.StatusUnprocessableEntity)
	}
	var u struct {
		id, name, hash string
		profiles       []string
		reset          bool
	}
	err := s.pool.QueryRow(r.Context(), `SELECT u.id, u.username, coalesce(u.password_hash, ''), u.type_user, u.password_reset_required
		FROM accounts.logins l JOIN accounts.users u ON u.id = l.user_id
		WHERE l.login = accounts.fold($1) AND u.enable`, r.Form.Get("username")).
		Scan(&u.id, &u.name, &u.hash, &u.profiles, &u.reset)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, status(http.StatusUnauthorized)
	}
	if err != nil {
		return nil, err
	}
	s.slots <- struct{}{}
	ok := matches(r.Form.Get("password"), u.hash)
	<-s.slots
	if !ok {
		return nil, status(http.StatusUnauthorized)
	}
	issued := now()
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	t := tokens{
		ArchiveToken: base64.RawURLEncoding.EncodeToString(secret), TokenType: "bearer", IDToken: u.id,
		Expiration: formatTime(issued.Add(accessLife)), PasswordResetRequired: u.reset,
	}
	if u.reset {
		t.Message = "Please choose a new password."
	}
	sum := sha256.Sum256([]byte(t.ArchiveToken))
	c := claims{
		UserID: u.id, Username: u.name, TypeUser: append([]string{}, u.profiles...), TZ: "UTC",
		IssuedMS: issued.UnixMilli(), SessionID: newID(issued),
	}
	_, err = s.pool.Exec(r.Context(), `WITH archive AS (
			INSERT INTO files.archive_tokens (token_hash, user_id, session_id, issued_at, expires_at) VALUES ($1, $2, $3, $4, $5)
		)
		INSERT INTO accounts.sessions (id, user_id, method, second_factor, device, address, started_at, refreshed_at, expires_at)
		VALUES ($3, $2, 'login', false, $6, $7, $4, $4, $8)`, hex.EncodeToString(sum[:]), u.id, c.SessionID, issued,
		issued.Add(archiveLife), r.UserAgent(), r.RemoteAddr, issued.Add(refreshLife))
	if err != nil {
		return nil, err
	}
	if t.AccessToken, err = s.sign(c, "access", issued, accessLife); err != nil {
		return nil, err
	}
	if t.RefreshToken, err = s.sign(c, "refresh", issued, refreshLife); err != nil {
		return nil, err
	}
	return encode(t)
}

func (s *server) sign(c claims, kind string, issued time.Time, life time.Duration) (string, error) {
	id := make([]byte, 12)
	_, _ = rand.Read(id) // never fails
	c.Kind = kind
	c.RegisteredClaims = jwt.RegisteredClaims{
		Issuer: "marquee", Subject: c.UserID, ID: base64.RawURLEncoding.EncodeToString(id),
		IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(issued.Add(life)),
	}
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, c)
	t.Header["kid"] = s.kid
	return t.SignedString(s.key)
}

// matches holds a password against an argon2id hash, at the hash's own price.
func matches(password, stored string) bool {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false
	}
	var memory, passes uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil {
		return false
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, threads, uint32(len(sum))) //nolint:gosec // a digest is short
	return subtle.ConstantTimeCompare(got, sum) == 1
}

// encode is the JSON of an answer, with the line end that the platform's have.
func encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	return append(body, '\n'), err
}
