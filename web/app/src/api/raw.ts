import { problemOf } from './problem';
import { reach } from './reach';

/** How the API is: that is the answer, too, where something of it fails. */
export async function healthOf(): Promise<Health> {
  const response = await reach('/api/v1/health');
  const health = (await response.clone().json().catch(() => ({}))) as Partial<Health>;
  if (!health.checks) throw await problemOf(response);
  return { status: health.status ?? '', version: health.version ?? '', checks: health.checks };
}

export interface Health { status: string; version: string; checks: Record<string, string> }

/** The JSON at a public address. It throws the Problem of an answer that is none. */
export async function answerOf<T>(path: string): Promise<T> {
  const response = await reach(path);
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}
