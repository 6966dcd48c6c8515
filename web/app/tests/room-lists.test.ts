import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told } from './browser';
import { asRoot, bought, newEvent, signUp, subscribedAtA } from './people';

/** A query by hand that the API refuses is told of under the chips, and the address brings the list back. */
async function refuses(page: Page, field: string, label: string) {
  await page.getByRole('button', { name: 'Query' }).click();
  const json = page.getByRole('textbox', { name: /The filter as the API takes it/ });
  await json.fill(JSON.stringify({ [field]: { $near: 1 } }));
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(new RegExp(`query\\..*${field}.*unknown or unsupported operator`)).first().waitFor();
  await json.fill('{"nothing": 1}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('nothing: this list has no such field.').first().waitFor();
  await json.fill(JSON.stringify({ [field]: { $ne: null } }));
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(`${label} is not empty`).waitFor();
  await page.locator('tbody tr').first().waitFor();
  await page.getByRole('button', { name: 'Query' }).click();
}

it('the overdue say how far their dunning is and what is next, and are filtered, sorted and paged as any list', async () => {
  const customer = await subscribedAtA('Vera Atraso');
  await asRoot('PUT', '/subscriptions', [{ _id: customer.subscription, status: 'suspended' }]);
  const { docs } = await asRoot<{ docs: { _id: string; next_step: string; dunning_step: string }[] }>(
    'GET', `/admin/finance/overdue-subscriptions?_id=${customer.subscription}`);
  expect(docs).toMatchObject([{ next_step: 'staff_decision', dunning_step: 'not_notified' }]);

  const page = await signedIn('admin', {}, '/console/subscriptions/overdue');
  await page.getByText(/^At risk: BRL/).waitFor();
  await refuses(page, 'full_name', 'Name');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'Next' });
  await page.getByLabel('Value').selectOption({ label: 'staff decide' });
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Next is staff decide').waitFor();
  await page.getByRole('button', { name: 'Days overdue' }).click();
  const sorted = page.getByRole('columnheader', { name: /Days overdue/ }).and(page.locator('[aria-sort="ascending"]'));
  await sorted.waitFor();
  await page.reload();
  await page.getByText('Next is staff decide').waitFor();
  await sorted.waitFor();
  expect(await page.getByRole('combobox', { name: 'Rows' }).inputValue()).toBe('25');
  const row = page.getByRole('row').filter({ hasText: 'Vera Atraso' });
  await row.getByText('Nothing happens by itself any more: decide.').waitFor();
  await row.getByText('not written to').waitFor();

  // What the API says in every other case, in words.
  const steps = [
    ['notice', 'notified', /^The customer is written to on 7 Mar 2036\./], ['debit_retry', 'notified', /^The bank is asked again for 7 Mar 2036\./],
    ['bank_answer', 'reminded', /^The bank was asked for 7 Mar 2036 again, and is to answer\./], ['period_end', 'last_notice', /^It ends with its paid time, on 7 Mar 2036\./],
    ['dispute_decision', 'last_notice', /^Nothing is asked for while its money is disputed\./],
  ] as const;
  await page.route(/overdue-subscriptions\?/, async (route) => {
    const body = (await (await route.fetch()).json()) as { docs: object[]; pagination: { qty_total_docs: number } };
    const made = steps.map(([next_step, dunning_step], i) => ({
      ...body.docs[0], _id: String(i).padStart(24, '0'), full_name: `Case ${String(i)}`, next_step, dunning_step, notices_sent: 2, notices_planned: 1,
      next_step_at: next_step === 'dispute_decision' ? null : '2036-03-07T12:00:00.000Z', last_notice_at: '2026-03-04T12:00:00.000Z',
    }));
    await route.fulfill({ json: { ...body, docs: made } });
  });
  await page.reload();
  for (const [i, [, , sentence]] of steps.entries()) {
    const made = page.getByRole('row').filter({ hasText: `Case ${String(i)}` });
    await made.getByText(sentence).waitFor();
    await made.getByText(/^2 of 3, .* ago$/).waitFor();
  }
  await page.unroute(/overdue-subscriptions\?/);
  await page.reload();
  await page.getByRole('link', { name: 'Vera Atraso' }).click();
  await page.getByRole('heading', { level: 1, name: 'Vera Atraso' }).waitFor();
  expectNoFaults(page.context());
});

