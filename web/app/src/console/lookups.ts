import { readPage } from '../api/client';

/** Where a search leads. */
export interface Hit { kind: 'customers' | 'subscriptions' | 'webhooks' | 'audit'; title: string; note: string; to: string }

type Doc = Record<string, unknown>;
interface Lookup { path: string; ask: { q?: string; query?: object }; hit: (doc: Doc) => Hit }

const text = (value: unknown) => (typeof value === 'string' ? value : '');

const customer = (doc: Doc): Hit => ({
  kind: 'customers', title: text(doc['full_name']) || text(doc['username']), note: text(doc['email']),
  to: `/customers/${text(doc['_id'])}`,
});
const subscription = (doc: Doc): Hit => ({
  kind: 'subscriptions', title: `${text(doc['plan_id'])} · ${text(doc['status'])}`,
  note: text(doc['gwa_subscription_id']) || text(doc['gwb_subscription_id']) || text(doc['_id']),
  to: `/customers/${text(doc['customer_id'])}`,
});
const webhook = (doc: Doc): Hit => ({
  kind: 'webhooks', title: text(doc['event_type']), note: text(doc['event_id']), to: `/webhooks/${text(doc['_id'])}`,
});
const entry = (doc: Doc): Hit => ({
  kind: 'audit', title: text(doc['action']), note: text(doc['actor_name']), to: `/settings/audit?_id=${text(doc['_id'])}`,
});

const CUSTOMERS = '/api/v1/customers';
const SUBSCRIPTIONS = '/api/v1/subscriptions';
const WEBHOOKS = '/api/v1/webhook-logs';
const AUDIT = '/api/v1/audit-log';

/** What is asked for what was typed: the record that a pasted id names, before what words find. */
function lookupsOf(typed: string): Lookup[] {
  if (/^[0-9a-f]{24}$/i.test(typed)) {
    return [
      { path: CUSTOMERS, ask: { query: { _id: typed } }, hit: customer },
      { path: SUBSCRIPTIONS, ask: { query: { _id: typed } }, hit: subscription },
      { path: WEBHOOKS, ask: { query: { _id: typed } }, hit: webhook },
      { path: AUDIT, ask: { query: { request_id: typed } }, hit: entry },
    ];
  }
  if (/^sub_/.test(typed)) {
    const ids = [{ gwa_subscription_id: typed }, { gwb_subscription_id: typed }];
    return [{ path: SUBSCRIPTIONS, ask: { query: { $or: ids } }, hit: subscription }];
  }
  if (/^cus_/.test(typed)) return [{ path: CUSTOMERS, ask: { query: { gwb_customer_id: typed } }, hit: customer }];
  if (/^evt_/.test(typed)) return [{ path: WEBHOOKS, ask: { query: { event_id: typed } }, hit: webhook }];
  if (/^(pi|ch|in)_/.test(typed)) {
    return [{ path: WEBHOOKS, ask: { query: { 'payload.data.object.id': typed } }, hit: webhook }];
  }
  if (/^pay_/.test(typed)) return [{ path: WEBHOOKS, ask: { query: { 'payload.payment.id': typed } }, hit: webhook }];
  const taxID = typed.replace(/[.\-/\s]/g, '').toUpperCase();
  if (/^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$/.test(taxID)) {
    return [{ path: CUSTOMERS, ask: { query: { tax_id: taxID } }, hit: customer }];
  }
  return [{ path: '/api/v1/search/customers', ask: { q: typed }, hit: customer }];
}

/** What was typed finds, the best first. */
export async function lookUp(typed: string, signal: AbortSignal): Promise<Hit[]> {
  const pages = await Promise.all(lookupsOf(typed.trim()).map(async ({ path, ask, hit }) => {
    const query = ask.query ? JSON.stringify(ask.query) : undefined;
    const { docs } = await readPage(path, { ...(query && { query }), ...(ask.q && { q: ask.q }), page: 0, size: 8 }, signal);
    return docs.map(hit);
  }));
  return pages.flat();
}
