import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot } from './people';
import { violationsOf } from './screens';

const mark = () => String(Date.now() % 1e8);
const total = async (author: string) => (await asRoot<{ pagination: { qty_total_docs: number } }>('GET', `/videos?query=${encodeURIComponent(JSON.stringify({ author }))}`)).pagination.qty_total_docs;

async function choose(page: Page, text: string) {
  await page.locator('input[type=file]').setInputFiles({ name: 'filmes.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
}

it('a file is checked by line, mended, written, and its report downloaded', async () => {
  const author = `Importada ${mark()}`;
  const head = 'title;slug;video_id;duration;release_date;author\r\n';
  const line = (n: number, slug: string) => `Filme ${String(n)};${slug};https://videos.example.com/1;90;31/12/2024;${author}\r\n`;
  const page = await signedIn('admin', {}, '/console/catalog/imports');
  expect(await violationsOf(page)).toEqual([]);
  await choose(page, Buffer.from([0x74, 0xe9, 0x0a]).toString('latin1').replace('\n', ';\n'));
  await page.getByRole('alert').getByText('has an unknown column').waitFor();

  const slug = `importado-${mark()}`;
  await choose(page, head + line(1, `${slug}-1`) + line(2, 'Not A Slug') + line(3, `${slug}-1`));
  await page.getByText('2 lines have errors').waitFor();
  await page.getByText('slug is already taken by line 2').waitFor();
  expect(await page.getByRole('button', { name: /^Write/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'with errors 2' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
  expect(await violationsOf(page)).toEqual([]);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Report by line' }).click()]);
  const report = (await readFile(await download.path())).toString();
  expect(report.split('\r\n')[0]?.replace('\ufeff', '')).toBe('line;outcome;_id;title;changes;errors');
  expect(report).toContain('3;invalid;;Filme 2;;slug has to be lower-case letters');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByText('It was stopped: nothing of it was written.').waitFor();

  await page.goto('/console/catalog/imports');
  await choose(page, head + line(1, `${slug}-1`) + line(2, `${slug}-2`));
  await page.getByRole('button', { name: 'Write 2 videos' }).click();
  await page.getByText('2 videos were written.').waitFor();
  await page.getByRole('link', { name: 'Filme 2' }).click();
  await page.getByLabel('Title').first().waitFor();
  expect(await total(author)).toBe(2);
  expectNoFaults(page.context());
});

it('ten thousand films show their progress on a phone, go on when the page is closed, and are there all at once', async () => {
  const author = `Acervo inteiro ${mark()}`;
  const slug = `inteiro-${mark()}`;
  const file = `title,slug,video_id,duration,release_date,author\n${Array.from({ length: 10_000 }, (_, i) => `Filme ${String(i)},${slug}-${String(i)},https://videos.example.com/1,90,2024-01-10,${author}\n`).join('')}`;
  const page = await signedIn('admin', { width: 360, height: 640, scheme: 'dark' }, '/console/catalog/imports');
  await choose(page, file);
  await page.getByRole('button', { name: 'Write 10,000 videos' }).waitFor();
  expect(await page.locator('main li, main tr').count()).toBeLessThanOrEqual(200);
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  const at = page.url();
  await page.getByRole('button', { name: 'Write 10,000 videos' }).click();
  await page.getByRole('progressbar', { name: 'Progress of the import' }).waitFor();
  const seen = await total(author);
  expect([0, 10_000]).toContain(seen);
  await page.goto('/console/board'); // the page of the import is closed
  await expect.poll(() => total(author), { timeout: 120_000 }).toBe(10_000);
  await page.goto(at);
  await page.getByText('10,000 videos were written.').waitFor();
  expectNoFaults(page.context());
});

it('an import that is stopped writes nothing', async () => {
  const author = `Parada ${mark()}`;
  const slug = `parada-${mark()}`;
  const file = `title,slug,video_id,duration,release_date,author\n${Array.from({ length: 20_000 }, (_, i) => `Filme ${String(i)},${slug}-${String(i)},https://videos.example.com/1,90,2024-01-10,${author}\n`).join('')}`;
  const page = await signedIn('admin', {}, '/console/catalog/imports');
  await choose(page, file);
  await page.getByRole('button', { name: 'Write 20,000 videos' }).click();
  await page.getByRole('button', { name: 'Stop the import' }).click();
  await page.getByText('It was stopped: nothing of it was written.').waitFor();
  expect(await total(author)).toBe(0);
  expectNoFaults(page.context());
});
