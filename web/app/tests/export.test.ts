import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told } from './browser';
import { signUp } from './people';

const address = (params: Record<string, unknown>) => `/console/customers?${new URLSearchParams(
  Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])).toString()}`;

async function saved(page: Page, button: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button, exact: true }).click()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

it('an export is the table: its filter, order and columns, and all rows of it, not the page', async () => {
  const names = Array.from({ length: 27 }, (_, i) => `Exportada Lima ${String(i).padStart(2, '0')}`);
  const people = await Promise.all(names.map((name) => signUp(name)));
  const page = await signedIn('admin', {}, address({
    query: { full_name: { $regex: '^Exportada' } }, sort: { full_name: -1 }, columns: 'full_name,tax_id,email_verified',
  }));
  await page.getByText('1–25 of 27').waitFor();
  const { name, bytes } = await saved(page, 'Export');
  expect(name).toMatch(/^customers-\d{4}-\d{2}-\d{2}\.csv$/);
  const cpf = (digits: string) => digits.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
  const lines = people.map((one) => `"${one.name}","${cpf(one.taxID)}","no"\r\n`).reverse();
  expect(bytes).toEqual(Buffer.from(`\ufeff"Name","Tax id","Verified"\r\n${lines.join('')}`));
  await told(page, 'The file has all 27 rows');
  expectNoFaults(page.context());
});

it('a file in Portuguese opens in a Brazilian spreadsheet, and no cell of it is a formula', async () => {
  const mark = `Z${String(Date.now())}`;
  const one = await signUp(`=1+1;"${mark}"`);
  const page = await signedIn('admin', { locale: 'pt-BR' }, address({
    query: { _id: one.id }, columns: 'full_name,phone,enable,created_at',
  }));
  await page.getByText('1–1 de 1').waitFor();
  const { name, bytes } = await saved(page, 'Exportar');
  expect(name).toMatch(/^clientes-/);
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const [head, row, end] = bytes.subarray(3).toString().split('\r\n');
  expect(head).toBe('"Nome";"Telefone";"Pode entrar";"Criado"');
  expect(row).toMatch(/^"'=1\+1;""Z\d+""";"[^"]*";"sim";"\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d"$/);
  expect(end).toBe('');
  expectNoFaults(page.context());
});

it('an export shows how far it is and can be stopped; a very long one is told beforehand', async () => {
  const page = await signedIn('admin', {}, '/console/customers');
  await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
  let total = 1500;
  const asked: URLSearchParams[] = [];
  await page.route(/\/api\/v1\/customers\?/, async (route) => {
    const params = new URL(route.request().url()).searchParams;
    const size = Number(params.get('qty_docs_page'));
    if (size === 1000) asked.push(params);
    if (size === 1000 && params.get('current_page') === '1') return; // never answered
    await route.fulfill({ json: {
      docs: Array.from({ length: Math.min(size, 1000) }, (_, i) => ({ _id: String(i).padStart(24, '0'), full_name: `n${String(i)}` })),
      pagination: { current_page: 0, qty_docs_page: size, qty_of_pages: 1, qty_total_docs: total }, info: null, links: [], msg: 'ok',
    } });
  });
  await page.reload();
  await page.getByText('of 1,500').waitFor();
  let files = 0;
  page.on('download', () => { files++; });
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByText('Export: 1,000 of 1,500').waitFor();
  await page.getByRole('button', { name: 'Stop the export' }).click();
  await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
  expect(asked.map((params) => params.get('current_page'))).toEqual(['0', '1']);
  expect(files).toBe(0);

  total = 60_000;
  await page.reload();
  await page.getByText('of 60,000').waitFor();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('dialog').getByText('60,000 rows are read page by page').waitFor();
  expect(asked).toHaveLength(2);
  await page.getByRole('button', { name: 'Export all' }).click();
  await page.getByText('Export: 1,000 of 60,000').waitFor();
  expectNoFaults(page.context());
});

it('jobs and overdue customers are exported as they stand, all pages of them', async () => {
  const page = await signedIn('root', {}, '/console/settings/jobs?state=completed');
  await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
  const jobs = await saved(page, 'Export');
  const lines = jobs.bytes.toString().split('\r\n').slice(0, -1);
  expect(lines[0]).toBe('\ufeff"Kind","Number","Queue","State","Attempts","Due","Ended"');
  expect(lines.length).toBeGreaterThan(1);
  expect(new Set(lines).size).toBe(lines.length);
  for (const one of lines.slice(1)) expect(one).toMatch(/^"\w+","\d+","\w+","completed","\d+"(,"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"){2}$/);

  const customers = Array.from({ length: 1130 }, (_, i) => ({
    _id: String(i).padStart(24, '0'), customer_id: String(i).padStart(24, '0'), full_name: `Atrasada ${String(i)}`, username: 'a', email: 'a@example.com', status: 'suspended',
    plan_name: 'Plus', days_overdue: i, payment_failures: 2, last_payment_at: '2026-03-05T02:04:06.000Z', amount: 2990,
    dunning_step: 'notified', notices_sent: 1, notices_planned: 1, next_step: 'notice', next_step_at: '2026-03-07T12:00:00.000Z',
  }));
  await page.route(/\/api\/v1\/admin\/finance\/overdue-subscriptions\?/, (route) => {
    const params = new URL(route.request().url()).searchParams;
    const [at, size] = [Number(params.get('current_page')), Number(params.get('qty_docs_page'))];
    const pagination = { current_page: at, qty_docs_page: size, qty_of_pages: Math.ceil(1130 / size), qty_total_docs: 1130 };
    return route.fulfill({ json: { docs: customers.slice(at * size, (at + 1) * size), pagination, links: [], msg: 'ok', info: null } });
  });
  await page.goto('/console/subscriptions/overdue');
  const { name, bytes } = await saved(page, 'Export');
  expect(name).toMatch(/^overdue/);
  const rows = bytes.toString().split('\r\n').slice(1, -1);
  expect(rows).toEqual(customers.map((one) => `"${one.full_name}","suspended","${String(one.days_overdue)}","2","written to","a notice is sent","2026-03-04 23:04:06","Plus","29.90"`));
  expectNoFaults(page.context());
});

it('an export that a reload of the page cut off is made anew, and one that was left is not', async () => {
  const page = await signedIn('admin', {}, '/console/customers');
  await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
  await page.route(/\/api\/v1\/customers\?.*qty_docs_page=1000/, async () => { /* never answered */ });
  const progress = page.getByText(/^Export: 0 of /);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await progress.waitFor();
  await page.reload();
  await progress.waitFor();
  await page.getByRole('link', { name: 'Payments', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
  expect(await progress.count()).toBe(0);
  expectNoFaults(page.context());
});
