import type { Got } from '../../api/client';
import type { Against } from './period';

export type Month = Got<'/api/v1/admin/finance/movements'>['monthly'][number];
export const MOVES = ['new', 'expansion', 'reactivation', 'contraction', 'churn'] as const;
export type Move = (typeof MOVES)[number];

/** Which of them lower MRR. */
export const DOWN = new Set<Move>(['contraction', 'churn']);

/** How many months are read for some, and those that they are compared with; the API has 24 at most. */
export function monthsRead(months: number, against: Against): number {
  return against === 'none' ? months : against === 'year' ? months + 12 : months * 2;
}

/** The last months of a series, and beside each the month that it is compared with. */
export function besides(all: Month[], months: number, against: Against): { month: Month; before: Month | undefined }[] {
  const back = against === 'none' ? 0 : against === 'year' ? 12 : months;
  return all.slice(-months).map((month, i) => ({ month, before: back ? all[all.length - months + i - back] : undefined }));
}

/** What a month changed MRR by, cents. */
export function changeOf(month: Month): number { return month.closing - month.opening; }

/** A month of an address, 2026-11; undefined for what is none. */
export function monthOf(given: string | null): string | undefined { return given && /^\d{4}-(0[1-9]|1[0-2])$/.test(given) ? given : undefined; }
