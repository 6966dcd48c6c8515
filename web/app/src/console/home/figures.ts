import type { Got } from '../../api/client';
import type { Figure } from '../../ui/Figures.svelte';
import { count, instant, money } from '../formats';
import { m } from '../messages/index.svelte';
import { href } from '../router.svelte';

export type Tile = Got<'/api/v1/admin/home'>['figures'][number];

/** Where the lists of Home are in the console, by their handler names. */
const places: Record<string, string> = {
  subscription_list: '/subscriptions', finance_revenue: '/payments', finance_overdue: '/subscriptions/overdue',
  refund_list: '/payments/refunds', unapplied_payment_list: '/payments/unapplied', webhook_log_list: '/webhooks',
  queue_list: '/settings/jobs', job_list: '/settings/jobs', invariant_list: '/settings/invariants',
};

/** What the business is, rather than what waits for somebody. */
const business = new Set<string>(['mrr', 'active', 'new', 'cancelled', 'revenue']);
export const isBusiness = ({ name }: Tile) => business.has(name);

/** The address of the list that a figure leads to. */
export function listOf({ list }: Tile): string {
  const query = new URLSearchParams(list.parameters).toString();
  return href((places[list.route] ?? '/') + (query ? `?${query}` : ''));
}

/** A figure as it is shown, with what it is compared with beneath. */
export function figureOf(tile: Tile): Figure {
  const told = (n: number) => (tile.unit === 'cents' ? money(n) : count(n));
  const notes: string[] = [];
  if (tile.today !== null) notes.push(m().home.today(told(tile.today)));
  if (tile.before !== null) notes.push(m().home.before(told(tile.before)));
  const unchecked = tile.name === 'invariants' && tile.as_of === null;
  if (tile.as_of !== null) notes.push(m().home.asOf(instant(tile.as_of)));
  if (unchecked) notes.push(m().jobs.unchecked);
  return {
    label: m().home.names[tile.name], value: unchecked ? '–' : told(tile.value), to: listOf(tile),
    note: notes.join(' · ') || undefined, warn: !isBusiness(tile) && tile.value > 0,
  };
}
