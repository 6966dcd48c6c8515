import { readPage } from '../../api/client';
import type { Tone } from '../../ui/Status.svelte';
import type { Pick } from '../form/pick';
import type { Doc } from '../form/record';
import { day } from '../formats';
import { m } from '../messages/index.svelte';

export const PROMOS = '/api/v1/admin/promo-codes';

const codeOf = (doc: Doc) => `${String(doc['code'])} · ${String(doc['title'])}`;

/** From which records the fields of a code are chosen. */
export const picks: Record<string, Pick> = {
  event_id: { path: '/api/v1/events', search: '/api/v1/search/events', field: 'title', called: (doc) => `${String(doc['title'])} · ${day(String(doc['event_date']))}` },
  children_code_ids: { path: PROMOS, search: '/api/v1/search/promo-codes', field: 'code', called: codeOf },
  target_customer_ids: {
    path: '/api/v1/customers', search: '/api/v1/search/customers', field: 'full_name',
    called: (doc) => `${String(doc['full_name'] ?? doc['username'])} · ${String(doc['email'] ?? '')}`,
  },
};

/** The fields of a code of a type, in the order of its form. */
export function fieldsOf(type: string): string[] {
  return [
    'title', 'subtitle', 'description', ...(type === 'promo' ? ['discount_first_month', 'children_code_ids'] : ['event_id', 'bonus_tickets']),
    'target_customer_ids', 'valid_from', 'valid_until', 'event_date', 'is_active',
  ];
}

/** Whether a code can be redeemed, in a word. */
export function stateOfPromo(code: Doc): { tone: Tone; word: string } {
  const at = (name: string) => (typeof code[name] === 'string' ? Date.parse(code[name]) : undefined);
  if (code['is_active'] !== true) return { tone: 'idle', word: m().promos.off };
  if ((at('valid_until') ?? Infinity) <= Date.now()) return { tone: 'idle', word: m().promos.over };
  if ((at('valid_from') ?? 0) > Date.now()) return { tone: 'busy', word: m().promos.from(day(String(code['valid_from']))) };
  return { tone: 'good', word: m().promos.valid };
}

/** A code in its family: what is redeemed along with it stands beneath it. */
export interface Member { code: Doc; children: Member[] }

/** As many generations as are looked through, up and down; families are shallower. */
const DEEPEST = 8;

async function named(query: Doc): Promise<Doc[]> {
  return (await readPage(PROMOS, { query: JSON.stringify(query), page: 0, size: 1000 })).docs;
}

const childrenOf = (code: Doc) => (Array.isArray(code['children_code_ids']) ? code['children_code_ids'].map(String) : []);

/** The whole family of a code: from the bundles that no other holds, down to the last codes that they hold. */
export async function familyOf(code: Doc): Promise<Member[]> {
  const known = new Map<string, Doc>([[String(code['_id']), code]]);
  let above = [String(code['_id'])];
  for (let i = 0; above.length && i < DEEPEST; i++) {
    const parents = (await named({ children_code_ids: { $in: above } })).filter((one) => !known.has(String(one['_id'])));
    parents.forEach((one) => known.set(String(one['_id']), one));
    above = parents.map((one) => String(one['_id']));
  }
  for (let i = 0; i < DEEPEST; i++) {
    const missing = [...new Set([...known.values()].flatMap(childrenOf))].filter((id) => !known.has(id));
    if (!missing.length) break;
    (await named({ _id: { $in: missing } })).forEach((one) => known.set(String(one['_id']), one));
  }
  const below = new Set([...known.values()].flatMap(childrenOf));
  const member = (one: Doc, seen: string[]): Member => ({
    code: one,
    children: childrenOf(one).filter((id) => !seen.includes(id)).flatMap((id) => {
      const child = known.get(id);
      return child ? [member(child, [...seen, id])] : [];
    }),
  });
  return [...known.values()].filter((one) => !below.has(String(one['_id']))).map((one) => member(one, [String(one['_id'])]));
}

/** The address by which a code is shared. */
export function shareOf(code: string): string { return `${location.origin}/?promo=${encodeURIComponent(code)}`; }

/** How many tickets a code has made a day, of the newest thousand, and how many there are. */
export async function madeBy(id: string): Promise<{ days: [day: string, n: number][]; rows: number; total: number }> {
  const { docs, pagination } = await readPage('/api/v1/tickets', { query: JSON.stringify({ promo_code_id: id }), sort: '{"created_at":-1}', page: 0, size: 1000 });
  const days = new Map<string, number>();
  for (const doc of docs.reverse()) {
    const at = String(doc['created_at']);
    const name = day(at);
    days.set(name, (days.get(name) ?? 0) + 1);
  }
  return { days: [...days], rows: docs.length, total: pagination.qty_total_docs };
}
