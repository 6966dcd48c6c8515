import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['pt-BR'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
const { sentenceOfAccess } = await import('./access');
const { language } = await import('../messages/index.svelte');

it('why a customer may not watch is said in the language that is chosen, from values', () => {
  const at = '2026-03-03T15:54:26.324Z';
  const failed = { reason: 'payment_failed' as const, at, payment_failures: 3, move_reason: 'payment_failure' };
  const cancelled = { reason: 'cancelled' as const, at, payment_failures: 0, move_reason: 'customer_cancelled' };
  expect(sentenceOfAccess(failed)).toMatch(/^A assinatura foi suspensa em 3 de mar\. de 2026, 12:54, depois de 3 pagamentos com falha seguidos\.$/);
  expect(sentenceOfAccess(cancelled)).toMatch(/^A assinatura foi cancelada em 3 de mar\. de 2026, 12:54: o cliente cancelou\.$/);
  expect(sentenceOfAccess({ ...failed, reason: 'never_subscribed', at: null })).toBe('O cliente nunca assinou.');
  language.use('en');
  expect(sentenceOfAccess(failed)).toMatch(/^The subscription was suspended on 3 Mar 2026, 12:54, after 3 failed payments in a row\.$/);
  expect(sentenceOfAccess({ ...failed, payment_failures: 1 })).toMatch(/after one failed payment\.$/);
  expect(sentenceOfAccess({ ...failed, reason: 'active', at: null })).toBe('The subscription is active.');
});
