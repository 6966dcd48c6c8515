import { readPage, sendBody, type Got } from '../../api/client';
import type { Line } from '../../ui/Curve.svelte';
import type { Tone } from '../../ui/Status.svelte';
import type { Doc } from '../form/record';
import { m, word } from '../messages/index.svelte';

export type Dashboard = Got<'/api/v1/admin/events-dashboard/events/{event_id}'>;
export type Order = Dashboard['orders'][number];

/** Whether an event is on sale, in a word. */
export function stateOfEvent(event: Doc): { tone: Tone; word: string } {
  const end = typeof event['event_end_date'] === 'string' ? Date.parse(event['event_end_date']) : Date.parse(String(event['event_date'])) + 3 * 36e5;
  if (event['cancelled_at']) return { tone: 'bad', word: m().events.calledOff };
  if (end <= Date.now()) return { tone: 'idle', word: m().events.over };
  if (event['is_active'] !== true) return { tone: 'idle', word: m().events.off };
  if (typeof event['capacity'] === 'number' && Number(event['tickets_issued']) >= event['capacity']) return { tone: 'warn', word: m().events.full };
  return event['is_sale_box_office'] === true ? { tone: 'good', word: m().events.onSale } : { tone: 'busy', word: m().events.notOnSale };
}

/** How the places were sold, from orders that were paid: all of them, and by method, adding up. */
export function saleOf(orders: Order[]): { times: number[]; lines: Line[] } {
  const paid = orders.filter((order) => order.paid_at !== null || order.total === 0)
    .map((order) => ({ at: Math.floor(Date.parse(order.paid_at ?? order.created_at) / 1000), places: order.quantity, method: order.payment_method ?? 'free' }))
    .sort((a, b) => a.at - b.at);
  const methods = [...new Set(paid.map(({ method }) => method))].sort();
  const times: number[] = [];
  const sums = new Map<string, number>();
  const rows: number[][] = [];
  for (const { at, places, method } of paid) {
    sums.set(method, (sums.get(method) ?? 0) + places);
    const row = [[...sums.values()].reduce((a, b) => a + b, 0), ...methods.map((one) => sums.get(one) ?? 0)];
    if (times.at(-1) === at) rows[rows.length - 1] = row;
    else {
      times.push(at);
      rows.push(row);
    }
  }
  const column = (i: number) => rows.map((row) => row[i] ?? 0);
  return {
    times,
    lines: [
      ...(methods.length > 1 ? methods.map((method, i): Line => ({ label: word(method), values: column(i + 1) })) : []),
      { label: methods.length === 1 ? word(methods[0] ?? '') : m().events.all, values: column(0), leads: true },
    ],
  };
}

/** To how many people and for how many good tickets a change of an event is written. */
export async function holdersOf(event: string, signal: AbortSignal, onprogress?: (people: number) => void): Promise<{ people: number; tickets: number }> {
  const people = new Set<string>();
  for (let page = 0; ; page++) {
    const { docs, pagination } = await readPage('/api/v1/tickets', {
      query: JSON.stringify({ event_id: event, status: 'available' }), sort: '{"_id":1}', page, size: 1000,
    }, signal);
    docs.forEach((doc) => people.add(String(doc['customer_id'])));
    onprogress?.(people.size);
    if (page + 1 >= pagination.qty_of_pages) return { people: people.size, tickets: pagination.qty_total_docs };
  }
}

export interface Ticket { _id: string; title: string; status: string; consumed_at: string | null; customer_name: string }

/** The tickets of an order. */
export async function ticketsOf(order: string): Promise<Ticket[]> {
  const { docs } = await readPage('/api/v1/tickets', { query: JSON.stringify({ ticket_order_id: order }), page: 0, size: 100 });
  return docs as unknown as Ticket[];
}

/** Gives an order back, all that is left of it or some of its tickets; the key makes a repetition the same refund. */
export async function refundOrder(order: Order, tickets: string[] | undefined, reason: string, used: boolean): Promise<number> {
  const which = tickets ? [...tickets].sort().join('').slice(-48) : 'all';
  const { refund_amount: amount } = (await sendBody('POST', `/api/v1/admin/ticket-orders/${order._id}/refund`, {
    reason, ...(tickets && { ticket_ids: tickets }), ...(used && { include_consumed: true }),
  }, `refund-${order._id}-${Math.round(order.refunded * 100)}-${which}`)) as { refund_amount: number };
  return amount;
}
