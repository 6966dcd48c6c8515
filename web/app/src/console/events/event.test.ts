import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['en'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
vi.stubGlobal('location', { pathname: '/console/events', search: '' });
vi.stubGlobal('addEventListener', () => undefined);
vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
const { saleOf } = await import('./event');

const sale = (day: string, method: string | null, tickets: number) => ({ day, payment_method: method, orders: 1, tickets, total: tickets * 10 });

it('a sale grows from nothing on the day before, by method, and the methods add up to all', () => {
  const { days, lines } = saleOf([sale('2026-03-01', 'pix', 2), sale('2026-03-01', 'credit_card', 1), sale('2026-03-04', 'pix', 3), sale('2026-03-05', null, 1)]);
  expect(days).toEqual(['2026-02-28', '2026-03-01', '2026-03-04', '2026-03-05']);
  expect(lines.map(({ label, values }) => [label, ...values])).toEqual([
    ['card', 0, 1, 1, 1], ['free', 0, 0, 0, 1], ['PIX', 0, 2, 5, 5], ['all', 0, 3, 6, 7],
  ]);
});

it('of one method there is one line, and of no sale none', () => {
  expect(saleOf([sale('2026-03-01', 'pix', 2)]).lines).toEqual([{ label: 'PIX', values: [0, 2], leads: true }]);
  expect(saleOf([]).days).toEqual([]);
});
