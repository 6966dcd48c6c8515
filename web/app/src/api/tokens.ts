import { openDB, type IDBPDatabase } from 'idb';
import { keptForTab } from '../ui/storage';

// Where the refresh token lies: in sessionStorage, which ends with the tab, or in IndexedDB
// with "stay signed in". A browser that keeps neither has it remembered by the page, until that is closed or loaded anew.
// The access token is never written anywhere.

const KEY = 'refresh_token';
const STORE = 'session';

/** Does something with what is kept for all tabs. It throws where the browser keeps nothing, as in some private windows. */
async function kept<T>(act: (db: IDBPDatabase) => Promise<T>): Promise<T> {
  const db = await openDB('marquee', 1, { upgrade: (fresh) => { fresh.createObjectStore(STORE); } });
  try { return await act(db); } finally { db.close(); }
}

export async function readRefreshToken(): Promise<{ token: string; stay: boolean } | undefined> {
  const ofTab = keptForTab.get(KEY);
  if (ofTab) return { token: ofTab, stay: false };
  const ofAll: unknown = await kept((db) => db.get(STORE, KEY)).catch(() => undefined);
  return typeof ofAll === 'string' ? { token: ofAll, stay: true } : undefined;
}

/** The answer is whether it outlives the tab, which it cannot everywhere. */
export async function keepRefreshToken(token: string, stay: boolean): Promise<boolean> {
  if (stay) {
    const stays = await kept((db) => db.put(STORE, token, KEY)).then(() => true, () => false);
    if (stays) {
      forgetTokenOfTab();
      return true;
    }
  }
  keptForTab.set(KEY, token);
  return false;
}

/** Forgets what lies in this tab alone. */
export function forgetTokenOfTab() { keptForTab.remove(KEY); }

export async function forgetRefreshToken(): Promise<void> {
  forgetTokenOfTab();
  await kept((db) => db.delete(STORE, KEY)).catch(() => undefined); // where nothing is kept nothing is to be forgotten
}
