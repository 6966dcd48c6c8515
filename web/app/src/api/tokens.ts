import { openDB, type IDBPDatabase } from 'idb';

// Where the refresh token lies: in sessionStorage, which ends with the tab, or in IndexedDB
// with "stay signed in". The access token is never written anywhere.

const KEY = 'refresh_token';
const STORE = 'session';

function database(): Promise<IDBPDatabase> {
  return openDB('marquee', 1, { upgrade: (db) => { db.createObjectStore(STORE); } });
}

export async function readRefreshToken(): Promise<{ token: string; stay: boolean } | undefined> {
  const ofTab = sessionStorage.getItem(KEY);
  if (ofTab) return { token: ofTab, stay: false };
  const kept: unknown = await (await database()).get(STORE, KEY).catch(() => undefined);
  return typeof kept === 'string' ? { token: kept, stay: true } : undefined;
}

export async function keepRefreshToken(token: string, stay: boolean): Promise<void> {
  if (!stay) {
    sessionStorage.setItem(KEY, token);
    return;
  }
  sessionStorage.removeItem(KEY);
  await (await database()).put(STORE, token, KEY);
}

/** Forgets what lies in this tab alone. */
export function forgetTokenOfTab() { sessionStorage.removeItem(KEY); }

export async function forgetRefreshToken(): Promise<void> {
  forgetTokenOfTab();
  await (await database()).delete(STORE, KEY);
}
