import type { Page } from 'playwright-core';
import { it } from 'vitest';
import { signedIn, visit } from '../tests/browser';
import { asRoot, makeHeavy, subscribed } from '../tests/people';
import { times, until } from './times';

/** How long an answer of the API takes, as the page sees it. */
const answered = (page: Page, part: string) => page.waitForResponse((response) => response.url().includes(part))
  .then(async (response) => {
    await response.finished();
    return response.request().timing().responseEnd;
  });

it('a first paint, and a room of many', async () => {
  const page = await signedIn('root');
  for (const [what, path] of [['Home', '/console/'], ['Customers', '/console/customers'], ['Webhooks', '/console/webhooks']] as const) {
    await times(`${what}, loaded: first contentful paint`, 1000, async () => {
      await page.goto(path);
      await page.locator('main h1').first().waitFor();
      return page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN);
    });
  }
});

it('the search', async () => {
  const sample = await asRoot<{ docs: { _id: string; email: string; full_name: string; tax_id?: string }[] }>(
    'GET', `/customers?sort=${encodeURIComponent('{"_id":-1}')}&qty_docs_page=40&current_page=1`);
  const listed = (query: object) => `query=${encodeURIComponent(JSON.stringify(query))}&qty_docs_page=20`;
  const subscriptions = await asRoot<{ docs: { gwb_subscription_id?: string }[] }>('GET', `/subscriptions?${listed({ gateway: 'gwb' })}`);
  const logs = await asRoot<{ docs: { request_id?: string }[] }>('GET', `/webhook-logs?${listed({ request_id: { $exists: true } })}`);
  /** One of those that are there, by turns. */
  const known = (all: (string | undefined)[], round: number) => {
    const there = all.filter(Boolean);
    return there[round % there.length] ?? '';
  };
  const of = (round: number) => sample.docs[round % sample.docs.length] ?? sample.docs[0];
  const page = await signedIn('root');
  const bare = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '');
  const kinds: [string, (round: number) => string][] = [
    ['half an e-mail', (round) => of(round)?.email.split('@')[0] ?? ''],
    ['a CPF with dots', () => '111.444.777-35'], // the sample customer's: those that are made up have none
    ['a subscription at gateway B', (round) => known(subscriptions.docs.map((one) => one.gwb_subscription_id), round)],
    ['a request id', (round) => known(logs.docs.map((one) => one.request_id), round)],
    ['a name without accents', (round) => bare(of(round)?.full_name ?? '')],
    ['an id', (round) => of(round)?._id ?? ''],
    ['an event id', (round) => `evt_fill_${String(round * 1000)}`],
    ['nothing that is there', (round) => `zzqx${String(round)}`],
  ];
  for (const [what, typed] of kinds) {
    if (!typed(1)) continue;
    await times(`Search, ${what}: answer`, 150, async (round) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search' }).fill(''); // what was typed last is not asked again
      const answer = answered(page, '/admin/search?');
      await page.getByRole('combobox', { name: 'Search' }).fill(typed(round));
      const took = await answer;
      await page.keyboard.press('Escape');
      await page.getByRole('combobox', { name: 'Search' }).waitFor({ state: 'detached' });
      return took;
    });
  }
});

it('the log of webhooks', async () => {
  const page = await signedIn('root', {}, '/console/webhooks');
  const rows = page.getByRole('region', { name: 'Webhooks' });
  const day = (back: number) => new Date(Date.now() - back * 864e5).toISOString().slice(0, 10);
  const filters: [string, number, (round: number) => object][] = [
    ['first page', 300, () => ({})],
    ['of a gateway', 300, (round) => ({ gateway: round % 2 ? 'gwa' : 'gwb' })],
    ['of a type', 300, (round) => ({ event_type: ['invoice.paid', 'charge.refunded', 'PAYMENT_OVERDUE'][round % 3] })],
    ['not applied', 300, () => ({ processed: false })],
    ['of a day', 300, (round) => ({ received_at: { $gte: `${day(round + 1)}T00:00:00Z`, $lt: `${day(round)}T00:00:00Z` } })],
    ['of an event', 300, (round) => ({ event_id: `evt_fill_${String(round * 997)}` })],
    ['of any path of the payload, or a sentence', 2000, (round) => ({ 'payload.data.object.customer': `cus_${String(round)}` })],
  ];
  for (const [what, goal, filter] of filters) {
    await times(`Webhooks, ${what}: painted`, goal, async (round) => {
      await visit(page, '/settings');
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
      const query = JSON.stringify(filter(round));
      return until(page, () => visit(page, `/webhooks${query === '{}' ? '' : `?query=${encodeURIComponent(query)}`}`),
        () => rows.locator('tbody tr').or(page.getByText(/too expensive|Nothing matches/)).first().waitFor());
    });
  }
});

it('a heavy customer', async () => {
  const customer = await subscribed('Pesada Martins');
  makeHeavy(customer.id);
  const page = await signedIn('root');
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await times('Heavy customer (300 payments, 5,000 events, 2,000 films): painted', 500, async () => {
    await visit(page, '/settings');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    return until(page, () => visit(page, `/customers/${customer.id}`), () => timeline.getByRole('listitem').first().waitFor());
  });
  const more = timeline.getByRole('button', { name: 'More' });
  for (let i = 0; i < 10; i++) {
    await more.click();
    await timeline.and(page.locator('[aria-busy="false"]')).waitFor();
  }
  await times('Heavy customer, scrolled over a thousand events: a frame', 17, async () => page.evaluate(() => new Promise<number>((resolve) => {
    const frames: number[] = [];
    let last = performance.now();
    scrollTo(0, 0);
    const step = (now: number) => {
      frames.push(now - last);
      last = now;
      scrollBy(0, 400);
      if (frames.length < 60) requestAnimationFrame(step);
      else resolve(frames.slice(1).sort((a, b) => a - b)[29] ?? NaN);
    };
    requestAnimationFrame(step);
  })));
});
