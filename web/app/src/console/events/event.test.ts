import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['en'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
vi.stubGlobal('location', { pathname: '/console/events', search: '' });
vi.stubGlobal('addEventListener', () => undefined);
vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
const { leftOf, nameOfSet, saleOf, waitingOf } = await import('./event');

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

it('a set of tickets has one name in any order, and each other set another', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((end) => `0123456789abcdef0123456${end}`) as [string, string, string, string];
  expect(nameOfSet([b, c, d])).toBe(nameOfSet([d, b, c]));
  expect(new Set([[a, c, d], [b, c, d], [c, d], [a, b, c, d], []].map(nameOfSet)).size).toBe(5); // the last two are the same
  expect(nameOfSet([a])).toMatch(/^[0-9a-f]{16}$/);
});

it('what is asked for waits, and its tickets are left no more', () => {
  const refund = (status: 'requested' | 'pending' | 'done' | 'failed', amount: number) =>
    ({ _id: status, admin: null, amount, failure: null, gateway: null, kind: 'refund' as const, payment_id: '', reason: null, refunded_at: null, requested_at: '', source: 'admin' as const, status });
  expect(waitingOf({ refunds: [refund('requested', 0.1), refund('pending', 0.2), refund('done', 5), refund('failed', 7)] })).toBe(0.3);
  const ticket = (_id: string, more = {}) =>
    ({ _id, blocked: null, consumed_at: null, created_at: '', promo_code: null, refunded_at: null, status: 'available' as const, ticket_order_id: null, title: '', ...more });
  expect(leftOf({ tickets: [
    ticket('good'), ticket('waits', { blocked: 'refund_requested' }), ticket('used', { status: 'consumed' }),
    ticket('used and back', { status: 'consumed', refunded_at: '2026-01-01T00:00:00Z' }), ticket('void', { status: 'expired' }),
    ticket('called off', { blocked: 'event_cancelled' }),
  ] }).map(({ _id }) => _id)).toEqual(['good', 'used', 'called off']);
});
