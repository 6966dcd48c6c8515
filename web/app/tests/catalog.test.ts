import { readFileSync } from 'node:fs';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn, signIn, told } from './browser';
import { asRoot, call, subscribed } from './people';
import { violationsOf } from './screens';

interface Video { _id: string; title: string; thumbnail_horizontal: string | null; thumbnail_vertical: string | null; enable: boolean; episode_number: number | null }
const picture = readFileSync(new URL('../../../docs/pictures/home-desk-light.png', import.meta.url));
const mark = () => String(Date.now() % 1e8);

it('story 5: a film is added with pictures, published, and seen by a subscriber; a stale second tab is told', async () => {
  const subscriber = await subscribed('Assinante Cinco');
  const title = `Limite ${mark()}`;
  const page = await signedIn('admin', {}, '/console/catalog');
  await page.getByRole('button', { name: 'New video' }).click();
  const form = page.getByRole('dialog', { name: 'New video' });
  await form.getByLabel('Title').fill(title);
  await form.getByLabel('Slug').fill(title.toLowerCase().replace(' ', '-'));
  await form.getByLabel('Address of the video').fill('https://videos.example.com/limite.m3u8');
  await form.getByLabel('Minutes').fill('120');
  await form.getByLabel('Released').fill('2024-05-17T21:30');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: title }).waitFor();
  await page.getByText('hidden', { exact: true }).first().waitFor();
  const id = new URL(page.url()).pathname.split('/').pop() ?? '';

  // One picture is chosen, the other dropped; both are cut.
  await page.getByRole('link', { name: 'Pictures' }).click();
  const wide = page.getByRole('group', { name: 'Wide picture', exact: true });
  await wide.locator('input[type=file]').setInputFiles({ name: 'limite.png', mimeType: 'image/png', buffer: picture });
  const cropper = page.getByRole('dialog', { name: 'Wide picture' });
  await cropper.getByLabel('Zoom').fill('2');
  await cropper.getByLabel('Left to right').press('ArrowRight');
  expect(await violationsOf(page)).toEqual([]);
  await cropper.getByRole('button', { name: 'Use it' }).click();
  await cropper.waitFor({ state: 'detached' });
  await wide.getByRole('img', { name: 'Wide picture' }).waitFor();
  const drop = page.getByRole('group', { name: 'Tall picture', exact: true }).locator('.drop');
  const files = await page.evaluateHandle((bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], 'limite.png', { type: 'image/png' }));
    return data;
  }, picture.toString('base64'));
  await drop.dispatchEvent('drop', { dataTransfer: files });
  await page.getByRole('dialog', { name: 'Tall picture' }).getByRole('button', { name: 'Use it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await told(page);
  const preview = page.getByRole('complementary', { name: 'As a customer sees it' });
  await preview.getByRole('img', { name: `Picture of ${title}` }).waitFor();
  await preview.getByRole('img', { name: `Tile of ${title}` }).waitFor();

  // A second tab has it as it was.
  const second = await page.context().newPage();
  await second.goto(`/console/catalog/${id}`);
  await signIn(second, inject('platform').users.admin); // the session of a tab is its own
  await second.getByLabel('Title').waitFor();

  await page.getByRole('button', { name: 'Publish' }).click();
  await told(page, 'The video is published');
  const seen = async () => (await call<{ docs: Video[] }>('GET', `/videos?_id=${id}`, subscriber.token)).docs[0];
  const shown = await seen();
  expect(shown).toMatchObject({ title, enable: true });
  for (const file of [shown?.thumbnail_horizontal, shown?.thumbnail_vertical]) {
    const response = await page.request.get(`/api/v1/archive-records/${file ?? ''}`, { headers: { Authorization: `Bearer ${subscriber.token}` } });
    expect(response.status()).toBe(200);
    expect(response.headers()['content-type']).toBe('image/jpeg');
  }

  await page.getByRole('link', { name: 'About' }).click();
  await page.getByLabel('Title').fill(`${title}, restored`);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect.poll(async () => (await seen())?.title).toBe(`${title}, restored`);
  await second.getByLabel('Title').fill(`${title}, cut`);
  await second.getByRole('button', { name: 'Save', exact: true }).click();
  await second.getByText('Somebody else changed this meanwhile').waitFor();
  await second.getByRole('cell', { name: `${title}, restored` }).waitFor();
  expect((await seen())?.title).toBe(`${title}, restored`);
  await second.getByRole('button', { name: 'Take theirs' }).click();
  await expect.poll(() => second.getByLabel('Title').inputValue()).toBe(`${title}, restored`);
  expectNoFaults(page.context());
});

it('a film is rated, shows the sign with its words, and is found by it', async () => {
  const title = `Classificado ${mark()}`;
  const { docs: [film] } = await asRoot<{ docs: Video[] }>('POST', '/videos', [{ title, slug: `classificado-${mark()}`, video_id: 'https://videos.example.com/1', duration: 80, release_date: '2024-01-02' }]);
  const page = await signedIn('admin', {}, `/console/catalog/${film?._id ?? ''}`);
  await page.getByLabel('Age rating').selectOption('14');
  await page.getByLabel('Rated for').fill('violência\ndrogas');
  await page.getByLabel('Title').first().click();
  const preview = page.getByRole('complementary', { name: 'As a customer sees it' });
  await preview.getByText('from 14 years').waitFor();
  await preview.getByText('violência, drogas').waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await told(page);
  const query = encodeURIComponent(JSON.stringify({ title, age_rating: '14' }));
  await expect.poll(async () => (await asRoot<{ docs: Video[] }>('GET', `/videos?query=${query}`)).docs.length).toBe(1);
  await page.goto(`/console/catalog?as=table&query=${query}`);
  await page.getByText('Age rating is from 14 years').waitFor();
  await page.getByRole('row', { name: new RegExp(title) }).getByText('from 14 years').waitFor();
  expect(await violationsOf(page)).toEqual([]);
  expectNoFaults(page.context());
});

