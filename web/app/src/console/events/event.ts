import { answer, api, sendBody, type Got } from '../../api/client';
import type { Line } from '../../ui/Curve.svelte';
import type { Tone } from '../../ui/Status.svelte';
import type { Doc } from '../form/record';
import { m, word } from '../messages/index.svelte';

export type Dashboard = Got<'/api/v1/admin/events-dashboard/events/{event_id}'>;
export type Order = Dashboard['orders'][number];
export type ListedOrder = Got<'/api/v1/admin/ticket-orders'>['docs'][number];

/** Whether an event is on sale, in a word. */
export function stateOfEvent(event: Doc): { tone: Tone; word: string } {
  const end = typeof event['event_end_date'] === 'string' ? Date.parse(event['event_end_date']) : Date.parse(String(event['event_date'])) + 3 * 36e5;
  if (event['cancelled_at']) return { tone: 'bad', word: m().events.calledOff };
  if (end <= Date.now()) return { tone: 'idle', word: m().events.over };
  if (event['is_active'] !== true) return { tone: 'idle', word: m().events.off };
  if (typeof event['capacity'] === 'number' && Number(event['tickets_issued']) >= event['capacity']) return { tone: 'warn', word: m().events.full };
  return event['is_sale_box_office'] === true ? { tone: 'good', word: m().events.onSale } : { tone: 'busy', word: m().events.notOnSale };
}

/** How the places were sold by the end of each day with sales, from the day before the first: all, and by method, adding up. */
export function saleOf(sales: Dashboard['sales']): { days: string[]; lines: Line[] } {
  const methodOf = (one: Dashboard['sales'][number]) => one.payment_method ?? 'free';
  const methods = [...new Set(sales.map(methodOf))].sort();
  const sold = [...new Set(sales.map(({ day }) => day))].sort();
  const [first] = sold;
  if (!first) return { days: [], lines: [] };
  const sumsOf = (rows: Dashboard['sales']) => {
    let sum = 0;
    return [0, ...sold.map((day) => (sum += rows.filter((one) => one.day === day).reduce((n, { tickets }) => n + tickets, 0)))];
  };
  return {
    days: [new Date(Date.parse(first) - 864e5).toISOString().slice(0, 10), ...sold],
    lines: [
      ...(methods.length > 1 ? methods.map((method): Line => ({ label: word(method), values: sumsOf(sales.filter((one) => methodOf(one) === method)) })) : []),
      { label: methods.length === 1 ? word(methods[0] ?? '') : m().events.all, values: sumsOf(sales), leads: true },
    ],
  };
}

/** To how many people calling an event off, and moving it, is written now. */
export async function mailedOf(event: string): Promise<{ cancelled: number; moved: number }> {
  const now = await answer(api.GET('/api/v1/admin/events-dashboard/events/{event_id}', { params: { path: { event_id: event } } }));
  return { cancelled: now.mailed_if_cancelled, moved: now.mailed_if_moved };
}

export type OrderDetail = Got<'/api/v1/admin/ticket-orders/{id}'>;

/** One order with all that belongs to it. */
export function orderOf(id: string): Promise<OrderDetail> {
  return answer(api.GET('/api/v1/admin/ticket-orders/{id}', { params: { path: { id } } }));
}

export const pageOfOrder = (id: string) => `/events/orders/${id}`;

/** The page of whose money a row of the ledger is: that of the order, else of the customer. */
export function ownerOf(doc: Record<string, unknown>): string {
  return doc['purpose'] === 'order' ? pageOfOrder(String(doc['local_id'])) : `/customers/${String(doc['customer_id'])}`;
}

/** Of which order refunds are made, as it was read. */
export type Refunded = Pick<Order, '_id' | 'customer_name' | 'total' | 'refunded' | 'unit_price'>;

/** What is asked for of an order's money, in reais, and has neither come back nor failed. */
export function waitingOf({ refunds }: Pick<OrderDetail, 'refunds'>): number {
  const cents = refunds.reduce((sum, { status, amount }) => (status === 'requested' || status === 'pending' ? sum + Math.round(amount * 100) : sum), 0);
  return cents / 100;
}

/** The tickets of an order whose share can still be asked for. */
export function leftOf({ tickets }: Pick<OrderDetail, 'tickets'>): OrderDetail['tickets'] {
  return tickets.filter((one) => one.status !== 'expired' && !one.refunded_at && one.blocked !== 'refund_requested');
}

/** How many refunds of an order have failed. */
export const failuresOf = ({ refunds }: Pick<OrderDetail, 'refunds'>) => refunds.filter(({ status }) => status === 'failed').length;

/** A short name of a set of ids, whatever their order: another set has another (FNV-1a of 64 bits). */
export function nameOfSet(ids: string[]): string {
  let hash = 0xcbf29ce484222325n;
  for (const char of [...ids].sort().join(' ')) hash = BigInt.asUintN(64, (hash ^ BigInt(char.charCodeAt(0))) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}

/**
 * Gives an order back, all that is left of it or some of its tickets. The key makes a repetition the same refund; after
 * refunds that failed it is another.
 */
export async function refundOrder(order: Pick<Order, '_id' | 'refunded'>, tickets: string[] | undefined, reason: string, used: boolean, failed: number): Promise<number> {
  const which = tickets ? nameOfSet(tickets) : 'all';
  const { refund_amount: amount } = (await sendBody('POST', `/api/v1/admin/ticket-orders/${order._id}/refund`, {
    reason, ...(tickets && { ticket_ids: tickets }), ...(used && { include_consumed: true }),
  }, `refund-${order._id}-${Math.round(order.refunded * 100)}-${which}${failed ? `-${failed}` : ''}`)) as { refund_amount: number };
  return amount;
}
