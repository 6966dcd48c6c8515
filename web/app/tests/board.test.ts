import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { drag, expectNoFaults, signedIn } from './browser';
import { adminWith, asRoot } from './people';
import { violationsOf } from './screens';

interface Doc { _id: string }
let boards = 0;

/** Three columns of this test's own with a card in the first, and the board narrowed to that card. */
async function board(name: string): Promise<{ card: string; columns: string[]; ids: string[]; address: string }> {
  const mark = `${name} ${String(Date.now() % 1e7)}${String(++boards)}`;
  const columns = ['Asked', 'Doing', 'Done'].map((column) => `${column} ${mark}`);
  const { docs } = await asRoot<{ docs: Doc[] }>('POST', '/admin/requisition-status', columns.map((one, i) => ({ name: one, index: 1000 + boards * 10 + i })));
  const { docs: [card] } = await asRoot<{ docs: Doc[] }>('POST', '/admin/requisitions', [{ name: `Card ${mark}`, status_id: docs[0]?._id, priority: 'high' }]);
  return { card: card?._id ?? '', columns, ids: docs.map(({ _id }) => _id), address: `/console/board?q=${encodeURIComponent(`Card ${mark}`)}` };
}

const column = (page: Page, name: string | undefined) => page.getByRole('region', { name, exact: true });
const where = async (card: string) => (await asRoot<{ docs: { status_id: string }[] }>('GET', `/admin/requisitions?_id=${card}`)).docs[0]?.status_id;

it('story 6: a card is dragged through three columns by mouse and by keyboard', async () => {
  const { card, columns, ids, address } = await board('Six');
  const page = await signedIn('root', { width: 1900 }, address);
  const at = (i: number) => column(page, columns[i]);
  await at(0).getByRole('link').waitFor();
  for (const i of [1, 2]) {
    await at(i).scrollIntoViewIfNeeded();
    await drag(page, at(i - 1).getByRole('listitem').first(), at(i).getByRole('list'));
    await at(i).getByRole('link').waitFor();
    await expect.poll(() => where(card)).toBe(ids[i]);
    await expect.poll(() => at(i - 1).getByRole('link').count()).toBe(0);
  }
  expect(new URL(page.url()).searchParams.get('card')).toBeNull();

  // Back to the first by the keyboard alone.
  await at(2).getByRole('link').focus();
  await page.keyboard.press('Space');
  await page.getByText(/is taken up from Done/).waitFor({ state: 'attached' });
  await page.keyboard.press('ArrowLeft');
  await at(1).getByRole('link').waitFor();
  expect(await where(card)).toBe(ids[2]); // carried, not put down
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Space');
  await expect.poll(() => where(card)).toBe(ids[0]);
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(`card-${card}`);

  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  await at(1).getByRole('link').waitFor();
  await page.keyboard.press('Escape');
  await at(0).getByRole('link').waitFor();
  expect(await where(card)).toBe(ids[0]);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText(/Card Six/).first().waitFor();
  expectNoFaults(page.context());
});

it('a card is dragged by touch', async () => {
  const { card, columns, ids, address } = await board('Touch');
  const page = await signedIn('root', { width: 1024 }, address);
  await column(page, columns[0]).getByRole('link').waitFor();
  await column(page, columns[1]).scrollIntoViewIfNeeded();
  const [a, b] = [await column(page, columns[0]).getByRole('listitem').first().boundingBox(), await column(page, columns[1]).getByRole('list').boundingBox()];
  const cdp = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  const [x, y, tx, ty] = [(a?.x ?? 0) + 40, (a?.y ?? 0) + 20, (b?.x ?? 0) + 120, (b?.y ?? 0) + 40];
  await touch('touchStart', x, y);
  await new Promise((resolve) => { setTimeout(resolve, 500); }); // a finger that scrolls does not rest
  for (let i = 1; i <= 15; i++) await touch('touchMove', x + ((tx - x) * i) / 15, y + ((ty - y) * i) / 15);
  await new Promise((resolve) => { setTimeout(resolve, 400); });
  await touch('touchEnd');
  await expect.poll(() => where(card)).toBe(ids[1]);
  expectNoFaults(page.context());
});

it('a move that is refused goes back and says why, and two browsers see each other’s moves', async () => {
  const { card, columns, ids, address } = await board('Refused');
  const [page, other] = [await signedIn('root', {}, address), await signedIn('root', {}, address)];
  const [stream] = await Promise.all([page.waitForRequest(/\/requisitions\/events/), page.reload()]);
  expect((await stream.allHeaders())['authorization']).toMatch(/^Bearer /);
  expect(new URL(stream.url()).search).toBe('');
  await column(page, columns[0]).getByRole('link').waitFor();
  await column(other, columns[0]).getByRole('link').waitFor();
  await page.route('**/api/v1/admin/requisitions', (route) => (route.request().method() === 'PUT'
    ? route.fulfill({ status: 422, contentType: 'application/json', body: JSON.stringify({ error: { code: 'VALIDATION_ERROR', message: 'That column takes no cards today.' } }) })
    : route.fallback()));
  await column(page, columns[0]).getByRole('link').focus();
  for (const key of ['Space', 'ArrowRight', 'Space']) await page.keyboard.press(key);
  await page.getByText('That column takes no cards today.').waitFor();
  await column(page, columns[0]).getByRole('link').waitFor();
  expect(await column(page, columns[1]).getByRole('link').count()).toBe(0);
  expect(await where(card)).toBe(ids[0]);
  await page.unroute('**/api/v1/admin/requisitions');

  await column(other, columns[0]).getByRole('link').focus();
  for (const key of ['Space', 'ArrowRight']) await other.keyboard.press(key);
  await Promise.all([
    other.waitForResponse((response) => response.request().method() === 'PUT' && response.ok()), other.keyboard.press('Space'),
  ]);
  await column(page, columns[1]).getByRole('link').waitFor({ timeout: 3000 }); // without a reload
  expect(await column(page, columns[0]).getByRole('link').count()).toBe(0);
  expectNoFaults(page.context());
});

