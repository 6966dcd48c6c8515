package sessions

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

const (
	issuer    = "marquee"
	defaultTZ = "UTC"
	// TokenType is how answers name the kind of token.
	TokenType = "bearer"
	// MinKeyBytes is the least length of a key.
	MinKeyBytes = 32
	// clockSkew is how far the clocks of two processes may be apart.
	clockSkew = time.Minute
)

// tokenKind keeps an access token from serving as a refresh token, and the other
// way round.
type tokenKind string

const (
	accessKind  tokenKind = "access"
	refreshKind tokenKind = "refresh"
)

// errToken says that a token does not hold; why is nobody's business.
var errToken = errors.New("the token does not hold")

// tokenClaims is the payload of both kinds of tokens.
type tokenClaims struct {
	jwt.RegisteredClaims
	Kind     tokenKind     `json:"kind"`
	UserID   objectid.ID   `json:"user_id"`
	Username string        `json:"username"`
	TypeUser []objectid.ID `json:"type_user"`
	TZ       string        `json:"tz"`
	IssuedMS int64         `json:"iat_ms"` // iat has whole seconds; ending tokens needs milliseconds
	// SessionID is that of the sign-in from which the token comes; "" of a token of before sessions.
	SessionID objectid.ID `json:"sid,omitempty"`
	// Viewer is the member of staff who sees by the token what its user sees (RFC 8693, act); nil of the user's own.
	Viewer *viewer `json:"act,omitempty"`
}

type viewer struct {
	ID        objectid.ID `json:"sub"`
	SessionID objectid.ID `json:"sid,omitempty"`
}

// isValid reports whether it names somebody.
func (v *viewer) isValid() bool {
	return v == nil || objectid.Valid(v.ID.String()) && (v.SessionID == "" || objectid.Valid(v.SessionID.String()))
}

// issuedAfter keeps out tokens from the future: no ending of a user's tokens
// would reach them.
func (c tokenClaims) issuedAfter(latest time.Time) bool {
	return time.UnixMilli(c.IssuedMS).After(latest) || c.IssuedAt != nil && c.IssuedAt.After(latest)
}

// keyRing signs with its first key and verifies with all, so that keys can be
// rotated.
type keyRing struct {
	signing string
	keys    map[string][]byte
	parser  *jwt.Parser
	clock   clock.Clock
	seen    verifiedTokens
}

// parseKeyRing reads "kid:secret,kid:secret". The clock tells when a token is
// over.
func parseKeyRing(text string, clk clock.Clock) (*keyRing, error) {
	ring := &keyRing{clock: clk, keys: map[string][]byte{}, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(),
		jwt.WithIssuer(issuer),
		jwt.WithTimeFunc(func() time.Time { return clk.Now() }),
	)}
	for _, entry := range strings.Split(text, ",") {
		kid, key, found := strings.Cut(strings.TrimSpace(entry), ":")
		if !found || kid == "" {
			return nil, errors.New("TOKEN_KEYS has to look like kid:secret,kid:secret")
		}
		if len(key) < MinKeyBytes {
			return nil, fmt.Errorf("TOKEN_KEYS: the secret of %q has to be at least %d characters long", kid,
				MinKeyBytes)
		}
		if _, twice := ring.keys[kid]; twice {
			return nil, fmt.Errorf("TOKEN_KEYS names %q twice", kid)
		}
		if ring.signing == "" {
			ring.signing = kid
		}
		ring.keys[kid] = []byte(key)
	}
	return ring, nil
}

// sign makes a token of the kind, of a session, that lives for ttl from now.
func (k *keyRing) sign(kind tokenKind, caller httpapi.Caller, session objectid.ID, now time.Time,
	ttl time.Duration,
) (token string, expires time.Time, err error) {
	return k.signClaims(tokenClaims{Kind: kind, SessionID: session}, caller, now, ttl)
}

// signView makes an access token by which staff see what a customer sees.
func (k *keyRing) signView(of httpapi.Caller, by *viewer, now time.Time) (token string, expires time.Time, err error) {
	return k.signClaims(tokenClaims{Kind: accessKind, Viewer: by}, of, now, viewTTL)
}

func (k *keyRing) signClaims(claims tokenClaims, caller httpapi.Caller, now time.Time,
	ttl time.Duration,
) (token string, expires time.Time, err error) {
	expires = now.Add(ttl)
	profiles := caller.Profiles
	if profiles == nil {
		profiles = []objectid.ID{}
	}
	claims.RegisteredClaims = jwt.RegisteredClaims{
		Issuer: issuer, Subject: caller.ID.String(), ID: secret.Random(12),
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
	}
	claims.UserID, claims.Username, claims.TypeUser, claims.TZ = caller.ID, caller.Username, profiles, defaultTZ
	claims.IssuedMS = now.UnixMilli()
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	t.Header["kid"] = k.signing
	token, err = t.SignedString(k.keys[k.signing])
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign token: %w", err)
	}
	return token, expires, nil
}

// verify checks signature, issuer, kind, expiry and that the token was issued
// already; errToken when any is wrong.
func (k *keyRing) verify(kind tokenKind, token string) (httpapi.Claims, error) {
	hash := sha256.Sum256([]byte(token))
	if claims, ok := k.seen.find(hash, kind, k.clock.Now()); ok {
		return claims, nil
	}
	var claims tokenClaims
	parsed, err := k.parser.ParseWithClaims(token, &claims, k.keyOf)
	if err != nil || !parsed.Valid || claims.Kind != kind || !objectid.Valid(claims.UserID.String()) ||
		claims.SessionID != "" && !objectid.Valid(claims.SessionID.String()) || !claims.Viewer.isValid() ||
		claims.issuedAfter(k.clock.Now().Add(clockSkew)) {
		return httpapi.Claims{}, errToken
	}
	said := httpapi.Claims{
		UserID: claims.UserID, IssuedAt: time.UnixMilli(claims.IssuedMS).UTC(), TokenID: claims.ID,
		SessionID: claims.SessionID,
	}
	if claims.Viewer != nil {
		said.ViewerID, said.ViewerSessionID = claims.Viewer.ID, claims.Viewer.SessionID
	}
	k.seen.keep(hash, verifiedToken{kind: kind, claims: said, expires: claims.ExpiresAt.Time})
	return said, nil
}

// keyOf finds the key that a token names.
func (k *keyRing) keyOf(t *jwt.Token) (any, error) {
	kid, _ := t.Header["kid"].(string)
	key, known := k.keys[kid]
	if !known {
		return nil, errToken
	}
	return key, nil
}
