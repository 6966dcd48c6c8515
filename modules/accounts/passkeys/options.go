package passkeys

import (
	"encoding/base64"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"

	"marquee/platform/httpapi"
)

// What clients are given is named as browsers take it, by PublicKeyCredential.parseRequestOptionsFromJSON and
// parseCreationOptionsFromJSON. Texts of bytes are base64url.

var base64URL = base64.RawURLEncoding

// loginOptions are the answer of POST /auth/passkeys/options.
type loginOptions struct {
	PublicKey requestOptions `json:"publicKey" doc:"For PublicKeyCredential.parseRequestOptionsFromJSON"`
	ExpiresAt httpapi.Time   `json:"expires_at" doc:"Until when it can be answered, once"`
}

type requestOptions struct {
	Challenge        string `json:"challenge"`
	Timeout          int    `json:"timeout" doc:"In milliseconds"`
	RPID             string `json:"rpId" doc:"The domain"`
	UserVerification string `json:"userVerification" enum:"required"`
}

func requestOptionsOf(o protocol.PublicKeyCredentialRequestOptions) requestOptions {
	return requestOptions{
		Challenge: o.Challenge.String(), Timeout: o.Timeout, RPID: o.RelyingPartyID,
		UserVerification: string(o.UserVerification),
	}
}

// registrationOptions are the answer of POST /me/passkeys/options.
type registrationOptions struct {
	PublicKey creationOptions `json:"publicKey" doc:"For PublicKeyCredential.parseCreationOptionsFromJSON"`
	ExpiresAt httpapi.Time    `json:"expires_at" doc:"Until when it can be answered, once"`
}

type creationOptions struct {
	Challenge              string                 `json:"challenge"`
	Timeout                int                    `json:"timeout" doc:"In milliseconds"`
	RP                     relyingParty           `json:"rp"`
	User                   passkeyUser            `json:"user"`
	PubKeyCredParams       []keyKind              `json:"pubKeyCredParams"`
	ExcludeCredentials     []knownCredential      `json:"excludeCredentials" doc:"Those that the user has"`
	AuthenticatorSelection authenticatorSelection `json:"authenticatorSelection"`
	Attestation            string                 `json:"attestation" enum:"none"`
}

type relyingParty struct {
	ID   string `json:"id" doc:"The domain"`
	Name string `json:"name"`
}

type passkeyUser struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
}

type keyKind struct {
	Type string `json:"type" enum:"public-key"`
	Alg  int    `json:"alg" doc:"A kind of key as COSE numbers it"`
}

type knownCredential struct {
	Type       string   `json:"type" enum:"public-key"`
	ID         string   `json:"id"`
	Transports []string `json:"transports"`
}

type authenticatorSelection struct {
	ResidentKey        string `json:"residentKey" enum:"required"`
	RequireResidentKey bool   `json:"requireResidentKey"`
	UserVerification   string `json:"userVerification" enum:"required"`
}

func creationOptionsOf(o protocol.PublicKeyCredentialCreationOptions, a account) creationOptions {
	out := creationOptions{
		Challenge: o.Challenge.String(), Timeout: o.Timeout, Attestation: string(o.Attestation),
		RP: relyingParty{ID: o.RelyingParty.ID, Name: o.RelyingParty.Name},
		User: passkeyUser{
			ID: base64URL.EncodeToString(a.WebAuthnID()), Name: a.WebAuthnName(), DisplayName: a.WebAuthnDisplayName(),
		},
		PubKeyCredParams: []keyKind{}, ExcludeCredentials: []knownCredential{},
		AuthenticatorSelection: authenticatorSelection{
			ResidentKey:        string(o.AuthenticatorSelection.ResidentKey),
			RequireResidentKey: true, UserVerification: string(o.AuthenticatorSelection.UserVerification),
		},
	}
	for _, p := range o.Parameters {
		out.PubKeyCredParams = append(out.PubKeyCredParams, keyKind{Type: string(p.Type), Alg: int(p.Algorithm)})
	}
	for _, c := range a.credentials {
		known := knownCredential{
			Type: string(protocol.PublicKeyCredentialType), ID: base64URL.EncodeToString(c.ID), Transports: []string{},
		}
		for _, transport := range c.Transport {
			known.Transports = append(known.Transports, string(transport))
		}
		out.ExcludeCredentials = append(out.ExcludeCredentials, known)
	}
	return out
}

// What clients send back is what PublicKeyCredential.toJSON gives, all of it; what is not read says so.

// assertion is the answer of an authenticator at a sign-in.
type assertion struct {
	ID                     string            `json:"id" minLength:"1" maxLength:"1400"`
	RawID                  string            `json:"rawId" minLength:"1" maxLength:"1400"`
	Type                   string            `json:"type" enum:"public-key"`
	Response               assertionResponse `json:"response"`
	Attachment             string            `json:"authenticatorAttachment,omitempty" required:"false" maxLength:"100" doc:"Not read"`
	ClientExtensionResults map[string]any    `json:"clientExtensionResults,omitempty" required:"false" doc:"Not read: none is asked for"`
}

type assertionResponse struct {
	ClientDataJSON    string `json:"clientDataJSON" minLength:"1" maxLength:"8192"`
	AuthenticatorData string `json:"authenticatorData" minLength:"1" maxLength:"8192"`
	Signature         string `json:"signature" minLength:"1" maxLength:"8192"`
	UserHandle        string `json:"userHandle" minLength:"1" maxLength:"128"`
}

// attestation is the answer of an authenticator that has made a passkey.
type attestation struct {
	ID                     string              `json:"id" minLength:"1" maxLength:"1400"`
	RawID                  string              `json:"rawId" minLength:"1" maxLength:"1400"`
	Type                   string              `json:"type" enum:"public-key"`
	Response               attestationResponse `json:"response"`
	Attachment             string              `json:"authenticatorAttachment,omitempty" required:"false" maxLength:"100" doc:"Not read"`
	ClientExtensionResults map[string]any      `json:"clientExtensionResults,omitempty" required:"false" doc:"Not read: none is asked for"`
}

type attestationResponse struct {
	ClientDataJSON     string   `json:"clientDataJSON" minLength:"1" maxLength:"8192"`
	AttestationObject  string   `json:"attestationObject" minLength:"1" maxLength:"65536"`
	Transports         []string `json:"transports,omitempty" required:"false" maxItems:"10"`
	AuthenticatorData  string   `json:"authenticatorData,omitempty" required:"false" maxLength:"65536" doc:"Not read: it is in attestationObject"`
	PublicKey          string   `json:"publicKey,omitempty" required:"false" maxLength:"65536" doc:"Likewise"`
	PublicKeyAlgorithm int      `json:"publicKeyAlgorithm,omitempty" required:"false" minimum:"-1000000" maximum:"1000000" doc:"Likewise"`
}

// read is the answer as the library parses it, without what is not read.
func (a assertion) read() (*protocol.ParsedCredentialAssertionData, error) {
	a.Attachment, a.ClientExtensionResults = "", nil
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return protocol.ParseCredentialRequestResponseBytes(raw)
}

// read is the answer as the library parses it, without what is not read.
func (a attestation) read() (*protocol.ParsedCredentialCreationData, error) {
	a.Attachment, a.ClientExtensionResults = "", nil
	a.Response.AuthenticatorData, a.Response.PublicKey, a.Response.PublicKeyAlgorithm = "", "", 0
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return protocol.ParseCredentialCreationResponseBytes(raw)
}
