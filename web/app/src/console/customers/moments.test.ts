import { expect, it, vi } from 'vitest';
import type { Moment } from './moments';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['pt-BR'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
const { sentenceOfMoment } = await import('./moments');
const { language } = await import('../messages/index.svelte');

const of = (moment: Omit<Moment, 'at' | 'summary'>): Moment => ({ at: '2026-01-01T00:00:00Z', summary: 'In English.', ...moment });
const said = (moment: Moment) => sentenceOfMoment(moment).replaceAll('\u00a0', ' ');

it.each<[Omit<Moment, 'at' | 'summary'>, string]>([
  [{ type: 'signup' }, 'Fez o cadastro.'],
  [{ type: 'subscription', plan_name: 'A (b) went from c', to_status: 'pending', reason: 'subscribed' }, 'A assinatura de A (b) went from c começou como pendente (assinou).'],
  [{ type: 'subscription', plan_name: 'Plus', from_status: 'active', to_status: 'suspended', reason: 'payment_failure' }, 'A assinatura de Plus passou de ativa a suspensa (pagamentos falharam).'],
  [{ type: 'payment', amount: 123450, purpose: 'subscription', payment_method: 'credit_card', gateway: 'gwb' }, 'Pagou R$ 1.234,50 por uma assinatura, com cartão, no Gateway B.'],
  [{ type: 'payment', amount: 50, purpose: 'customer', payment_method: 'pix', gateway: 'gwa' }, 'Pagou R$ 0,50 por nada que se conheça aqui, com PIX, no Gateway A.'],
  [{ type: 'payment_failed', amount: 2990, gateway: 'gwa' }, 'Um pagamento de R$ 29,90 falhou no Gateway A.'],
  [{ type: 'refund', amount: 1000, refund_status: 'requested' }, 'Um reembolso de R$ 10,00 está em andamento.'],
  [{ type: 'chargeback', amount: -1000, gateway: 'gwb' }, 'Uma contestação foi ganha: R$ 10,00 voltaram.'],
  [{ type: 'order', amount: 3000, quantity: 2, event_title: 'A, R$ 1.00.' }, 'Pediu 2 para A, R$ 1.00., R$ 30,00.'],
  [{ type: 'order', amount: 0, quantity: 1, event_title: 'Grátis' }, 'Pediu 1 para Grátis, R$ 0,00.'],
  [{ type: 'ticket', event_title: 'Noite' }, 'Usou um ingresso de Noite.'],
  [{ type: 'promo_code', promo_code: 'X' }, 'Resgatou o código promocional X.'],
])('%j', (moment, want) => {
  language.use('pt');
  expect(said(of(moment))).toBe(want);
});

it('what a later version tells stands as it came', () => {
  expect(said({ ...of({ type: 'signup' }), type: 'gift' } as unknown as Moment)).toBe('In English.');
});

it('English amounts and names are the console’s', () => {
  language.use('en');
  expect(said(of({ type: 'payment', amount: 123450, purpose: 'order', payment_method: 'credit_card', gateway: 'gwb' })))
    .toBe('Paid BRL 1,234.50 for a ticket order by card at Gateway B.');
});
