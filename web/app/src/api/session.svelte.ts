import { connection } from './connection.svelte';
import { usePasskey } from './passkeys';
import { problemOf, Problem } from './problem';
import { reach } from './reach';
import { forgetRefreshToken, forgetTokenOfTab, keepRefreshToken, readRefreshToken } from './tokens';

/** The signed-in member of staff. */
export interface Member { id: string; username: string; name: string; root: boolean; profiles: string[] }

type State = 'starting' | 'out' | 'in' | 'lost' | 'stranger' | 'factor';

interface TokenSet { access_token: string; refresh_token: string }

/** The passkey was another person's than the one whose session was lost. */
export class AnotherPerson extends Error {}

let state = $state<State>('starting');
let member = $state<Member | undefined>();
let factorMissing = $state(''); // the API's sentence to root users who need a second factor and signed in without one
let accessToken = '';
let stay = false;
let held = $state(false); // the session waits for an API that cannot answer
let renewing: Promise<boolean> | undefined;
let waiting: ((back: boolean) => void)[] = [];

let ends = 0; // how often a session ended here: a token that was asked for before is not taken after

// Signing out in one tab ends all of them: each has a session of its own unless it stays signed in. What is kept for all
// tabs is the other's to forget, who may have signed in again by now.
const channel = channelOfTabs();
if (channel) {
  channel.onmessage = () => {
    endThere();
    forgetTokenOfTab();
    drop();
  };
}

/** What leads to the other tabs; nothing where all site data is blocked. */
function channelOfTabs(): BroadcastChannel | undefined {
  try { return new BroadcastChannel('marquee-session'); } catch { return undefined; }
}

/** Ends the session at the API, where that can be reached. */
function endThere() {
  const id = claimsOf(accessToken).sid;
  if (!id) return;
  const headers = { Authorization: `Bearer ${accessToken}` };
  fetch(`/api/v1/me/sessions/${id}`, { method: 'DELETE', headers, keepalive: true }).catch(() => undefined);
}

function drop() {
  ends++;
  accessToken = '';
  member = undefined;
  state = 'out';
  waiting.forEach((go) => { go(false); });
  waiting = [];
}

export const session = {
  get state() { return state; },
  get member() { return member; },
  /** Whether the session outlives the browser tab. */
  get stays() { return stay; },
  get factorMissing() { return factorMissing; },
  /** Whether the session waits for an API that does not answer, or is too busy to. */
  get held() { return held; },

  /**
   * Takes up what an earlier visit left, if it is still good. Only the API's word that it is not ends it: while there is no
   * answer, or none that says so, it is asked again.
   */
  async start(): Promise<void> {
    const kept = await readRefreshToken();
    if (!kept) {
      state = 'out';
      return;
    }
    stay = kept.stay;
    for (;;) {
      try {
        const at = ends;
        if (!(await refreshed())) {
          held = false;
          drop();
          return;
        }
        const found = await memberOf(accessToken);
        held = false;
        if (at === ends) await enter(found); // else another tab signed out meanwhile
        return;
      } catch (cause) {
        if (!(cause instanceof Problem && cause.passing)) {
          held = false;
          drop();
          throw cause;
        }
        held = true;
        connection.lost();
        await connection.whenBack();
      }
    }
  },

  /**
   * Signs in, or back in after a lost session, with the code of a second factor where there is one. It throws the
   * Problem that the API answers.
   */
  async signIn(username: string, password: string, code: string, staySignedIn: boolean): Promise<void> {
    const form = new URLSearchParams({ username, password, ...(code && { totp: code }) });
    await admit(await tokensOf(await reach('/api/v1/token', { method: 'POST', body: form })), staySignedIn);
  },

  /**
   * The same by a passkey, which says who signs in. It throws the browser's DOMException too, and AnotherPerson where
   * somebody else's session was lost.
   */
  async signInByPasskey(staySignedIn: boolean): Promise<void> {
    const options = await reach('/api/v1/auth/passkeys/options', { method: 'POST' });
    if (!options.ok) throw await problemOf(options);
    const { publicKey } = (await options.json()) as { publicKey: PublicKeyCredentialRequestOptionsJSON };
    const credential = await usePasskey(publicKey);
    await admit(await tokensOf(await reach('/api/v1/auth/passkeys/verify', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ credential }),
    })), staySignedIn);
  },

  /** Ends the session, here and where the API can be reached there; whatever comes of that, nothing is left here. */
  async signOut(): Promise<void> {
    endThere();
    await forgetRefreshToken();
    drop();
    channel?.postMessage('out');
  },

  authorize(request: Request): Request {
    if (accessToken) request.headers.set('Authorization', `Bearer ${accessToken}`);
    return request;
  },

  /**
   * Gets a new access token after one was refused: by the refresh token, for which it waits while the API does not answer
   * or is too busy, else by asking for the password in place. False: the person signed out instead.
   */
  async renew(): Promise<boolean> {
    renewing ??= renewed().finally(() => { renewing = undefined; });
    if (await renewing) return true;
    if (state === 'factor') drop();
    if (state !== 'in' && state !== 'lost') return false;
    state = 'lost';
    return new Promise((resolve) => { waiting.push(resolve); });
  },
};

