import { mkdirSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectNoFaults, signedIn, visit } from './browser';

const output = new URL('./output/', import.meta.url).pathname;

const lists = [
  ['customers', '/customers', 'No customers yet'], ['subscriptions', '/subscriptions', 'No subscriptions yet'],
  ['unapplied', '/payments/unapplied', 'No money is waiting'], ['webhooks', '/webhooks', 'No webhooks yet'],
  ['plans', '/settings/plans', 'No plans yet'], ['audit', '/settings/audit', 'Nothing was written yet'],
  ['catalog', '/catalog', 'No videos yet'], ['events', '/events', 'No events yet'], ['promos', '/promos', 'No promo codes yet'],
  ['seasons', '/catalog/seasons', 'There is nothing here yet'],
] as const;

const collections = /\/api\/v1\/(customers|subscriptions|admin\/finance\/unapplied-payments|webhook-logs|plans\/admin|audit-log|videos|events|admin\/promo-codes|seasons)\?/;
const json = (status: number, body: object) => (route: Route) => route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) });

/** The list as it stands when its rows are answered so, as a picture in the output of the tests. */
async function stand(page: Page, at: string, name: string, answer: (route: Route) => unknown, said: string) {
  await page.route(collections, answer);
  await page.goto(`/console${at}`);
  await page.locator('section.panel[aria-busy]').getByText(said).first().waitFor({ state: 'attached' });
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 200); })); // a skeleton shows after 150 ms
  mkdirSync(output, { recursive: true });
  await page.screenshot({ path: `${output}${name}.png` });
  await page.unroute(collections);
}

/** The list as it stands when it is gone to while nothing answers. */
async function standOffline(page: Page, at: string, name: string) {
  await page.goto('/console/nothing');
  await page.getByText('There is nothing here').waitFor();
  await page.route('**/api/v1/**', (route) => route.abort());
  await visit(page, at);
  await page.locator('section.panel[aria-busy]').getByText('Loading').first().waitFor({ state: 'attached' });
  await page.getByText('The server cannot be reached.').waitFor();
  await page.screenshot({ path: `${output}${name}.png` });
  await page.unroute('**/api/v1/**');
}

describe.each(lists)('%s', (name, at, emptyTitle) => {
  it('is empty, loads, fails and is cut off in words', async () => {
    const page = await signedIn('root');
    const none = { docs: [], pagination: { current_page: 0, qty_docs_page: 25, qty_of_pages: 0, qty_total_docs: 0 }, info: null, links: [], msg: 'ok' };
    await stand(page, at, `${name}-empty`, json(200, none), emptyTitle);
    let go = () => {};
    const held = new Promise<void>((resolve) => { go = resolve; });
    await stand(page, at, `${name}-loading`, async (route) => {
      await held;
      await route.abort().catch(() => undefined); // the page has gone on meanwhile
    }, 'Loading');
    go();
    await stand(page, at, `${name}-error`, json(500, { error: { code: 'INTERNAL', message: 'Something went wrong.' } }), 'Something went wrong.');
    await standOffline(page, at, `${name}-offline`);
    expectNoFaults(page.context());
    expect(await page.getByText('undefined').count()).toBe(0);
  });
});
