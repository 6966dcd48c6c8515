import { mkdirSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, visit } from './browser';
import { newEvent } from './people';

const output = new URL('./output/', import.meta.url).pathname;

const FINANCE = '/api/v1/admin/finance';
const lists = [
  ['customers', '/customers', '/api/v1/customers', 'No customers yet'], ['subscriptions', '/subscriptions', '/api/v1/subscriptions', 'No subscriptions yet'],
  ['settled', '/payments/settled', `${FINANCE}/payments`, 'Nothing was paid'], ['refunds', '/payments/refunds', `${FINANCE}/refunds`, 'No refunds'],
  ['refunded', '/payments/refunded', '/api/v1/subscriptions', 'Nothing was refunded'], ['open-disputes', '/payments/open-disputes', `${FINANCE}/disputes`, 'No dispute is open'],
  ['disputes', '/payments/disputes', `${FINANCE}/disputes`, 'No disputes'], ['unapplied', '/payments/unapplied', `${FINANCE}/unapplied-payments`, 'No money is waiting'],
  ['reconciliations', '/payments/reconciliations', `${FINANCE}/reconciliations`, 'Nothing was reconciled yet'], ['overdue', '/subscriptions/overdue', `${FINANCE}/overdue-subscriptions`, 'Nobody is overdue'], ['jobs', '/settings/jobs', '/api/v1/admin/jobs', 'No such jobs'],
  ['webhooks', '/webhooks', '/api/v1/webhook-logs', 'No webhooks yet'],
  ['plans', '/settings/plans', '/api/v1/plans/admin', 'No plans yet'], ['users', '/settings/users', '/api/v1/users', 'No users'], ['profiles', '/settings/profiles', '/api/v1/users-type', 'No profiles'],
  ['audit', '/settings/audit', '/api/v1/audit-log', 'Nothing was written yet'], ['catalog', '/catalog', '/api/v1/videos', 'No videos yet'],
  ['seasons', '/catalog/seasons', '/api/v1/seasons', 'There is nothing here yet'], ['categories', '/catalog/categories', '/api/v1/categories', 'There is nothing here yet'],
  ['tags', '/catalog/tags', '/api/v1/tags', 'There is nothing here yet'], ['events', '/events', '/api/v1/events', 'No events yet'], ['promos', '/promos', '/api/v1/admin/promo-codes', 'No promo codes yet'],
] as const;

const json = (status: number, body: object) => (route: Route) => route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) });

const away = async (page: Page) => {
  await visit(page, '/nothing');
  await page.getByText('There is nothing here').waitFor();
};

type Answer = (route: Route) => unknown;

/** The list as it stands when its rows are answered so, as a picture in the output of the tests. */
async function stand(page: Page, at: string, rows: RegExp, name: string, answer: Answer, said: string) {
  await away(page);
  await page.route(rows, answer);
  await visit(page, at);
  await page.locator('section.panel[aria-busy]').getByText(said).first().waitFor({ state: 'attached' });
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 200); })); // a skeleton shows after 150 ms
  await page.screenshot({ path: `${output}${name}.png` });
  await page.unroute(rows);
}

/** The list as it stands when it is gone to while nothing answers. */
async function standOffline(page: Page, at: string, name: string) {
  await away(page);
  await page.route('**/api/v1/**', (route) => route.abort());
  await visit(page, at);
  await page.locator('main').getByText('Loading').first().waitFor({ state: 'attached' });
  await page.getByText('The server cannot be reached.').waitFor();
  await page.screenshot({ path: `${output}${name}.png` });
  await page.unroute('**/api/v1/**');
  await page.getByText('The server cannot be reached.').waitFor({ state: 'detached' });
}

it('every list is empty, loads, fails and is cut off in words', async () => {
  mkdirSync(output, { recursive: true });
  const page = await signedIn('root');
  const orders = ['orders', `/events/${await newEvent('Sem pedidos')}/orders`, '/api/v1/admin/ticket-orders', 'No orders yet'] as const;
  const none = { docs: [], pagination: { current_page: 0, qty_docs_page: 25, qty_of_pages: 0, qty_total_docs: 0 }, info: null, links: [], msg: 'ok' };
  for (const [name, at, path, emptyTitle] of [...lists, orders]) {
    const rows = new RegExp(`${path}\\?`);
    await stand(page, at, rows, `${name}-empty`, json(200, none), emptyTitle);
    let go = () => {};
    const held = new Promise<void>((resolve) => { go = resolve; });
    await stand(page, at, rows, `${name}-loading`, async (route) => {
      await held;
      await route.abort().catch(() => undefined); // the page has gone on meanwhile
    }, 'Loading');
    go();
    await stand(page, at, rows, `${name}-error`, json(500, { error: { code: 'INTERNAL', message: 'Something went wrong.' } }), 'Something went wrong.');
    await standOffline(page, at, `${name}-offline`);
    expect(await page.getByText('undefined').count(), name).toBe(0);
  }
  expectNoFaults(page.context());
});
