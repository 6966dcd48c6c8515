import { readPage, sendBody } from '../../api/client';

export type Doc = Record<string, unknown>;

/** A record as it is now; undefined where it is gone. */
export async function readRecord(path: string, id: string): Promise<Doc | undefined> {
  const page = await readPage(path, { query: JSON.stringify({ _id: id }), page: 0, size: 1 });
  return page.docs[0];
}

/** What somebody else changed of the fields that are being edited, since they were read. */
export interface Conflict { now: Doc; fields: string[] }

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

export function changesOf(before: Doc, after: Doc, names: string[]): string[] {
  return names.filter((name) => !same(before[name], after[name]));
}

/**
 * Writes the fields that were edited. Where the record was written meanwhile, fields that are not
 * on screen count for nothing; those that are make a Conflict, and nothing is written.
 */
export async function saveRecord(
  path: string, read: Doc, edited: Doc, names: string[], key = 'PUT',
): Promise<{ saved: Doc } | { conflict: Conflict }> {
  const changed = changesOf(read, edited, names);
  const id = String(read['_id']);
  const now = await readRecord(path === '/api/v1/plans' ? '/api/v1/plans/admin' : path, id);
  if (now && now['register_update_date'] !== read['register_update_date']) {
    const fields = changesOf(read, now, names).filter((name) => !same(now[name], edited[name]));
    if (fields.length) return { conflict: { now, fields } };
  }
  const body: Doc = { _id: id };
  for (const name of changed) body[name] = edited[name];
  const { docs } = (await sendBody(key, path, [body])) as { docs: Doc[] };
  return { saved: docs[0] ?? now ?? read };
}
