import { readPage, sendBody } from '../../api/client';
import { Problem } from '../../api/problem';

export type Doc = Record<string, unknown>;

/** A record as it is now; undefined where it is gone. */
export async function readRecord(path: string, id: string): Promise<Doc | undefined> {
  const page = await readPage(path, { query: JSON.stringify({ _id: id }), page: 0, size: 1 });
  return page.docs[0];
}

/** What somebody else changed of the fields that are being edited, since they were read, and who it was. */
export interface Conflict { now: Doc; fields: string[]; says: string }
export type Outcome = { saved: Doc } | { conflict: Conflict };

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

export function changesOf(before: Doc, after: Doc, names: string[]): string[] {
  return names.filter((name) => !same(before[name], after[name]));
}

const DATE = 'register_update_date';
const dateOf = (record: Doc) => String(record[DATE] ?? '');

/** What this page itself has written of a record: the fields, and the record as it was answered. */
interface Save { written: Doc; answered: Doc }
const saves = new Map<string, Save[]>();
const turns = new Map<string, Promise<unknown>>();
const keyOf = (path: string, record: Doc) => `${path} ${String(record['_id'])}`;

/** The record as it was read, or as this page's own last save was answered, where that is newer. */
export function newest(path: string, read: Doc): Doc {
  const last = saves.get(keyOf(path, read))?.at(-1)?.answered;
  return last && dateOf(last) > dateOf(read) ? last : read;
}

/** The record as it was read, with what this page itself has written since: that is nobody else's change. */
function withOwn(path: string, read: Doc): Doc {
  const since = (saves.get(keyOf(path, read)) ?? []).filter(({ answered }) => dateOf(answered) > dateOf(read));
  return Object.assign({}, read, ...since.map(({ written }) => written)) as Doc;
}

/**
 * Writes the fields that were edited, one save of a record after another, as of when it was read. Where it was changed
 * meanwhile, by others or by jobs and events, fields that are not on screen count for nothing; those that are make a
 * Conflict, and nothing is written.
 */
export function saveRecord(path: string, read: Doc, edited: Doc, names: string[], writeTo?: WriteTo): Promise<Outcome> {
  const key = keyOf(path, read);
  const turn = (turns.get(key) ?? Promise.resolve()).catch(() => undefined).then(() => save(path, read, edited, names, writeTo));
  turns.set(key, turn);
  return turn;
}

/** How often a save is tried again over changes that are none of its own fields'. */
const MOST = 10;

/** Where a record is written; absent: at the path of its collection. */
type WriteTo = (record: Doc) => string;

async function save(path: string, read: Doc, edited: Doc, names: string[], writeTo?: WriteTo): Promise<Outcome> {
  const id = String(read['_id']);
  const base = withOwn(path, read);
  const written: Doc = {};
  for (const name of changesOf(read, edited, names)) written[name] = edited[name];
  for (let date = read[DATE], tries = 1; ; tries++) {
    try {
      const { docs } = (await sendBody('PUT', writeTo?.(read) ?? path, [{ _id: id, [DATE]: date, ...written }])) as { docs: Doc[] };
      const saved = docs[0] ?? { ...base, ...written };
      const own = Object.fromEntries(Object.keys(written).map((name) => [name, saved[name]]));
      saves.set(keyOf(path, read), [...(saves.get(keyOf(path, read)) ?? []), { written: own, answered: saved }]);
      return { saved };
    } catch (cause) {
      if (!(cause instanceof Problem) || !cause.stale || tries > MOST) throw cause;
      const now = await readRecord(path === '/api/v1/plans' ? '/api/v1/plans/admin' : path, id);
      if (!now) throw cause;
      const fields = changesOf(base, now, names).filter((name) => !same(now[name], edited[name]));
      if (fields.length) return { conflict: { now, fields, says: cause.message } };
      // A replica may not have the change yet that the primary speaks of.
      if (now[DATE] === date) await new Promise((resolve) => { setTimeout(resolve, 100 * tries); });
      date = now[DATE];
    }
  }
}
