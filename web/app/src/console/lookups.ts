import { answer, api, type Got } from '../api/client';
import { pageOfOrder } from './events/event';

/** A record that was found, as the API has it. */
export type Hit = Got<'/api/v1/admin/search'>['hits'][number];

const ofCustomer = ({ customer_id }: Hit) => customer_id && `/customers/${customer_id}`;
const ofOrder = (hit: Hit) => (hit.order_id ? pageOfOrder(hit.order_id) : ofCustomer(hit));

/** The page of each kind of record; without one where the console has no room for it. */
const pages: Record<Hit['kind'], ((hit: Hit) => string | null) | null> = {
  customer: ({ _id }) => `/customers/${_id}`,
  user: ({ _id }) => `/settings/users?edit=${_id}`,
  profile: ({ _id }) => `/settings/profiles?edit=${_id}`,
  audit_entry: ({ _id }) => `/settings/audit/${_id}`,
  payment: ofOrder,
  refund: ofOrder,
  dispute: ofOrder,
  unapplied_payment: ({ _id }) => `/payments/unapplied/${_id}`,
  webhook_log: ({ _id }) => `/webhooks/${_id}`,
  subscription: ofCustomer,
  plan: ({ _id }) => `/settings/plans?edit=${_id}`,
  ticket: ofOrder,
  ticket_order: ofOrder,
  event: ({ _id }) => `/events/${_id}`,
  promo_code: ({ _id }) => `/promos/${_id}`,
  video: ({ _id }) => `/catalog/${_id}`,
  category: ({ _id }) => `/catalog/categories?edit=${_id}`,
  tag: ({ _id }) => `/catalog/tags?edit=${_id}`,
  season: ({ _id }) => `/catalog/seasons/${_id}`,
  requisition: ({ _id }) => `/board?card=${_id}`,
  requisition_status: () => '/board',
};

/** Where a hit leads; undefined where there is no page. */
export function pageOf(hit: Hit): string | undefined { return pages[hit.kind]?.(hit) ?? undefined; }

/** What was typed finds, the best first. */
export async function lookUp(typed: string, signal: AbortSignal): Promise<Hit[]> {
  return (await answer(api.GET('/api/v1/admin/search', { params: { query: { q: typed } }, signal }))).hits;
}
