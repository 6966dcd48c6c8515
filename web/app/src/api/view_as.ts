import { problemOf } from './problem';
import { reach } from './reach';

/** What a read of the customer's answers, by the token with which staff see what they see. */
export interface Seen { path: string; status: number; body: unknown }

/** Reads a path with that token, and with no other; an error of the API is what the customer sees, too. */
export async function seenBy(token: string, path: string): Promise<Seen> {
  const response = await reach(new Request(path, { headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' } }));
  if (response.status >= 500) throw await problemOf(response);
  return { path, status: response.status, body: await response.json().catch(() => null) };
}
