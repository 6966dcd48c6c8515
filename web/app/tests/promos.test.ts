import { readFile } from 'node:fs/promises';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, call, signUp } from './people';

interface Promo { _id: string; code: string; title: string; children_code_ids: string[]; is_active: boolean }

it('a discount is made with what is redeemed along with it, and its family is a tree', async () => {
  const mark = String(Date.now() % 1e7);
  const { docs: [event] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/events', [{ title: `Estreia ${mark}`, event_date: new Date(Date.now() + 864e6).toISOString() }]);
  const { docs: [ticket] } = await asRoot<{ docs: Promo[] }>('POST', '/admin/promo-codes', [{ code_type: 'ticket', title: `Ingresso ${mark}`, event_id: event?._id, bonus_tickets: 2 }]);
  const page = await signedIn('admin', {}, '/console/promos');
  await page.getByRole('button', { name: 'New discount' }).click();
  const form = page.getByRole('dialog', { name: 'New discount' });
  await form.getByLabel('Title').first().fill(`Pacote ${mark}`);
  await form.getByLabel('First month').fill('9.90');
  await form.getByLabel('Along with it').fill(ticket?.code ?? '');
  await form.getByRole('button', { name: new RegExp(ticket?.code ?? '') }).first().click();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`Pacote ${mark}`).first().waitFor();
  const id = new URL(page.url()).pathname.split('/').pop() ?? '';
  const { docs: [made] } = await asRoot<{ docs: Promo[] }>('GET', `/admin/promo-codes/${id}`);
  expect(made?.children_code_ids).toEqual([ticket?._id]);
  const family = page.getByRole('region', { name: 'Family' });
  await family.getByRole('link', { name: new RegExp(ticket?.code ?? '') }).waitFor();
  expect(await family.locator('ul ul li').count()).toBe(1);

  // From below the family is the same.
  await family.getByRole('link', { name: new RegExp(ticket?.code ?? '') }).click();
  await page.getByRole('heading', { name: ticket?.code, level: 1 }).waitFor();
  await page.getByRole('region', { name: 'Family' }).getByRole('link', { name: new RegExp(made?.code ?? '') }).waitFor();
  expect(await page.getByRole('region', { name: 'Family' }).locator('ul ul li').count()).toBe(1);
  expectNoFaults(page.context());
});

it('a code shows who redeemed it over time, and is passed on as a link and a QR code that says the link', async () => {
  const mark = String(Date.now() % 1e7);
  const { docs: [event] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/events', [{ title: `Festa ${mark}`, event_date: new Date(Date.now() + 864e6).toISOString() }]);
  const { docs: [code] } = await asRoot<{ docs: Promo[] }>('POST', '/admin/promo-codes', [{ code_type: 'ticket', title: `Festa ${mark}`, event_id: event?._id, bonus_tickets: 2 }]);
  const customer = await signUp('Resgata Souza');
  await call('PUT', `/customers/me/redeem-promo-code?code=${code?.code ?? ''}`, customer.token);
  const page = await signedIn('admin', {}, `/console/promos/${code?._id ?? ''}`);
  const over = page.getByRole('region', { name: 'Redemptions over time' });
  await over.locator('canvas').waitFor();
  await over.getByText('As a table').click();
  expect(await over.locator('tbody tr').count()).toBe(1);
  expect(await over.locator('tbody tr').innerText()).toMatch(/\t1\t0\t2$/); // one redemption, nothing paid, two tickets

  const address = `${inject('platform').url}/?promo=${code?.code ?? ''}`;
  await page.getByRole('region', { name: 'To be passed on' }).getByText(address).waitFor();
  await page.getByRole('button', { name: 'Copy the link' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address);
  await page.getByRole('img', { name: `QR code of ${code?.code ?? ''}` }).waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save the QR code' }).click()]);
  expect(download.suggestedFilename()).toBe(`${code?.code ?? ''}.svg`);
  expect(await readFile(await download.path(), 'utf8')).toMatch(/^<svg xmlns=.*<\/svg>$/);

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByLabel('Title').first().fill(`Festa e baile ${mark}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText(`Festa e baile ${mark}`).first().waitFor();
  expectNoFaults(page.context());
});
