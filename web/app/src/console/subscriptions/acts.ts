import { answer, api, sendBody, type Got } from '../../api/client';

/** What acts need to know of a subscription. */
export interface Subject { _id: string; gateway: string; status: string; plan_id: string }

/**
 * A settled payment with what is left to give back, and how many refunds of its subscription have failed. One that
 * waits has a refund on its way, and its gateway takes no other until that has ended.
 */
export interface Refundable { id: string; paid: string; left: number; failed: number; waits: boolean }

/** From how many cents on an amount that is given back has to be typed once more. */
export const LARGE = 500_00;

type Listed = Got<'/api/v1/subscriptions/{id}/payments'>['payments'][number];

const WAITING = 'REFUND_IN_PROGRESS'; // gateway A's word
const SETTLED = new Set(['succeeded', 'CONFIRMED', 'RECEIVED', 'RECEIVED_IN_CASH']);

/** The payments that the gateway has and that can still be given back, the latest first, those that wait at the end. */
export async function refundable(subject: Subject): Promise<Refundable[]> {
  const [{ payments }, failed, pending] = await Promise.all([
    answer(api.GET('/api/v1/subscriptions/{id}/payments', { params: { path: { id: subject._id } } })),
    failedOf(subject),
    refundsOf(subject, 'pending'),
  ]);
  // Gateway A counts what is on its way not as given back yet.
  const onItsWay = (one: Listed) => (one.status === WAITING
    ? pending.docs.reduce((sum, { payment_id: id, amount }) => (id === idOf(one) ? sum + amount : sum), 0) : 0);
  return payments
    .filter((one) => one.status === WAITING || (SETTLED.has(one.status) && one.amount > one.amount_refunded))
    .sort((a, b) => Number(a.status === WAITING) - Number(b.status === WAITING) || b.created - a.created)
    .map((one) => ({
      id: idOf(one), paid: new Date(one.created * 1000).toISOString(), failed,
      left: Math.max(0, one.amount - one.amount_refunded - onItsWay(one)), waits: one.status === WAITING,
    }));
}

/** How many refunds of the subscription have failed. */
export async function failedOf(subject: Subject): Promise<number> {
  return (await refundsOf(subject, 'failed')).pagination.qty_total_docs;
}

function refundsOf({ _id }: Subject, status: 'failed' | 'pending') {
  const query = JSON.stringify({ local_id: _id, status });
  return answer(api.GET('/api/v1/admin/finance/refunds', { params: { query: { query, qty_docs_page: 100 } } }));
}

function idOf(payment: Listed): string { return payment.payment_intent ?? payment.gwa_payment_id ?? payment.id; }

/**
 * Gives part or all of a payment back. The key names the payment, what was left of it and how much
 * goes back: a second click, another tab and a repetition after a lost answer are the same refund. One that failed
 * since makes it another: the API would answer again what it said of the first.
 */
export async function refund(subject: Subject, payment: Refundable, cents: number, reason: string): Promise<void> {
  const key = `refund-${payment.id}-${payment.left}-${cents}${payment.failed ? `-${payment.failed}` : ''}`;
  const path = `/api/v1/admin/${subject.gateway}/subscriptions/${subject._id}/refund`;
  const body = subject.gateway === 'gwa'
    ? { payment_id: payment.id, value: cents / 100, reason }
    : { payment_intent_id: payment.id, amount: cents, reason };
  await sendBody('POST', path, body, key);
}

export async function extend(subject: Subject, days: number): Promise<string> {
  const { docs } = await answer(api.POST('/api/v1/admin/subscriptions/{id}/extend', {
    params: { path: { id: subject._id } }, body: { days },
  }));
  return docs[0]?.expires_at ?? docs[0]?.next_billing_date ?? '';
}

export async function activate(subject: Subject, reason: string): Promise<void> {
  await answer(api.POST('/api/v1/admin/subscriptions/{id}/activate', {
    params: { path: { id: subject._id } }, body: reason ? { reason } : {},
  }));
}

export async function cancel(subject: Subject, reason: string): Promise<void> {
  await answer(api.POST('/api/v1/subscriptions/{id}/cancel', {
    params: { path: { id: subject._id } }, body: reason ? { reason } : {},
  }));
}

export async function chargeback(subject: Subject, reason: string): Promise<void> {
  await answer(api.POST('/api/v1/subscriptions/{id}/chargeback', { params: { path: { id: subject._id } }, body: { reason } }));
}

export async function suspend(subject: Subject): Promise<void> {
  await sendBody('PUT', '/api/v1/subscriptions', [{ _id: subject._id, status: 'suspended' }]);
}

export async function movePlan(subject: Subject, plan: string): Promise<void> {
  await sendBody('PUT', '/api/v1/subscriptions', [{ _id: subject._id, plan_id: plan }]);
}

export type Plan = Got<'/api/v1/plans/admin'>['docs'][number];

export async function plans(): Promise<Plan[]> {
  const { docs } = await answer(api.GET('/api/v1/plans/admin', { params: { query: { qty_docs_page: 100 } } }));
  return docs;
}