it('a card has files and a history, and 500 cards show by the page', async () => {
  const { card, columns, ids, address } = await board('Many');
  const page = await signedIn('root', {}, address);
  await column(page, columns[0]).getByRole('link').click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[type=file]').setInputFiles({ name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from('paid') });
  await dialog.getByRole('button', { name: 'receipt.txt', exact: true }).waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'receipt.txt', exact: true }).click()]);
  expect(download.suggestedFilename()).toBe('receipt.txt');
  // A name of any length stays within the card.
  const long = `${'a'.repeat(240)}.txt`;
  await dialog.locator('input[type=file]').setInputFiles({ name: long, mimeType: 'text/plain', buffer: Buffer.from('paid') });
  await dialog.getByRole('button', { name: long, exact: true }).waitFor();
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await dialog.evaluate((box) => [box, ...box.querySelectorAll('.panel')].filter((one) => one.scrollWidth > one.clientWidth).map(({ className }) => className))).toEqual([]);
    const [file, inner] = [await dialog.locator('.file').last().boundingBox(), await dialog.boundingBox()];
    expect((file?.x ?? 0) + (file?.width ?? 0)).toBeLessThanOrEqual((inner?.x ?? 0) + (inner?.width ?? 0));
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog.getByLabel('Priority').selectOption('urgent');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('region', { name: 'History' }).getByText('Priority: urgent').waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await asRoot('POST', '/admin/requisitions', Array.from({ length: 499 }, (_, i) => ({ name: `Card of many ${String(i)}`, status_id: ids[i % 3] })));
  await page.goto('/console/board?q=Card%20of%20many');
  await column(page, columns[0]).getByText(/of 16\d/).waitFor();
  expect(await page.getByRole('region', { name: columns[0] }).getByRole('listitem').count()).toBeLessThanOrEqual(25);
  expect(await page.locator('main li').count()).toBeLessThanOrEqual(200);
  await column(page, columns[0]).getByRole('button', { name: 'Next page' }).click();
  await column(page, columns[0]).getByText(/^\d+–\d+ of 16\d$/).and(page.getByText(/^[^1]|^1\d/)).first().waitFor();
  expect(card).toMatch(/^[0-9a-f]{24}$/);
  expectNoFaults(page.context());
});

it('columns change places by the keyboard, and the API has their order', async () => {
  const { columns, ids, address } = await board('Order');
  const page = await signedIn('root', {}, address);
  await column(page, columns[1]).waitFor();
  await page.getByRole('button', { name: `Move the column ${columns[1] ?? ''}: left and right arrows` }).press('ArrowRight');
  await expect.poll(async () => {
    const { docs } = await asRoot<{ docs: Doc[] }>('GET', '/admin/requisition-status?qty_docs_page=100');
    return docs.map(({ _id }) => _id).filter((id) => ids.includes(id));
  }).toEqual([ids[0], ids[2], ids[1]]);
  expectNoFaults(page.context());
});

it('who may only read the board may not move on it, and who may not is told which right is missing', async () => {
  const { columns, address } = await board('Rights');
  const lists = { view: ['requisition_get', 'requisition_status_get'], create: [], update: [], delete: [] };
  const page = await signedIn((await adminWith('Lea', lists)).login, {}, address);
  const card = column(page, columns[0]).getByRole('link');
  await card.waitFor();
  expect(await page.getByRole('button', { name: /New card|New column|Move the column|Edit the column/ }).count()).toBe(0);
  await card.focus();
  for (const key of ['Space', 'ArrowRight']) await page.keyboard.press(key);
  expect(await column(page, columns[1]).getByRole('link').count()).toBe(0);
  await card.click();
  await page.getByRole('dialog').getByRole('region', { name: 'History' }).waitFor();
  expect(await page.getByRole('dialog').getByRole('button', { name: /Save|Delete/ }).count()).toBe(0);
  expectNoFaults(page.context());

  const none = await signedIn((await adminWith('Nelo', { ...lists, view: [] })).login, {}, '/console/board');
  await none.getByText('You lack the right requisition_get').waitFor();
  expect(await none.getByRole('link', { name: 'Board' }).count()).toBe(0);
  expectNoFaults(none.context());
});
