import type { Got } from '../../api/client';
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

export type Redeemed = Got<'/api/v1/admin/events-dashboard/promo-codes/{id}'>;
type Code = Redeemed['family'][number];

/** A code in its family: what is redeemed along with it stands beneath it, unless that was drawn before. */
export interface Member { code: Code; children: Member[]; again: boolean }

/**
 * A family of codes as trees, from those that no other holds down to the last that they hold; codes that hold one
 * another in a circle begin with the one that is looked at, or else the first. What a code holds is drawn once, so
 * that trees end, and are no larger than what holds what.
 */
export function treeOf(family: Code[], current: string): Member[] {
  const known = new Map(family.map((code) => [code._id, code]));
  const drawn = new Set<string>();
  const draw = (code: Code): Member => {
    const again = drawn.has(code._id) && code.children_code_ids.length > 0;
    if (drawn.has(code._id)) return { code, children: [], again };
    drawn.add(code._id);
    return { code, again, children: code.children_code_ids.flatMap((id) => { const child = known.get(id); return child ? [draw(child)] : []; }) };
  };
  const below = new Set(family.flatMap(({ children_code_ids: ids }) => ids));
  const roots = family.filter(({ _id }) => !below.has(_id)).map(draw);
  const rest = [...family].sort((a, b) => Number(b._id === current) - Number(a._id === current));
  return [...roots, ...rest.flatMap((code) => (drawn.has(code._id) ? [] : [draw(code)]))];
}

const MOST_DAYS = 93; // that a plot tells apart

/** Redemptions by each day of a code's days, or by month where those are many. */
export function redeemedOver(days: Redeemed['by_day']): { byMonth: boolean; dates: string[]; values: number[] } {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  if (!first || !last) return { byMonth: false, dates: [], values: [] };
  const byMonth = (Date.parse(last) - Date.parse(first)) / 864e5 >= MOST_DAYS;
  const sums = new Map<string, number>();
  for (let at = Date.parse(first); at <= Date.parse(last); at += 864e5) sums.set(new Date(at).toISOString().slice(0, byMonth ? 7 : 10), 0);
  for (const { day: on, redemptions } of days) {
    const date = on.slice(0, byMonth ? 7 : 10);
    sums.set(date, (sums.get(date) ?? 0) + redemptions);
  }
  return { byMonth, dates: [...sums.keys()], values: [...sums.values()] };
}

/** The address by which a code is shared. */
export function shareOf(code: string): string { return `${location.origin}/?promo=${encodeURIComponent(code)}`; }
