import { answer, api, sendBody, type Got } from '../../api/client';

export type Sale = Got<'/api/v1/events/{id}/box-office-sales'>['sales'][number];
export type SaleDetail = Got<'/api/v1/events/{id}/box-office-sales/{order_id}'>;
export type Till = Got<'/api/v1/events/{id}/box-office'>;

/** How the counter is paid, in the order of its keys. */
export const METHODS = ['cash', 'card_machine', 'courtesy'] as const;
export type Method = (typeof METHODS)[number];

/** Whether the counter sold an order that was paid that way. */
export function ofBoxOffice(method: string | null): boolean { return METHODS.some((one) => one === method); }

export interface NewSale { quantity: number; method: Method; note?: string; buyer?: { full_name?: string; email?: string; phone?: string } }

/** Sells; the key makes a repetition the same sale. */
export async function sell(event: string, sale: NewSale, key: string): Promise<SaleDetail> {
  return (await sendBody('POST', `/api/v1/events/${event}/box-office-sales`, sale, key)) as SaleDetail;
}

export async function salesOf(event: string, qty: number): Promise<{ sales: Sale[]; more: boolean }> {
  return answer(api.GET('/api/v1/events/{id}/box-office-sales', { params: { path: { id: event }, query: { qty } } }));
}

export async function saleOf(event: string, order: string): Promise<SaleDetail> {
  return answer(api.GET('/api/v1/events/{id}/box-office-sales/{order_id}', { params: { path: { id: event, order_id: order } } }));
}

/** What the till of a day has to hold. */
export async function tillOf(event: string, day: string): Promise<Till> {
  return answer(api.GET('/api/v1/events/{id}/box-office', { params: { path: { id: event }, query: { start: day, end: day } } }));
}

/** Takes tickets back, and tells how much is handed back for them. */
export async function handBack(event: string, order: string, tickets: string[] | undefined, reason: string, used: boolean, key: string): Promise<number> {
  const { refund_amount: amount } = (await sendBody('POST', `/api/v1/events/${event}/box-office-sales/${order}/refund`, {
    reason, ...(tickets && { ticket_ids: tickets }), ...(used && { include_consumed: true }),
  }, key)) as { refund_amount: number };
  return amount;
}