it('all orders of an event are a list, a page at a time, and what is given back stands in it at once', async () => {
  const event = await newEvent('Limite em cores');
  const other = await newEvent('Ganga Bruta');
  const customer = await signUp('Celina Fila');
  for (const places of [1, 2, 3]) await bought(customer, event, places);
  await bought(customer, other, 4);
  const page = await signedIn('admin', {}, `/console/events/${event}/orders`);
  const rows = page.getByRole('region', { name: 'Orders' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(3); // of this event alone
  await refuses(page, 'customer_name', 'Name');
  await page.getByRole('button', { name: 'Total' }).click();
  await page.getByRole('columnheader', { name: /Total/ }).and(page.locator('[aria-sort="ascending"]')).waitFor();
  await expect.poll(async () => (await rows.allInnerTexts()).map((row) => /BRL\s(\S+)/.exec(row)?.[1])).toEqual(['40.00', '80.00', '120.00']);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'Total' });
  await page.getByLabel('Value').fill('80');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Total at least BRL 80.00').waitFor();
  await expect.poll(() => rows.count()).toBe(2);
  await page.reload();
  await page.getByText('Total at least BRL 80.00').waitFor();
  await expect.poll(() => rows.count()).toBe(2);

  await rows.first().getByRole('button', { name: 'Refund the order of Celina Fila' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('checkbox').first().uncheck();
  await dialog.getByLabel('Reason').fill('One of them is ill');
  await dialog.getByRole('button', { name: 'Refund BRL 40.00' }).click();
  await told(page, 'BRL 40.00 is being refunded');
  await rows.first().getByText('partly refunded').waitFor();
  expectNoFaults(page.context());
});

it('jobs are filtered, sorted and kept as a view, and root sees how they are read', async () => {
  const page = await signedIn('root', {}, '/console/settings/jobs');
  await refuses(page, 'kind', 'Kind');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'State' });
  await page.getByLabel('Value').selectOption({ label: 'completed' });
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('State is completed').waitFor();
  await page.getByRole('button', { name: 'Number' }).click();
  const sorted = page.getByRole('columnheader', { name: /Number/ }).and(page.locator('[aria-sort="ascending"]'));
  await sorted.waitFor();
  await page.reload();
  await sorted.waitFor();
  const numbers = (await page.getByRole('region', { name: 'Jobs' }).locator('tbody tr td:nth-child(2)').allInnerTexts()).map(Number);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  await page.getByRole('button', { name: 'Query' }).click();
  await page.getByRole('link', { name: 'How a list is read' }).click();
  await page.getByText(/FROM .*jobs\.river_job/).first().waitFor();
  expectNoFaults(page.context());
});

it('the rights of a profile are a matrix, and what is ticked is what its lists hold', async () => {
  const name = `Quadro ${String(Date.now())}`;
  await asRoot('POST', '/users-type', [{ name, view: ['requisition_get'], create: [], update: [], delete: [] }]);
  const page = await signedIn('root', {}, `/console/settings/profiles?query=${encodeURIComponent(JSON.stringify({ name }))}`);
  await page.getByRole('link', { name }).click();
  const dialog = page.getByRole('dialog');
  const matrix = dialog.getByRole('table', { name: 'Rights' });
  await matrix.getByRole('row', { name: /^requisition_file/ }).getByRole('checkbox', { name: 'requisition_file_upload' }).check();
  expect(await matrix.getByRole('checkbox', { name: 'requisition_get', exact: true }).isChecked()).toBe(true);
  await matrix.getByRole('checkbox', { name: 'requisition_get', exact: true }).uncheck();
  await matrix.getByRole('checkbox', { name: 'config_branding_put' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await told(page);
  const { docs } = await asRoot<{ docs: object[] }>('GET', `/users-type?query=${encodeURIComponent(JSON.stringify({ name }))}`);
  expect(docs).toMatchObject([{ view: [], create: ['requisition_file_upload'], update: ['config_branding_put'], delete: [] }]);
  expectNoFaults(page.context());
});

it('the settings tell how the API is also where something of it fails', async () => {
  const page = await signedIn('root', {}, '/console/');
  await page.route('**/api/v1/health', (route) => route.fulfill({
    status: 503, contentType: 'application/json', body: JSON.stringify({ status: 'degraded', version: '1', checks: { database: 'ok', gateways: 'failing' }, test_mode: [] }),
  }));
  await page.goto('/console/settings');
  await page.getByRole('region', { name: 'Health' }).getByText('failing').waitFor();
  expectNoFaults(page.context());
});
