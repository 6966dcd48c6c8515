import { expect, it } from 'vitest';
import { besides, changeOf, monthOf, monthsRead } from './movement';

const all = Array.from({ length: 24 }, (_, i) => ({
  month: `m${String(i)}`, opening: i, new: 3, expansion: 0, reactivation: 0, contraction: 1, churn: 1, closing: i + 1,
}));

it('months stand beside as many before, or those of the year before', () => {
  expect([monthsRead(6, 'none'), monthsRead(6, 'before'), monthsRead(12, 'year')]).toEqual([6, 12, 24]);
  const names = (months: number, against: 'none' | 'before' | 'year') => besides(all.slice(-monthsRead(months, against)), months, against).map(({ month, before }) => [month.month, before?.month]);
  expect(names(2, 'none')).toEqual([['m22', undefined], ['m23', undefined]]);
  expect(names(2, 'before')).toEqual([['m22', 'm20'], ['m23', 'm21']]);
  expect(names(2, 'year')).toEqual([['m22', 'm10'], ['m23', 'm11']]);
  expect(changeOf(all[4] ?? all[0] as never)).toBe(1);
});

it('an address names months', () => {
  expect(['2026-11', '2026-13', '2026-1', '2026-11-01', '', null].map(monthOf)).toEqual(['2026-11', undefined, undefined, undefined, undefined, undefined]);
});
