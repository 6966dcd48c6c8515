import { answer, api, type Got } from '../../api/client';
import { session } from '../../api/session.svelte';
import { keptForAll } from '../../ui/storage';

export type Export = Got<'/api/v1/admin/exports/{id}'>;

// Which exports a member of staff has begun in this browser: the files are made without it, and found again by these.

const key = () => `exports ${session.member?.id ?? ''}`;
const MOST = 20;

export function begun(): string[] {
  try {
    const known: unknown = JSON.parse(keptForAll.get(key()) ?? '[]');
    return Array.isArray(known) ? known.filter((one): one is string => typeof one === 'string') : [];
  } catch { return []; }
}

const keep = (ids: string[]) => { keptForAll.set(key(), JSON.stringify(ids.slice(0, MOST))); };
export function remember(id: string) { keep([id, ...begun().filter((one) => one !== id)]); }
export function forget(id: string) { keep(begun().filter((one) => one !== id)); }

/** How far an export is; undefined once it is gone. */
export async function readExport(id: string): Promise<Export | undefined> {
  const { data, response, error } = await api.GET('/api/v1/admin/exports/{id}', { params: { path: { id } } });
  if (response.status === 404) return undefined;
  return answer(Promise.resolve({ ...(data && { data }), response, error }));
}

/** Ends an export: its job stops, and what it made is deleted. */
export async function endExport(id: string): Promise<void> {
  await answer(api.DELETE('/api/v1/admin/exports/{id}', { params: { path: { id } } }));
  forget(id);
}
