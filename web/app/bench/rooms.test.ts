import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { signedIn, visit } from '../tests/browser';
import { asRoot, giveMany } from '../tests/people';
import { times, until } from './times';

interface Made { _id: string }

it('a catalog of ten thousand films', async () => {
  for (let i = 0; i < 10; i++) {
    await asRoot('POST', '/videos', Array.from({ length: 1000 }, (_, n) => ({
      title: `Acervo ${String(i * 1000 + n)}`, slug: `acervo-${String(i * 1000 + n)}`, video_id: 'https://videos.example.com/1', duration: 90, release_date: '2024-01-02',
    })));
  }
  const page = await signedIn('root');
  for (const [what, path] of [['grid', '/catalog?size=100'], ['table', '/catalog?as=table&size=100']] as const) {
    await times(`Catalog, 10,000 films, ${what}: painted`, 500, async () => {
      await away(page);
      return until(page, () => visit(page, path), () => page.locator('main article, tbody tr').first().waitFor());
    });
    await expectFew(page);
  }
});

it('an event of twenty thousand tickets', async () => {
  const { docs: [event] } = await asRoot<{ docs: Made[] }>('POST', '/events', [{
    title: 'Multidão', event_type: 'screening', event_date: new Date(Date.now() + 20 * 864e5).toISOString(), location: 'Sala 1', ticket_value: 40, is_sale_box_office: true,
  }]);
  const id = event?._id ?? '';
  giveMany(id, 4000, 16_000);
  const page = await signedIn('root');
  const main = page.locator('main');
  for (const [what, path, there] of [
    ['its sale', '', main.locator('canvas')], ['guests', '/guests?size=100', main.locator('tbody tr')], ['orders', '/orders?size=100', main.locator('tbody tr')],
    ['box office', '/box-office', main.locator('form')],
  ] as const) {
    await times(`Event of 20,000 tickets, ${what}: painted`, 500, async () => {
      await away(page);
      return until(page, () => visit(page, `/events/${id}${path}`), () => there.first().waitFor());
    });
    await expectFew(page);
  }
});

it('what stands behind the movements of MRR', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const page = await signedIn('root');
  for (const [what, path] of [['movements', '/finance/movements'], ['the rows of a month', `/finance/movements/rows?start=${month}&end=${month}`]] as const) {
    await times(`Finance, ${what}: painted`, 500, async () => {
      await away(page);
      return until(page, () => visit(page, path), () => page.locator('tbody tr').first().waitFor());
    });
    await expectFew(page);
  }
});

it('a board of five hundred cards', async () => {
  const { docs: columns } = await asRoot<{ docs: Made[] }>('POST', '/admin/requisition-status', ['Asked', 'Doing', 'Done'].map((name, index) => ({ name, index })));
  await asRoot('POST', '/admin/requisitions', Array.from({ length: 500 }, (_, i) => ({ name: `Card ${String(i)}`, status_id: columns[i % 3]?._id })));
  const page = await signedIn('root', {}, '/console/board');
  const card = page.getByRole('region', { name: 'Asked' }).getByRole('listitem').first();
  await times('Board, 500 cards: painted', 500, async () => {
    await away(page);
    return until(page, () => visit(page, '/board'), () => card.waitFor());
  });
  await times('Board, 500 cards: the longest task while a card is dragged', 20, () => longestTask(page, async () => {
    const [from, to] = [await card.boundingBox(), await page.getByRole('region', { name: 'Done' }).boundingBox()];
    const [x, y] = [(from?.x ?? 0) + 40, (from?.y ?? 0) + 20];
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let i = 1; i <= 60; i++) await page.mouse.move(x + (((to?.x ?? 0) + 60 - x) * i) / 60, y + i);
    await page.mouse.move(x, y, { steps: 20 });
    await page.mouse.up();
  }));
  await expectFew(page);
});

/** Of whatever there is, a screen holds a page. */
async function expectFew(page: Page) { expect(await page.locator('main tr, main li, main article').count()).toBeLessThanOrEqual(200); }

async function away(page: Page) {
  await visit(page, '/settings');
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
}

/** The longest task of the page's own script while something is done, in milliseconds, as the trace has it. */
async function longestTask(page: Page, act: () => Promise<void>): Promise<number> {
  const cdp = await page.context().newCDPSession(page);
  let longest = 0;
  cdp.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value as { name?: string; dur?: number }[]) {
      if (event.name === 'FunctionCall' || event.name === 'FireAnimationFrame' || event.name === 'TimerFire') longest = Math.max(longest, (event.dur ?? 0) / 1000);
    }
  });
  await cdp.send('Tracing.start', { categories: 'devtools.timeline', transferMode: 'ReportEvents' });
  await act();
  const over = new Promise<void>((resolve) => { cdp.once('Tracing.tracingComplete', () => { resolve(); }); });
  await cdp.send('Tracing.end');
  await over;
  await cdp.detach();
  return longest;
}