/** The session and the person that a token names; nothing where it names none. */
function claimsOf(token: string): { sid?: string; sub?: string } {
  try {
    return JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))) as { sid?: string; sub?: string };
  } catch {
    return {};
  }
}

async function tokensOf(response: Response): Promise<TokenSet> {
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as TokenSet;
}

/** Takes what a sign-in answered, once it is known whose it is. */
async function admit(tokens: TokenSet, staySignedIn: boolean): Promise<void> {
  const found = await memberOf(tokens.access_token);
  if (state === 'lost' && claimsOf(tokens.access_token).sub !== member?.id) throw new AnotherPerson();
  stay = staySignedIn;
  const at = ends;
  if (found) await take(tokens);
  if (at === ends) await enter(found); // else another tab's signing out ended this session too
}

async function take(tokens: TokenSet): Promise<void> {
  accessToken = tokens.access_token;
  stay = await keepRefreshToken(tokens.refresh_token, stay);
}

async function refreshed(): Promise<boolean> {
  const at = ends;
  const kept = await readRefreshToken();
  if (!kept) return false;
  const response = await reach('/api/v1/auth/refresh-token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: kept.token }),
  });
  if (response.status === 401 || response.status === 403) return false;
  if (!response.ok) throw await problemOf(response);
  const tokens = (await response.json()) as TokenSet;
  if (at !== ends) return false;
  await take(tokens);
  return true;
}

/** Refreshed, once the API can say whether it may be: nothing was done of what was refused. */
async function renewed(): Promise<boolean> {
  try {
    for (;;) {
      try {
        return await refreshed();
      } catch (cause) {
        if (!(cause instanceof Problem && cause.passing)) throw cause;
        held = true;
        connection.lost();
        await connection.whenBack();
      }
    }
  } finally { held = false; }
}

interface MyUser { docs: { _id: string; username: string; name?: string; is_root?: boolean; type_user?: string[] }[] }

/** Who has a token; undefined for customers, whose place this is not; for root without the second factor the Problem. */
async function memberOf(token: string): Promise<Member | Problem | undefined> {
  const response = await reach('/api/v1/my-user', { headers: { Authorization: `Bearer ${token}` } });
  if (!response.ok) {
    const problem = await problemOf(response);
    if (problem.status !== 403) throw problem;
    return problem.code === 'MFA_REQUIRED' ? problem : undefined;
  }
  const doc = ((await response.json()) as MyUser).docs[0];
  if (!doc) throw new Problem(response.status, '', response.statusText, {}, '');
  return {
    id: doc._id, username: doc.username, name: doc.name || doc.username, root: doc.is_root ?? false,
    profiles: doc.type_user ?? [],
  };
}

/** Opens the console for who is signed in, of it the account alone without a factor that is needed; not for customers. */
async function enter(found: Member | Problem | undefined): Promise<void> {
  if (!found) {
    await forgetRefreshToken();
    accessToken = '';
    state = 'stranger';
    return;
  }
  if (found instanceof Problem) {
    factorMissing = found.message;
    state = 'factor';
    waiting.forEach((go) => { go(false); });
    waiting = [];
    return;
  }
  member = found;
  state = 'in';
  waiting.forEach((go) => { go(true); });
  waiting = [];
}
