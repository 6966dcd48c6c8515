import { m } from '../messages/index.svelte';
import { href } from '../router.svelte';
import { MOVES } from './movement';

/** What rows are asked for: one kind of movement, or all who gained access. */
export const KINDS = [...MOVES, 'gained'] as const;
export type Kind = (typeof KINDS)[number];

/** What the movements are called. */
export function labelsOf(): Record<Kind, string> {
  const { newMRR, expansion, reactivation, contraction, churn, gained } = m().finance;
  return { new: newMRR, expansion, reactivation, contraction, churn, gained };
}

/** The address of the rows behind the movements of some months, both included; of one kind, or of all. */
export function rowsOf([start, end]: [string, string], kind?: Kind): string {
  return href(`/finance/movements/rows?start=${start}&end=${end}${kind ? `&kind=${kind}` : ''}`);
}
