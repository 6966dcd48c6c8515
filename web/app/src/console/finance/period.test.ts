import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['en'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
vi.stubGlobal('location', { pathname: '/console/finance', search: '' });
vi.stubGlobal('history', {});
vi.stubGlobal('addEventListener', () => undefined);
const { againstOf, comparedWith, listOf, periodOf, plusMonths, spanOf } = await import('./period');

it('a period is that of the address, and otherwise ends today', () => {
  const of = (address: string) => periodOf(new URLSearchParams(address), '2026-03-31');
  expect(of('')).toEqual({ unit: 'monthly', start: '2025-09-01', end: '2026-03-31' });
  expect(of('period=daily')).toEqual({ unit: 'daily', start: '2026-03-02', end: '2026-03-31' });
  expect(of('period=daily&start=2026-02-01&end=2026-02-28')).toEqual({ unit: 'daily', start: '2026-02-01', end: '2026-02-28' });
  expect(of('start=2026-05-01&end=2026-02-28')).toEqual({ unit: 'monthly', start: '2025-08-01', end: '2026-02-28' });
  expect(of('start=x&end=2026-99-99')).toEqual(of(''));
});

it('what a period is compared with is as long, and ends where it begins', () => {
  expect(comparedWith({ unit: 'daily', start: '2026-03-01', end: '2026-03-31' }, 'before')).toEqual({ unit: 'daily', start: '2026-01-29', end: '2026-02-28' });
  expect(comparedWith({ unit: 'monthly', start: '2026-01-01', end: '2026-03-31' }, 'before')).toEqual({ unit: 'monthly', start: '2025-10-01', end: '2025-12-31' });
  expect(comparedWith({ unit: 'monthly', start: '2024-02-01', end: '2024-02-29' }, 'year')).toEqual({ unit: 'monthly', start: '2023-02-01', end: '2023-02-28' });
  expect(comparedWith({ unit: 'monthly', start: '2024-02-01', end: '2024-02-29' }, 'none')).toBeUndefined();
  expect(againstOf(new URLSearchParams('against=nothing'))).toBe('none');
});

it('months end on their last day, and a row has its days', () => {
  expect(plusMonths('2026-01-31', 1)).toBe('2026-02-28');
  expect(spanOf('2026-12')).toEqual(['2026-12-01', '2027-01-01']);
  expect(spanOf('2026-02-28')).toEqual(['2026-02-28', '2026-03-01']);
  expect(decodeURIComponent(listOf('/subscriptions', 'ended_at', spanOf('2026-12')))).toBe(
    '/console/subscriptions?query={"ended_at":{"$gte":"2026-12-01T03:00:00.000Z","$lt":"2027-01-01T03:00:00.000Z"}}');
});
