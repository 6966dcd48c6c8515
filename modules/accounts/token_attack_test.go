package accounts_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
)

// tokenKid and tokenKey are those of accountstest.Config.
const (
	tokenKid = "test"
	tokenKey = "0123456789abcdef0123456789abcdef"
)

// forgery is a token that an attacker makes: the claims of a real user, changed.
type forgery struct {
	method jwt.SigningMethod // default HS256
	header map[string]any    // default the kid of the service
	key    any               // default the key of the service
	claims jwt.MapClaims     // nil removes a claim
}

func (f forgery) sign(t *testing.T, honest jwt.MapClaims) string {
	t.Helper()
	claims := maps.Clone(honest)
	for name, value := range f.claims {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	if f.method == nil {
		f.method = jwt.SigningMethodHS256
	}
	if f.key == nil {
		f.key = []byte(tokenKey)
	}
	token := jwt.NewWithClaims(f.method, claims)
	token.Header["kid"] = tokenKid
	maps.Copy(token.Header, f.header)
	text, err := token.SignedString(f.key)
	require.NoError(t, err)
	return text
}

// payloadOf is what a token says.
func payloadOf(t *testing.T, token string) jwt.MapClaims {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	var claims jwt.MapClaims
	require.NoError(t, json.Unmarshal(raw, &claims))
	return claims
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// TestForgedTokens: whatever is changed in a token of a real root user, it is
// 403 with the contract's sentence (docs/contract/accounts.md, Tokens).
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	login := b.login(t, accountstest.Root(t, b.db).Username, accountstest.Password)
	good := login.text("access_token")
	honest := payloadOf(t, good)
	parts := strings.Split(good, ".")

	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	require.NoError(t, err)
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	later := b.clock.Now().Add(10 * time.Minute)
	other := maps.Clone(honest)
	other["user_id"] = accountstest.Admin(t, b.db).ID

	forged := map[string]string{
		"alg none, signed by nobody": forgery{
			method: jwt.SigningMethodNone, key: jwt.UnsafeAllowNoneSignatureType,
		}.sign(t, honest),
		"alg none, the old signature": encoded(t, map[string]any{
			"alg": "none", "kid": tokenKid, "typ": "JWT",
		}) + "." + parts[1] + "." + parts[2],
		"alg None": encoded(t, map[string]any{
			"alg": "None", "kid": tokenKid, "typ": "JWT",
		}) + "." + parts[1] + ".",
		"alg missing": encoded(t, map[string]any{
			"kid": tokenKid, "typ": "JWT",
		}) + "." + parts[1] + "." + parts[2],
		"alg RS256, their own key": forgery{method: jwt.SigningMethodRS256, key: rsaKey}.sign(t, honest),
		"alg ES256, their own key": forgery{method: jwt.SigningMethodES256, key: ecKey}.sign(t, honest),
		"alg RS256 over the HS256": encoded(t, map[string]any{
			"alg": "RS256", "kid": tokenKid, "typ": "JWT",
		}) + "." + parts[1] + "." + parts[2],
		"HS256 with a public key":  forgery{key: publicPEM}.sign(t, honest),
		"HS384 with the right key": forgery{method: jwt.SigningMethodHS384}.sign(t, honest),
		"HS512 with the right key": forgery{method: jwt.SigningMethodHS512}.sign(t, honest),
		"an empty key":             forgery{key: []byte{}}.sign(t, honest),
		"the kid as the key":       forgery{key: []byte(tokenKid)}.sign(t, honest),
		"their own key in jwk": forgery{
			key:    []byte("mine"),
			header: map[string]any{"jwk": map[string]any{"kty": "oct", "k": "bWluZQ"}},
		}.sign(t, honest),
		"their own key behind jku": forgery{
			key:    []byte("mine"),
			header: map[string]any{"jku": "https://example.com/keys"},
		}.sign(t, honest),
		"unknown kid": forgery{header: map[string]any{"kid": "other"}}.sign(t, honest),
		"empty kid":   forgery{header: map[string]any{"kid": ""}}.sign(t, honest),
		"kid of a file": forgery{
			key:    []byte{},
			header: map[string]any{"kid": "../../../dev/null"},
		}.sign(t, honest),
		"kid of another type": forgery{header: map[string]any{"kid": []string{tokenKid}}}.sign(t, honest),
		"payload changed":     parts[0] + "." + encoded(t, other) + "." + parts[2],
		"signature changed":   parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 32)),
		"signature missing":   parts[0] + "." + parts[1] + ".",
		"signature cut off":   parts[0] + "." + parts[1],
		"one part more":       good + ".x",
		"expired": forgery{claims: jwt.MapClaims{"exp": b.clock.Now().Add(-time.Second).Unix()}}.sign(t,
			honest),
		"without an end": forgery{claims: jwt.MapClaims{"exp": nil}}.sign(t, honest),
		"not valid yet":  forgery{claims: jwt.MapClaims{"nbf": later.Unix()}}.sign(t, honest),
		"issued in the future": forgery{claims: jwt.MapClaims{
			"iat": later.Unix(), "iat_ms": later.UnixMilli(),
		}}.sign(t, honest),
		"issued in the future, iat":   forgery{claims: jwt.MapClaims{"iat": later.Unix()}}.sign(t, honest),
		"issued in the future, in ms": forgery{claims: jwt.MapClaims{"iat_ms": later.UnixMilli()}}.sign(t, honest),
		"another issuer":              forgery{claims: jwt.MapClaims{"iss": "other"}}.sign(t, honest),
		"without an issuer":           forgery{claims: jwt.MapClaims{"iss": nil}}.sign(t, honest),
		"a refresh token":             login.text("refresh_token"),
		"an archive token":            login.text("archive_token"),
		"kind refresh":                forgery{claims: jwt.MapClaims{"kind": "refresh"}}.sign(t, honest),
		"unknown kind":                forgery{claims: jwt.MapClaims{"kind": "admin"}}.sign(t, honest),
		"without a kind":              forgery{claims: jwt.MapClaims{"kind": nil}}.sign(t, honest),
		"nobody's id":                 forgery{claims: jwt.MapClaims{"user_id": objectid.New()}}.sign(t, honest),
		"an id that is no id":         forgery{claims: jwt.MapClaims{"user_id": "' OR 1=1 --"}}.sign(t, honest),
		"an id of another type": forgery{claims: jwt.MapClaims{"user_id": map[string]any{"$ne": ""}}}.sign(t,
			honest),
		"a JSON document and no token": `{"user_id":"` + honest["user_id"].(string) + `"}`,
		"JSON serialisation of the JWS": `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` +
			parts[2] + `"}`,
	}
	for name, token := range forged {
		for _, path := range []string{"/current-user", "/users", "/users-type"} { // signed in, admin, root
			a := b.get(t, path, token)
			require.Equal(t, http.StatusForbidden, a.status, "%s, %s: %s", name, path, a.raw)
			require.JSONEq(t, `{"detail":"`+badToken+`"}`, a.raw, name)
		}
		if name == "a refresh token" || name == "kind refresh" {
			continue
		}
		a := b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": token})
		require.Equal(t, http.StatusForbidden, a.status, "refreshed by %s: %s", name, a.raw)
		require.JSONEq(t, `{"detail":"`+badToken+`"}`, a.raw, name)
	}
	require.Equal(t, 200, b.get(t, "/users-type", good).status, "the honest token holds")
	require.Equal(t, 200, b.get(t, "/users-type", forgery{}.sign(t, honest)).status,
		"a forgery that changes nothing holds: the changes are what is refused")
	fast := forgery{claims: jwt.MapClaims{"iat_ms": b.clock.Now().Add(30 * time.Second).UnixMilli()}}.sign(t, honest)
	require.Equal(t, 200, b.get(t, "/users-type", fast).status, "another process's clock may be a little ahead")
}
