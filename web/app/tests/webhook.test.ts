import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told } from './browser';
import { asRoot, subscribed, until } from './people';

it('story 8: a webhook is read, tried dry beside what is, and replayed, without a reload', async () => {
  const customer = await subscribed('Bento Dias');
  const query = encodeURIComponent(JSON.stringify({ event_type: 'invoice.paid', 'result.subscription_id': customer.subscription }));
  const log = await until(async () => {
    const { docs } = await asRoot<{ docs: { _id: string; event_id: string }[] }>('GET', `/webhook-logs?query=${query}`);
    return docs[0];
  });
  await asRoot('PUT', '/subscriptions', [{ _id: customer.subscription, status: 'suspended' }]);

  const page = await signedIn('admin', {}, '/console/webhooks');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'Event id' });
  await page.getByLabel('Condition').selectOption({ label: 'is' });
  await page.getByLabel('Value').fill(log.event_id);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('link', { name: 'invoice.paid' }).first().click();
  await page.getByRole('heading', { name: 'invoice.paid' }).waitFor();
  await page.getByText(`“${log.event_id}”`).first().waitFor();

  await page.getByRole('button', { name: 'Try it dry' }).click();
  const dry = page.getByRole('region', { name: 'What a replay would change' });
  await dry.getByText('payments.payments').waitFor();
  await dry.getByRole('row', { name: /Subscription · Status suspended/ }).waitFor();
  const still = await asRoot<{ docs: { status: string }[] }>('GET', `/subscriptions?_id=${customer.subscription}`);
  expect(still.docs[0]?.status).toBe('suspended');

  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
  await told(page, 'The event was applied again');
  expectNoFaults(page.context());
});

it('the rate by hour stands beneath the log, as bars and as a table, of the week that the figures are of', async () => {
  await subscribed('Ruy Teles');
  const page = await signedIn('admin', {}, '/console/webhooks');
  const rate = page.getByRole('region', { name: 'Calls by hour, last seven days' });
  await rate.getByRole('figure').waitFor();
  await rate.getByText('As a table').click();
  await rate.locator('tbody tr').first().waitFor();
  const total = await page.getByRole('listitem').filter({ hasText: 'Received' }).locator('strong').innerText();
  const calls = await rate.locator('tbody tr td:last-child').allInnerTexts();
  const number = (text: string) => Number(text.replace(/\D/g, ''));
  expect(calls.map(number).reduce((sum, one) => sum + one, 0)).toBe(number(total));
  await page.getByRole('link', { name: 'Processed' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('query')).toMatch(/^\{"processed":true,"received_at":\{"\$gte":"/);
  expectNoFaults(page.context());
});
