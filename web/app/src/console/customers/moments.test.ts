import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['pt-BR'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
const { sentenceOfMoment } = await import('./moments');
const { language } = await import('../messages/index.svelte');

it.each([
  ['signup', 'Signed up.', 'Fez o cadastro.'],
  ['subscription', 'Subscription to A (b) went from c began as pending (subscribed).', 'A assinatura de A (b) went from c começou como pendente (assinou).'],
  ['subscription', 'Subscription to Plus went from active to suspended (payment failure).', 'A assinatura de Plus passou de ativa a suspensa (pagamentos falharam).'],
  ['payment', 'Paid R$ 1234.50 for a subscription by credit card at gwb.', 'Pagou R$ 1.234,50 por uma assinatura, com cartão, no Gateway B.'],
  ['payment', 'Paid R$ 0.50 for nothing that is known here by pix at gwa.', 'Pagou R$ 0,50 por nada que se conheça aqui, com PIX, no Gateway A.'],
  ['payment_failed', 'A payment of R$ 29.90 failed at gwa.', 'Um pagamento de R$ 29,90 falhou no Gateway A.'],
  ['refund', 'A refund of R$ 10.00 is under way.', 'Um reembolso de R$ 10,00 está em andamento.'],
  ['chargeback', 'A dispute was won: R$ 10.00 came back.', 'Uma contestação foi ganha: R$ 10,00 voltaram.'],
  ['order', 'Ordered 2 for A, R$ 1.00., R$ 30.00.', 'Pediu 2 para A, R$ 1.00., R$ 30,00.'],
  ['ticket', 'Used a ticket for Noite.', 'Usou um ingresso de Noite.'],
  ['promo_code', 'Redeemed the promo code X.', 'Resgatou o código promocional X.'],
  ['payment', 'Something new.', 'Something new.'],
])('%s: %s', (type, summary, want) => {
  language.use('pt');
  expect(sentenceOfMoment({ type, summary }).replaceAll('\u00a0', ' ')).toBe(want);
});

it('English amounts and names are the console’s', () => {
  language.use('en');
  expect(sentenceOfMoment({ type: 'payment', summary: 'Paid R$ 1234.50 for a ticket order by credit card at gwb.' }).replaceAll('\u00a0', ' '))
    .toBe('Paid BRL 1,234.50 for a ticket order by card at Gateway B.');
});
