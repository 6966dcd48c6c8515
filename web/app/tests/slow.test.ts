import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';

it('a list that is slow says that it is still read, and one that is too expensive says what to do, under the chip', async () => {
  const page = await signedIn('admin', {}, '/console/webhooks');
  const said = page.getByRole('status').getByText('Still reading the list');
  await page.locator('tbody tr').first().waitFor();
  expect(await said.count()).toBe(0);

  let go = () => {};
  const held = new Promise<void>((resolve) => { go = resolve; });
  await page.route(/\/api\/v1\/webhook-logs\?/, async (route) => {
    await held;
    await route.fulfill({ status: 422, json: {
      detail: [{ loc: ['query', 'query'], msg: 'query is too expensive', type: 'value_error' }],
      error: { code: 'VALIDATION_ERROR', message: 'query is too expensive', field: 'query' },
    } });
  });
  await page.getByRole('button', { name: 'Query' }).click();
  await page.getByRole('textbox', { name: /The filter as the API takes it/ }).fill('{"payload.data.object.metadata.anything": "x"}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await said.waitFor();
  await page.getByRole('progressbar', { name: 'Still reading the list' }).waitFor();
  await page.getByText('1 s', { exact: true }).waitFor();
  expect(await page.locator('section.panel[aria-busy="true"] tbody tr').count()).toBeGreaterThan(0); // what was there stays
  go();
  await page.getByRole('alert').getByText('takes too long. Narrow it').waitFor();
  await page.getByRole('button', { name: 'Query' }).click();
  await page.getByRole('alert').getByText('takes too long. Narrow it').waitFor();
  await expect.poll(() => said.count()).toBe(0);
  await page.unroute(/\/api\/v1\/webhook-logs\?/);
  await page.getByRole('button', { name: /^Remove the filter/ }).click();
  await page.locator('section.panel[aria-busy="false"] tbody tr').first().waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  expectNoFaults(page.context());
});
