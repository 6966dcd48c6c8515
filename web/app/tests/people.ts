import { execFileSync } from 'node:child_process';
import { inject } from 'vitest';

// People and money for the stories, made through the API as clients make them.

const platform = inject('platform');
const API = `${platform.url}/api/v1`;

type Body = Record<string, unknown>;

/** A call with a token, or nobody's where it is ''. */
export async function call<T>(method: string, path: string, token: string, body?: unknown): Promise<T> {
  const response = await fetch(API + path, {
    method,
    headers: { ...(token && { Authorization: `Bearer ${token}` }), 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

export async function tokenOf({ username, password }: { username: string; password: string }): Promise<string> {
  const response = await fetch(`${API}/token`, { method: 'POST', body: new URLSearchParams({ username, password }) });
  return ((await response.json()) as { access_token: string }).access_token;
}

let staff: Promise<string> | undefined;

/** A call as root. */
export async function asRoot<T = Body>(method: string, path: string, body?: unknown): Promise<T> {
  staff ??= tokenOf(platform.users.root);
  return call<T>(method, path, await staff, body);
}

/** A file of videos that root has checked; the answer is its id. */
export async function checkFile(text: string): Promise<string> {
  staff ??= tokenOf(platform.users.root);
  const response = await fetch(`${platform.url}/api/v1/admin/imports?filename=filmes.csv`, {
    method: 'POST', body: text, headers: { Authorization: `Bearer ${await staff}`, 'Content-Type': 'text/csv' },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { _id: string })._id;
}

/** A control of a gateway's sandbox (testutil/sandbox/README.md). */
export async function atGateway<T = Body>(gateway: 'gwa' | 'gwb', method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${new URL(platform.sandbox[gateway]).origin}/_sandbox${path}`, {
    method, ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/** The digits of a CPF whose check digits are right, made of a number. */
export function cpfOf(n: number): string {
  const digits = String(n).padStart(9, '0').split('').map(Number);
  for (const weight of [10, 11]) {
    const sum = digits.reduce((total, digit, i) => total + digit * (weight - i), 0);
    const rest = (sum * 10) % 11;
    digits.push(rest === 10 ? 0 : rest);
  }
  return digits.join('');
}

/** An admin with no profile, whose sessions and factors are no other test's. */
export async function newAdmin(name: string): Promise<{ username: string; password: string }> {
  const username = `${name.toLowerCase()}${String(seed * 10 + ++made)}`;
  const password = 'a long password 1';
  await asRoot('POST', '/users', [{ name, username, email: `${username}@example.com`, password, enable: true }]);
  return { username, password };
}

export type Lists = Record<'view' | 'create' | 'update' | 'delete', string[]>;
export interface Role { login: { username: string; password: string }; root: boolean; rights: string[] }

/** An admin whose one profile has these lists. */
export async function adminWith(name: string, lists: Lists): Promise<Role> {
  const login = await newAdmin(name);
  const { docs: [profile] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/users-type', [{ name: login.username, ...lists }]);
  const { docs: [user] } = await asRoot<{ docs: { _id: string }[] }>('GET', `/users?query=${encodeURIComponent(JSON.stringify({ username: login.username }))}`);
  await asRoot('PUT', '/users', [{ _id: user?._id, type_user: [profile?._id] }]);
  return { login, root: false, rights: Object.values(lists).flat() };
}

let made = 0;
const seed = Math.floor(Math.random() * 1e8);

export interface Customer { id: string; name: string; email: string; taxID: string; token: string }

/** A customer who has signed up. */
export async function signUp(name: string): Promise<Customer> {
  const n = seed * 10 + ++made;
  const taxID = cpfOf(n % 1e9);
  const email = `p${n}@example.com`;
  const answer = await call<{ customer_id: string; auth: { access_token: string } }>('POST', '/customers/signup', '', [{
    username: `person${n}`, email, password: 'a long password 1', full_name: name, phone: '+5511987654321',
    tax_id: taxID, verify_email_now: false,
  }]);
  return { id: answer.customer_id, name, email, taxID, token: answer.auth.access_token };
}

/** The same, with a plan paid by card at gateway B. */
export async function subscribed(name: string, plan = 'plus'): Promise<Customer & { subscription: string }> {
  const customer = await signUp(name);
  await call('POST', '/gwb/subscribe', customer.token, { plan_id: plan, payment_method_id: 'pm_card_visa' });
  return settled(customer);
}

/** The same, by card at gateway A. */
export async function subscribedAtA(name: string, plan = 'plus'): Promise<Customer & { subscription: string }> {
  const customer = await signUp(name);
  await call('POST', '/gwa/subscribe', customer.token, { plan_id: plan, ...cardAtA(customer) });
  return settled(customer);
}

const cardAtA = ({ name, email, taxID }: Customer) => ({
  credit_card: { holderName: name.toUpperCase(), number: '5162306219378829', expiryMonth: '05', expiryYear: '2035', ccv: '318' },
  credit_card_holder_info: { name, email, cpfCnpj: taxID, postalCode: '01310100', addressNumber: '150', phone: '1138830000' },
});

async function settled(customer: Customer): Promise<Customer & { subscription: string }> {
  const subscription = await until(async () => {
    const { docs } = await call<{ docs: { _id: string; status: string }[] }>('GET', '/customers/me/subscription', customer.token);
    return docs[0]?.status === 'active' ? docs[0]._id : undefined;
  });
  // The payment is in the ledger once its webhook came.
  await until(async () => {
    const { payments } = await asRoot<{ payments: unknown[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
    return payments.length > 0 || undefined;
  });
  return { ...customer, subscription };
}

/** An event on sale in a month, for BRL 40.00 a place. */
export async function newEvent(title = 'Limite'): Promise<string> {
  const { docs: [event] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/events', [{
    title, event_type: 'screening', event_date: new Date(Date.now() + 30 * 864e5).toISOString(), location: 'Cine Ipiranga',
    capacity: 100, ticket_value: 40, is_sale_box_office: true,
  }]);
  return event?._id ?? '';
}

/** Tickets of an event, bought by card at gateway B; the answer is the order's id, once it is paid. */
export async function bought(customer: Customer, event: string, quantity: number): Promise<string> {
  return paidOrder(event, await call<Purchase>('POST', '/store/purchase/gwb/card', customer.token, { event_id: event, quantity, payment_method_id: 'pm_card_visa' }));
}

/** The same, by card at gateway A. */
export async function boughtAtA(customer: Customer, event: string, quantity: number): Promise<string> {
  return paidOrder(event, await call<Purchase>('POST', '/store/purchase/gwa/card', customer.token, { event_id: event, quantity, ...cardAtA(customer) }));
}

interface Purchase { order: { _id: string } }

async function paidOrder(event: string, { order }: Purchase): Promise<string> {
  await until(async () => {
    const { orders } = await asRoot<{ orders: { _id: string; paid_at: string | null }[] }>('GET', `/admin/events-dashboard/events/${event}`);
    return orders.find(({ _id }) => _id === order._id)?.paid_at ?? undefined;
  });
  return order._id;
}

/** As many customers without anything, more than those that are there. */
export function makeMany(customers: number) {
  execFileSync(process.env['FILL'] ?? '', ['-customers', String(customers)], { env: { ...process.env, DATABASE_URL: platform.database_url } });
}

/** What look gives once it gives something; it looks again until two minutes are over. */
export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 1200; i++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  throw new Error('what was waited for did not come');
}

/** Gives so many tickets of an event, each to a person of its own, and sells so many, by orders of two. */
export function giveMany(event: string, tickets: number, sold = 0) {
  execFileSync(process.env['FILL'] ?? '', ['-event', event, '-tickets', String(tickets), '-sold', String(sold)], { env: { ...process.env, DATABASE_URL: platform.database_url } });
}

/** Gives a customer with one subscription as much history as the heaviest have: 300 payments, 5,000 events, 2,000 films. */
export function makeHeavy(customer: string) {
  execFileSync(process.env['FILL'] ?? '', ['-customer', customer], { env: { ...process.env, DATABASE_URL: platform.database_url } });
}

/** Adds a nightly reconciliation that repaired a subscription of the customer, and one by command that died. */
export function reconciledFor(customer: string) {
  execFileSync(process.env['FILL'] ?? '', ['-reconciled', customer], { env: { ...process.env, DATABASE_URL: platform.database_url } });
}