it('ten thousand films are shown by the page, as grid and as table, and what is set is set on all that match', async () => {
  const name = `Acervo ${mark()}`;
  const films = Array.from({ length: 10_000 }, (_, i) => ({
    title: `${name} ${String(i).padStart(5, '0')}`, slug: `acervo-${mark()}-${String(i)}`, video_id: 'https://videos.example.com/1', duration: 60 + i % 90,
    release_date: '2024-01-02', enable: false, author: name,
  }));
  for (let i = 0; i < 10; i++) await asRoot('POST', '/videos', films.slice(i * 1000, (i + 1) * 1000));
  const query = encodeURIComponent(JSON.stringify({ author: name }));
  const page = await signedIn('admin', {}, `/console/catalog?query=${query}&sort=${encodeURIComponent('{"title":1}')}&size=100`);
  await page.getByText('1–100 of 10,000').waitFor();
  expect(await page.locator('main article').count()).toBe(100);
  expect(await page.locator('main li, main tr').count()).toBeLessThanOrEqual(200);
  await page.getByRole('button', { name: 'As a table' }).click();
  await page.getByRole('link', { name: `${name} 00000` }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(100);
  expect(await page.locator('main li, main tr').count()).toBeLessThanOrEqual(200);

  const few = encodeURIComponent(JSON.stringify({ title: { $regex: `^${name} 0000` } }));
  await page.goto(`/console/catalog?query=${few}`);
  await page.getByRole('button', { name: 'All 10 that match' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Field').selectOption({ label: 'Highlight of its section' });
  await dialog.getByRole('checkbox').check();
  await dialog.getByLabel('Type 10 to confirm').fill('10');
  await dialog.getByRole('button', { name: 'Do it to 10' }).click();
  await page.getByRole('button', { name: 'Download the result' }).waitFor();
  const { pagination } = await asRoot<{ pagination: { qty_total_docs: number } }>('GET', `/videos?query=${encodeURIComponent(JSON.stringify({ author: name, section_highlight: true }))}`);
  expect(pagination.qty_total_docs).toBe(10);

  // The page is loaded anew while it still runs: it is found again, and followed to its end.
  await page.reload();
  await page.getByText('1–10 of 10').waitFor();
  expect(await page.getByText('change videos: 10 of 10').count()).toBe(0);
  await page.route(/\/api\/v1\/admin\/bulk-acts$/, async (route) => {
    const response = await route.fetch();
    const { bulk_acts: [newest] } = (await response.json()) as { bulk_acts: Record<string, unknown>[] };
    await route.fulfill({ response, json: { bulk_acts: [{ ...newest, state: 'running', done: 3 }] } });
  });
  await page.reload();
  await page.getByText('change videos: 10 of 10').waitFor();
  await page.getByRole('button', { name: 'Download the result' }).waitFor();
  expectNoFaults(page.context());
});

it('episodes change places by their handle and by the arrow keys, and are numbered so', async () => {
  const slug = `temporada-${mark()}`;
  const { docs: [season] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/seasons', [{ name: slug, slug, number: 90 }]);
  await asRoot('POST', '/videos', ['Um', 'Dois', 'Três'].map((title, i) => ({
    title, slug: `${slug}-${String(i)}`, video_id: 'https://videos.example.com/1', duration: 50, release_date: '2024-01-02', season_id: season?._id, episode_number: i + 1,
  })));
  const order = async () => (await asRoot<{ docs: Video[] }>('GET', `/videos?query=${encodeURIComponent(JSON.stringify({ season_id: season?._id }))}&sort=${encodeURIComponent('{"episode_number":1}')}`))
    .docs.map(({ title, episode_number: n }) => `${String(n)} ${title}`);
  const page = await signedIn('admin', {}, `/console/catalog/seasons/${season?._id ?? ''}`);
  await page.getByRole('button', { name: 'Move Um: up and down arrows' }).press('ArrowDown');
  await expect.poll(order).toEqual(['1 Dois', '2 Um', '3 Três']);
  const [from, to] = [await page.getByRole('button', { name: 'Move Três: up and down arrows' }).boundingBox(), await page.getByRole('button', { name: 'Move Dois: up and down arrows' }).boundingBox()];
  await page.mouse.move((from?.x ?? 0) + 10, (from?.y ?? 0) + 10);
  await page.mouse.down();
  for (let i = 1; i <= 15; i++) await page.mouse.move((from?.x ?? 0) + 10, (from?.y ?? 0) + 10 + (((to?.y ?? 0) - (from?.y ?? 0) - 6) * i) / 15);
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 400); }));
  await page.mouse.up();
  await expect.poll(order).toEqual(['1 Três', '2 Dois', '3 Um']);
  expectNoFaults(page.context());
});
