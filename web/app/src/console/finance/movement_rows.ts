import { m } from '../messages/index.svelte';
import { href } from '../router.svelte';
import type { Move } from './movement';

/** What the movements are called. */
export function labelsOf(): Record<Move, string> {
  const { newMRR, expansion, reactivation, contraction, churn } = m().finance;
  return { new: newMRR, expansion, reactivation, contraction, churn };
}

/** The address of the rows behind the movements of some months, both included; of one kind, or of all. */
export function rowsOf([start, end]: [string, string], kind?: Move): string {
  return href(`/finance/movements/rows?start=${start}&end=${end}${kind ? `&kind=${kind}` : ''}`);
}
