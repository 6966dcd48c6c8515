import type { paths } from './schema';

// Passkeys by the browser: what the API's options become at an authenticator. A refusal of the browser is a DOMException.

/** Whether this browser can use them. */
export const passkeysKnown = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

type BodyOf<P extends keyof paths> = paths[P] extends {
  post: { requestBody?: { content: { 'application/json': infer B extends { credential: unknown } } } };
} ? B['credential'] : never;

/** What an authenticator signs for a sign-in. */
export async function usePasskey(options: PublicKeyCredentialRequestOptionsJSON): Promise<BodyOf<'/api/v1/auth/passkeys/verify'>> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return known(await navigator.credentials.get({ publicKey })).toJSON();
}

/** What an authenticator tells of the passkey that it has made. */
export async function makePasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<BodyOf<'/api/v1/me/passkeys'>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return known(await navigator.credentials.create({ publicKey })).toJSON();
}

function known(credential: Credential | null): PublicKeyCredential {
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('', 'NotAllowedError');
  return credential;
}
