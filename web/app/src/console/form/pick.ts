import { readPage, sendBody } from '../../api/client';
import type { Doc } from './record';

/** From which records the value of a field is chosen, and how they are called. */
export interface Pick {
  path: string; // of the collection
  search?: string; // of the search over it; without one its names are filtered
  field: string; // by which it is filtered then, and ordered
  called: (doc: Doc) => string;
  fixed?: Record<string, unknown>; // what all that are offered have
}

const OFFERED = 8;

/** The records of ids, in their order; those that are gone are left out. */
export async function recordsOf({ path }: Pick, ids: string[]): Promise<Doc[]> {
  if (!ids.length) return [];
  const { docs } = await readPage(path, { query: JSON.stringify({ _id: { $in: ids } }), page: 0, size: Math.min(ids.length, 1000) });
  return ids.map((id) => docs.find((doc) => doc['_id'] === id)).filter((doc) => doc !== undefined);
}

/** What may be chosen for what was typed. */
export async function offers({ path, search, field, fixed }: Pick, typed: string, signal: AbortSignal): Promise<Doc[]> {
  const text = typed.trim();
  const filter = { ...fixed, ...(text && !search && { [field]: { $regex: text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), $options: 'i' } }) };
  const query = Object.keys(filter).length ? JSON.stringify(filter) : '';
  const { docs } = text && search
    ? await readPage(search, { q: text, ...(query && { query }), page: 0, size: OFFERED }, signal)
    : await readPage(path, { ...(query && { query }), page: 0, size: OFFERED }, signal);
  return docs;
}

/** Makes a record of a collection, and answers it as it is. */
export async function createRecord(path: string, body: Doc): Promise<Doc> {
  const { docs } = (await sendBody('POST', path, [body])) as { docs: Doc[] };
  return docs[0] ?? body;
}
