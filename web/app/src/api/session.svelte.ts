import { problemOf, Problem } from './problem';
import { forgetRefreshToken, keepRefreshToken, readRefreshToken } from './tokens';

/** The signed-in member of staff. */
export interface Member { id: string; username: string; name: string; root: boolean; profiles: string[] }

type State = 'starting' | 'out' | 'in' | 'lost' | 'stranger';

interface TokenSet { access_token: string; refresh_token: string }

let state = $state<State>('starting');
let member = $state<Member | undefined>();
let accessToken = '';
let stay = false;
let renewing: Promise<boolean> | undefined;
let waiting: ((back: boolean) => void)[] = [];

// Signing out in one tab ends all of them.
const channel = new BroadcastChannel('marquee-session');
channel.onmessage = () => { drop(); };

function drop() {
  accessToken = '';
  member = undefined;
  state = 'out';
  waiting.forEach((go) => { go(false); });
  waiting = [];
}

export const session = {
  get state() { return state; },
  get member() { return member; },

  /** Takes up what an earlier visit left, if it is still good. */
  async start(): Promise<void> {
    const kept = await readRefreshToken();
    if (!kept) {
      state = 'out';
      return;
    }
    stay = kept.stay;
    if (await refreshed()) await enter();
    else drop();
  },

  /** Signs in, or back in after a lost session. It throws the Problem that the API answers. */
  async signIn(username: string, password: string, staySignedIn: boolean): Promise<void> {
    const response = await fetch('/api/v1/token', { method: 'POST', body: new URLSearchParams({ username, password }) });
    if (!response.ok) throw await problemOf(response);
    stay = staySignedIn;
    await take((await response.json()) as TokenSet);
    await enter();
  },

  async signOut(): Promise<void> {
    await forgetRefreshToken();
    drop();
    channel.postMessage('out');
  },

  authorize(request: Request): Request {
    if (accessToken) request.headers.set('Authorization', `Bearer ${accessToken}`);
    return request;
  },

  /**
   * Gets a new access token after one was refused: by the refresh token, else by asking for the
   * password in place. False: the person signed out instead.
   */
  async renew(): Promise<boolean> {
    renewing ??= refreshed().finally(() => { renewing = undefined; });
    if (await renewing) return true;
    if (state !== 'in' && state !== 'lost') return false;
    state = 'lost';
    return new Promise((resolve) => { waiting.push(resolve); });
  },
};

async function take(tokens: TokenSet): Promise<void> {
  accessToken = tokens.access_token;
  await keepRefreshToken(tokens.refresh_token, stay);
}

async function refreshed(): Promise<boolean> {
  const kept = await readRefreshToken();
  if (!kept) return false;
  const response = await fetch('/api/v1/auth/refresh-token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: kept.token }),
  });
  if (response.status === 403) return false;
  if (!response.ok) throw await problemOf(response);
  await take((await response.json()) as TokenSet);
  return true;
}

interface MyUser { docs: { _id: string; username: string; name?: string; is_root?: boolean; type_user?: string[] }[] }

/** Learns who is signed in; customers are told that this is the staff's place. */
async function enter(): Promise<void> {
  const response = await fetch('/api/v1/my-user', { headers: { Authorization: `Bearer ${accessToken}` } });
  if (response.status === 403) {
    await forgetRefreshToken();
    accessToken = '';
    state = 'stranger';
    return;
  }
  if (!response.ok) throw await problemOf(response);
  const doc = ((await response.json()) as MyUser).docs[0];
  if (!doc) throw new Problem(response.status, '', response.statusText, {}, '');
  member = {
    id: doc._id, username: doc.username, name: doc.name || doc.username, root: doc.is_root ?? false,
    profiles: doc.type_user ?? [],
  };
  state = 'in';
  waiting.forEach((go) => { go(true); });
  waiting = [];
}
