import { createHmac } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, subscribed, until } from './people';

const { webhooks, url } = inject('platform');

/** Sends an event as gateway B does, and tells the id of its log. */
async function tellGwb(event: { id: string; type: string; data: unknown }): Promise<string> {
  const body = JSON.stringify({ object: 'event', created: Math.floor(Date.now() / 1000), livemode: false, api_version: '2026-03-25.dahlia', ...event });
  const at = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', webhooks.gwb_secret).update(`${at}.${body}`).digest('hex');
  const response = await fetch(`${url}/webhooks/gwb`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', 'Stripe-Signature': `t=${at},v1=${mac}` }, body,
  });
  expect(response.status).toBe(200);
  const query = encodeURIComponent(JSON.stringify({ event_id: event.id }));
  const { docs } = await asRoot<{ docs: { _id: string }[] }>('GET', `/webhook-logs?query=${query}`);
  return docs[0]?._id ?? '';
}

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
  await page.getByText('The event was applied again').waitFor();
  expectNoFaults(page.context());
});

it('what a gateway sends is text, whatever it holds', async () => {
  const hostile = ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '"><svg onload=alert(1)>', '{{constructor}}', '${7*7}', '‮evil'];
  const id = await tellGwb({ id: `evt_hostile_${Date.now()}`, type: hostile[0] ?? '', data: { object: { id: 'x', hostile } } });
  const page = await signedIn('admin', {}, `/console/webhooks/${id}`);
  await page.getByRole('heading', { name: hostile[0] }).waitFor();
  await page.getByRole('button', { name: 'Open all' }).click();
  for (const text of hostile) await page.getByText(`“${text}”`).first().waitFor();
  expect(await page.locator('main img, main script, main svg[onload]').count()).toBe(0);
  expectNoFaults(page.context());
});
