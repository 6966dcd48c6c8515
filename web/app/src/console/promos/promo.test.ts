import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['en'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
vi.stubGlobal('location', { pathname: '/console/promos', search: '' });
vi.stubGlobal('addEventListener', () => undefined);
vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
const { redeemedOver, treeOf } = await import('./promo');
type Member = ReturnType<typeof treeOf>[number];

const code = (id: string, ...children: string[]) => ({
  _id: id, code: id, title: id, code_type: 'promo' as const, is_active: true, redemptions: 0, tickets_generated: 0, children_code_ids: children,
});
const told = (members: Member[]): string => members.map(({ code: { _id }, again, children }) => `${_id}${again ? '*' : ''}${children.length ? `(${told(children)})` : ''}`).join(' ');

it('a family is a tree in which a shared code is drawn out once, and codes that are gone are left out', () => {
  expect(told(treeOf([code('leaf'), code('left', 'leaf'), code('right', 'leaf', 'gone'), code('top', 'left', 'right')], 'leaf'))).toBe('top(left(leaf) right(leaf))');
  expect(told(treeOf([code('a', 'c'), code('b', 'c'), code('c', 'd'), code('d')], 'a'))).toBe('a(c(d)) b(c*)');
});

it('a circle ends where it began, from the code that is looked at', () => {
  expect(told(treeOf([code('a', 'b'), code('b', 'c'), code('c', 'a')], 'b'))).toBe('b(c(a(b*)))');
  expect(told(treeOf([code('a', 'a')], 'a'))).toBe('a(a*)');
  expect(told(treeOf([code('root', 'x'), code('x'), code('a', 'b', 'x'), code('b', 'a')], 'root'))).toBe('root(x) a(b(a*) x)');
});

it('many levels of shared codes stay as small as what holds them', () => {
  const rungs = Array.from({ length: 100 }, (_, i) => [code(`l${String(i)}`, `l${String(i + 1)}`, `r${String(i + 1)}`), code(`r${String(i)}`, `l${String(i + 1)}`, `r${String(i + 1)}`)]).flat();
  const size = (members: Member[]): number => members.reduce((n, { children }) => n + 1 + size(children), 0);
  expect(size(treeOf(rungs, 'l0'))).toBeLessThan(500);
});

it('redemptions are by day with the days between, and by month where they are many', () => {
  const on = (day: string, redemptions: number) => ({ day, redemptions, paid: 0, tickets: 0 });
  expect(redeemedOver([on('2026-02-27', 2), on('2026-03-01', 1)])).toEqual({ byMonth: false, dates: ['2026-02-27', '2026-02-28', '2026-03-01'], values: [2, 0, 1] });
  expect(redeemedOver([on('2025-11-30', 2), on('2025-12-01', 1), on('2026-03-01', 4)])).toEqual({ byMonth: false, dates: expect.any(Array) as string[], values: expect.any(Array) as number[] });
  expect(redeemedOver([on('2025-11-29', 2), on('2025-11-30', 1), on('2026-04-01', 4)])).toEqual({ byMonth: true, dates: ['2025-11', '2025-12', '2026-01', '2026-02', '2026-03', '2026-04'], values: [3, 0, 0, 0, 0, 4] });
});
