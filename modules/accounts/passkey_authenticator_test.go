package accounts_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
)

// key is an authenticator in software, with one passkey.
type key struct {
	b    *bundle
	site virtualwebauthn.RelyingParty
	auth virtualwebauthn.Authenticator
	cred virtualwebauthn.Credential
}

func (b *bundle) newKey(userID objectid.ID) *key {
	return &key{
		b: b, site: virtualwebauthn.RelyingParty{
			Name: "Marquee", ID: accountstest.PasskeyDomain, Origin: "https://" + accountstest.PasskeyDomain,
		},
		auth: virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: []byte(userID)}),
		cred: newCredential(),
	}
}

// wholeKey is the length of a key whose coordinates have all their bytes: the authenticator leaves zeros in front out,
// which no real one does.
const wholeKey = 77

func newCredential() virtualwebauthn.Credential {
	for {
		c := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(c.Key.AttestationData()) == wholeKey {
			return c
		}
	}
}

// asBrowsersSend is a credential with all members that PublicKeyCredential.toJSON gives.
func asBrowsersSend(t *testing.T, credential string, more map[string]any) map[string]any {
	t.Helper()
	var all map[string]any
	require.NoError(t, json.Unmarshal([]byte(credential), &all))
	all["authenticatorAttachment"], all["clientExtensionResults"] = "platform", map[string]any{"credProps": map[string]any{}}
	maps.Copy(all["response"].(map[string]any), more)
	return all
}

// made is what the authenticator makes of the options of a registration.
func (k *key) made(t *testing.T, options response) any {
	t.Helper()
	require.Equal(t, 200, options.status, options.raw)
	parsed, err := virtualwebauthn.ParseAttestationOptions(options.raw)
	require.NoError(t, err)
	return asBrowsersSend(t, virtualwebauthn.CreateAttestationResponse(k.site, k.auth, k.cred, *parsed), map[string]any{
		"transports": []string{"internal", "hybrid"}, "publicKey": "AA", "publicKeyAlgorithm": -7, "authenticatorData": "AA",
	})
}

// signs is what it makes of the options of a sign-in.
func (k *key) signs(t *testing.T, options response) any {
	t.Helper()
	require.Equal(t, 200, options.status, options.raw)
	parsed, err := virtualwebauthn.ParseAssertionOptions(options.raw)
	require.NoError(t, err)
	return asBrowsersSend(t, virtualwebauthn.CreateAssertionResponse(k.site, k.auth, k.cred, *parsed), nil)
}

func (b *bundle) keyOptions(t *testing.T, token string) response {
	t.Helper()
	return b.post(t, "/me/passkeys/options", token, map[string]any{"current_password": accountstest.Password})
}

func (b *bundle) signInOptions(t *testing.T) response {
	t.Helper()
	return b.post(t, "/auth/passkeys/options", "", "")
}

func (b *bundle) verify(t *testing.T, credential any) response {
	t.Helper()
	return b.post(t, "/auth/passkeys/verify", "", map[string]any{"credential": credential})
}

func (b *bundle) register(t *testing.T, token, name string, credential any) response {
	t.Helper()
	return b.post(t, "/me/passkeys", token, map[string]any{"name": name, "credential": credential})
}

// signIn signs in with the key.
func (k *key) signIn(t *testing.T) response {
	t.Helper()
	return k.b.verify(t, k.signs(t, k.b.signInOptions(t)))
}

// registered is a key that the user has registered.
func (b *bundle) registered(t *testing.T, userID objectid.ID, token string) *key {
	t.Helper()
	k := b.newKey(userID)
	a := b.register(t, token, "Phone", k.made(t, b.keyOptions(t, token)))
	require.Equal(t, 200, a.status, a.raw)
	return k
}
