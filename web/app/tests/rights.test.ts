import type { Request, Response } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn, visit } from './browser';
import { adminWith, asRoot, bought, newAdmin, newEvent, signUp, subscribed, type Lists, type Role } from './people';

interface Route { method: string; path: string; auth: string; permission: string }

const { users, url } = inject('platform');
const none: Lists = { view: [], create: [], update: [], delete: [] };

let routes: Route[] = [];
let pages: string[] = [];
const roles: Record<string, Role> = {};

/** Who may call a route, as /routes says. */
function may({ root, rights }: Role, { auth, permission }: Route): boolean {
  if (auth === 'root') return root;
  if (auth === 'customer' || auth === 'gateway') return false; // what is for subscribers is for the staff, too
  return root || !permission || rights.includes(permission);
}

function routeOf(method: string, path: string): Route | undefined {
  const matching = routes.filter((route) => route.method === method
    && new RegExp(`^${route.path.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path));
  return matching.find((route) => !route.path.includes('{')) ?? matching[0];
}

beforeAll(async () => {
  ({ routes } = await asRoot<{ routes: Route[] }>('GET', '/routes'));
  const rights = [...new Set(routes.map(({ permission }) => permission).filter(Boolean))];
  const ending = (...ends: string[]) => rights.filter((right) => ends.some((end) => right.endsWith(end)));
  const all = { view: ending('_get', '_download'), create: ending('_post', '_upload'), update: ending('_put'), delete: ending('_delete') };
  expect(Object.values(all).flat().sort()).toEqual(rights.sort());
  roles['root'] = { login: users.root, root: true, rights };
  roles['an admin with all'] = await adminWith('Alba', all);
  roles['an admin with one'] = await adminWith('Unai', { ...none, view: ['requisition_get'] });
  roles['an admin with none'] = { login: await newAdmin('Nilo'), root: false, rights: [] };

  const customer = await subscribed('Tereza Alves');
  const first = async (path: string) => (await asRoot<{ docs: { _id: string }[] }>('GET', `${path}?qty_docs_page=1`)).docs[0]?._id ?? '';
  const event = await first('/events');
  const order = await bought(await signUp('Ilda Braga'), await newEvent(), 1);
  pages = [
    '/', '/customers', `/customers/${customer.id}`, '/subscriptions', '/subscriptions/overdue', '/payments', '/payments/settled', '/payments/refunds', '/payments/refunded', '/payments/open-disputes', '/payments/reconciliations',
    '/payments/disputes', '/payments/unapplied', '/webhooks', `/webhooks/${await first('/webhook-logs')}`, '/settings', '/settings/plans',
    '/settings/users', '/settings/profiles', '/settings/explain', '/settings/jobs', '/settings/branding', '/settings/invariants', '/settings/audit', `/settings/audit/${await first('/audit-log')}`, '/account',
    '/catalog', '/catalog?as=table', `/catalog/${await first('/videos')}`, '/catalog/categories', '/catalog/tags', '/catalog/seasons', '/catalog/imports', '/events', `/events/orders/${order}`, `/events/${event}`,
    `/events/${event}/guests`, `/events/${event}/orders`, `/events/${event}/box-office`, `/events/${event}/edit`, '/promos', '/finance', '/finance/revenue?against=before', '/finance/movements', '/finance/movements/rows', '/finance/churn', '/finance/cohorts',
    '/finance/exports', '/finance/definitions', '/board',
  ];
});

describe.each(['root', 'an admin with all', 'an admin with one', 'an admin with none'])('%s', (name) => {
  it('is shown what they may, and asks for nothing that they may not', async () => {
    const role = roles[name] as Role;
    const page = await signedIn(role.login);
    const answers: Response[] = [];
    page.on('response', (response) => { if (response.url().startsWith(`${url}/api/v1/`)) answers.push(response); });
    const asked = new Set<Request>();
    page.on('request', (request) => asked.add(request));
    page.on('response', (response) => asked.delete(response.request()));
    page.on('requestfailed', (request) => asked.delete(request));
    for (const path of pages) {
      await visit(page, path);
      await expect.poll(async () => {
        await page.evaluate(() => { scrollTo(0, 1e6); }); // some of it is read once it is seen
        return page.locator('main .skeleton, main [aria-busy="true"]').count();
      }, { message: path }).toBe(0);
      await page.locator('main h1, main .title').first().waitFor();
      await expect.poll(() => asked.size).toBe(0);
      const lacks = (path === '/settings/profiles' || path === '/settings/explain') && !role.root;
      expect(await page.getByText('For root users only').count(), path).toBe(lacks ? 1 : 0);
      const needed: Record<string, string[]> = { '/board': ['requisition_get', 'requisition_status_get'], '/settings/branding': ['config_branding_put'] };
      const closed = !role.root && !(needed[path] ?? []).every((right) => role.rights.includes(right));
      expect(await page.getByText('You lack the right').count(), path).toBe(closed ? 1 : 0);
      expect(await page.getByText('This could not be loaded').count(), path).toBe(0);
    }
    const called = answers.map((response) => {
      const route = routeOf(response.request().method(), new URL(response.url()).pathname);
      return { call: `${response.request().method()} ${response.url()}`, status: response.status(), allowed: !!route && may(role, route) };
    });
    expect(called.length).toBeGreaterThan(pages.length);
    expect(called.filter(({ status, allowed }) => !allowed || status === 401 || status === 403)).toEqual([]);

    // What only root may change is there for root alone.
    await page.goto('/console/settings');
    await page.getByLabel('Current version').waitFor();
    expect(await page.getByLabel('Current version').isEnabled()).toBe(role.root);
    expect(await page.getByRole('link', { name: 'Profiles' }).count()).toBe(role.root ? 1 : 0);
    await page.goto('/console/settings/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByRole('dialog').getByLabel('Username').waitFor();
    expect(await page.getByRole('dialog').getByLabel('Root').count()).toBe(role.root ? 1 : 0);
    expectNoFaults(page.context());
  });
});

it('every route that the API gives to root alone is refused to the others', async () => {
  const ofRoot = routes.filter(({ auth }) => auth === 'root');
  expect(ofRoot.length).toBeGreaterThan(0);
  for (const role of Object.values(roles).filter(({ root }) => !root)) {
    const { access_token: token } = await (await fetch(`${url}/api/v1/token`, {
      method: 'POST', body: new URLSearchParams({ ...role.login }),
    })).json() as { access_token: string };
    for (const { method, path } of ofRoot) {
      const response = await fetch(url + path.replace(/\{[^}]+\}/g, '0'.repeat(24)), { method, headers: { Authorization: `Bearer ${token}` } });
      expect([401, 403], `${method} ${path}`).toContain(response.status);
    }
  }
});
