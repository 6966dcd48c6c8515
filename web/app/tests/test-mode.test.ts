import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, person, signedIn, visit } from './browser';

async function inTestMode(page: Page, gateways: string[]) {
  await page.route('**/api/v1/health', (route) => route.fulfill({ json: { status: 'ok', version: 'x', checks: {}, test_mode: gateways } }));
}

it('while gateways are in test mode every screen says so, and which', async () => {
  const page = await signedIn('root');
  const bar = page.getByRole('note');
  for (const path of ['/', '/customers', '/subscriptions', '/payments', '/webhooks', '/settings', '/account', '/nothing']) {
    await visit(page, path);
    await bar.getByText('Test mode at Gateway A and Gateway B: no real money is moved there.').waitFor();
  }
  await visit(page, '/webhooks');
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  await page.evaluate(() => { scrollTo(0, 10_000); });
  expect(await bar.boundingBox()).toMatchObject({ x: 0, y: 0 });
  expect(await bar.evaluate((one) => getComputedStyle(one).backgroundColor)).not.toBe('rgba(0, 0, 0, 0)');
  expectNoFaults(page.context());
});

it('the bar names the gateway that is, also before anybody signed in, and none is there where all are live', async () => {
  const context = await person({ locale: 'pt-BR' });
  const page = await context.newPage();
  await inTestMode(page, ['gwb']);
  await page.goto('/console/');
  await page.getByRole('note').getByText('Modo de teste em Gateway B: nenhum dinheiro real se move ali.').waitFor();
  await page.unroute('**/api/v1/health');
  await inTestMode(page, []);
  await page.reload();
  await page.waitForResponse('**/api/v1/health');
  await page.locator('input[type="password"]').waitFor();
  await page.waitForResponse('**/api/v1/health');
  expect(await page.getByRole('note').count()).toBe(0);
  expectNoFaults(context);
});
