import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, visit } from './browser';
import { makeHeavy, subscribed } from './people';

it('a heavy customer is painted by three calls, and their timeline is paged and filtered by kind', async () => {
  const customer = await subscribed('Pesada Martins');
  makeHeavy(customer.id);
  const page = await signedIn('admin', {}, '/console/');
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  const calls: string[] = [];
  page.on('request', (request) => { if (request.url().includes('/api/v1/') && !request.url().endsWith('/health')) calls.push(request.url()); });
  await visit(page, `/customers/${customer.id}`);
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('listitem').first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(calls.map((url) => new URL(url).pathname.replace(customer.id, '{id}')).sort()).toEqual([
    '/api/v1/admin/customers/360', '/api/v1/admin/customers/{id}/access', '/api/v1/customer-notes',
  ]);
  await page.getByText('2000 ·').waitFor(); // films begun
  expect(await timeline.getByRole('listitem').count()).toBe(20);

  // As far back as it goes, a hundred at a time.
  const more = timeline.getByRole('button', { name: 'More' });
  for (const rows of [120, 220, 320]) {
    await more.click();
    await expect.poll(() => timeline.getByRole('listitem').count()).toBe(rows);
  }
  const summaries = await timeline.getByRole('listitem').allInnerTexts();
  expect(summaries.filter((text) => text.includes('failed at Gateway B')).length).toBeGreaterThan(300);

  await timeline.getByRole('combobox').selectOption({ label: 'payment' });
  await expect.poll(() => timeline.getByRole('listitem').count()).toBe(20);
  await expect.poll(async () => {
    if (await more.count() && await more.isEnabled()) await more.click();
    return timeline.getByRole('listitem').count();
  }).toBe(301); // those that were added, and the first
  expect(new Set((await timeline.getByRole('listitem').allInnerTexts()).map((text) => /Paid BRL/.test(text)))).toEqual(new Set([true]));
  expect(await more.count()).toBe(0);

  // What staff changed is read once somebody scrolls to it.
  await timeline.getByRole('combobox').selectOption({ index: 0 });
  await page.getByRole('heading', { name: 'Audit trail' }).scrollIntoViewIfNeeded();
  await expect.poll(() => calls.filter((url) => url.includes('/audit-log')).length).toBe(1);
  expectNoFaults(page.context());
});
