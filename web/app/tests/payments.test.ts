import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told } from './browser';
import { asRoot, atGateway, call, reconciledFor, signUp, subscribed, subscribedAtA, until } from './people';

interface Dispute { evidence_due_at: string | null; payment_id: string }

/** The card holder goes to their bank about what a customer has paid at gateway B. */
async function disputed(name: string) {
  const customer = await signUp(name);
  await call('POST', '/gwb/subscribe', customer.token, { plan_id: 'plus', payment_method_id: 'pm_card_createDispute' });
  const query = encodeURIComponent(JSON.stringify({ customer_id: customer.id }));
  const dispute = await until(async () => (await asRoot<{ docs: Dispute[] }>('GET', `/admin/finance/disputes?query=${query}`)).docs[0]);
  return { customer, dispute };
}

it('open disputes stand with their deadline and how long that is, what is due first on top, overdue ones named', async () => {
  const { customer, dispute } = await disputed('Deise Prazo');
  expect(Date.parse(dispute.evidence_due_at ?? '')).toBeGreaterThan(Date.now() + 6 * 86_400_000);
  const untold = await subscribedAtA('Ana Sem Prazo');
  await asRoot('POST', `/subscriptions/${untold.subscription}/chargeback`, { amount: 2990, reason: 'The bank wrote a letter' });

  const page = await signedIn('admin', {}, '/console/payments');
  await page.getByRole('link', { name: 'Open disputes' }).click();
  await page.getByRole('columnheader', { name: /Answer by/ }).and(page.locator('[aria-sort="ascending"]')).waitFor();
  const rows = page.locator('tbody tr');
  await rows.filter({ hasText: dispute.payment_id }).getByText(/^in [67] days$/).waitFor();
  await rows.filter({ hasText: 'no deadline told' }).first().waitFor();
  const order = await rows.allInnerTexts();
  expect(order.findIndex((text) => text.includes(dispute.payment_id)))
    .toBeLessThan(order.findIndex((text) => text.includes('no deadline told')));

  // A month later nobody has answered.
  const late = await signedIn('admin', {}, '/console/');
  await late.clock.setFixedTime(Date.now() + 30 * 86_400_000);
  await late.keyboard.press('g');
  await late.keyboard.press('p');
  await late.getByRole('link', { name: 'Open disputes' }).click();
  await late.locator('tbody tr').filter({ hasText: dispute.payment_id }).getByText(/^overdue: \d+ days ago$/).waitFor();

  await page.goto(`/console/customers/${customer.id}`);
  const panel = page.getByRole('region', { name: 'Disputes' });
  await panel.scrollIntoViewIfNeeded();
  await panel.getByText(/^in [67] days$/).waitFor();
  expectNoFaults(page.context());
});

it('refunds say how long ago they were asked for, and what is next', async () => {
  const customer = await subscribedAtA('Rute Espera');
  await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: true });
  try {
    await asRoot('POST', `/subscriptions/${customer.subscription}/refund`, { reason: 'A week without sound' });
  } finally {
    await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: false });
  }
  const query = encodeURIComponent(JSON.stringify({ customer_id: customer.id }));
  const page = await signedIn('admin', {}, `/console/payments/refunds?query=${query}`);
  const row = page.locator('tbody tr').first();
  await row.getByText(/^The gateway is at it since \d+ minutes? ago; its webhook tells the end\.$/).waitFor();
  await row.getByText(/^\d+ minutes? ago$/).waitFor();
  const brazil = await signedIn('admin', { locale: 'pt-BR' }, `/console/payments/refunds?query=${query}`);
  await brazil.locator('tbody tr').first().getByText(/o webhook dele conta o fim\.$/).waitFor();
  expectNoFaults(page.context());
});

it('reconciliations are listed with what they found, each repair with what was and what is, and one that died as cut off', async () => {
  const customer = await subscribed('Concilia Souza');
  reconciledFor(customer.id);
  const page = await signedIn('admin', {}, '/console/payments');
  await page.getByRole('link', { name: 'Reconciliations' }).click();
  const rows = page.locator('tbody tr');
  await rows.filter({ hasText: 'cut off' }).filter({ hasText: 'command' }).first().getByRole('link').first().click();
  await page.getByText(/was cut off and did not come to its end/).waitFor();
  await page.getByText('ana@ops').waitFor();
  await page.getByText('No difference was found').waitFor();
  await page.goBack();
  await rows.filter({ hasText: 'schedule' }).first().getByRole('link').first().click();
  const repair = page.getByRole('row').filter({ hasText: 'missed payment' });
  await repair.getByText(/^Paid: .*0\.00 → .*29\.90$/).waitFor();
  await repair.getByText('Status: pending → active').waitFor();
  await repair.getByRole('link').first().click();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/console/subscriptions');
  await page.locator('tbody tr').first().waitFor();
  expectNoFaults(page.context());
});

it('a refund of an unapplied payment that was denied is asked for by another key, a lost answer by the same, the amount typed where it is much', async () => {
  const id = '0123456789abcdef01234568';
  let payment = { _id: id, amount: 90000, gateway: 'gwa', gateway_payment_id: 'pay_late', kind: 'late', state: 'open', register_update_date: '2026-03-01T10:00:00Z' };
  const keys: string[] = [];
  const page = await signedIn('admin');
  // The API of a payment that came too late: the first answer is lost, the gateway denies afterwards.
  await page.route(`**/finance/unapplied-payments**`, async (route) => {
    if (route.request().method() === 'GET') {
      const pagination = { current_page: 0, qty_docs_page: 1, qty_of_pages: 1, qty_total_docs: 1 };
      await route.fulfill({ json: { docs: [payment], links: [], info: null, msg: '', pagination } });
      return;
    }
    keys.push(route.request().headers()['idempotency-key'] ?? '');
    payment = { ...payment, state: 'refunding', register_update_date: '2026-03-01T10:00:01Z' };
    if (keys.length === 1) await route.abort();
    else await route.fulfill({ json: {} });
  });
  const dialog = page.getByRole('dialog');
  const submit = dialog.getByRole('button', { name: 'Refund it' });
  const ask = async () => {
    await page.getByRole('button', { name: 'Refund it' }).click();
    await dialog.getByLabel('Reason').fill('Paid after it was given up');
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByLabel('Type 900.00 to confirm').fill('900.00');
    await submit.click();
  };
  await page.goto(`/console/payments/unapplied/${id}`);
  await ask();
  await dialog.getByText('No answer came.').waitFor();
  await submit.click();
  await told(page, 'Decided');
  await dialog.waitFor({ state: 'detached' });
  payment = { ...payment, state: 'open', register_update_date: '2026-03-01T10:05:00Z' };
  await page.reload();
  await ask();
  await told(page, 'Decided');
  expect(keys.length).toBe(3);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

it('an unapplied payment that is not there says so', async () => {
  const page = await signedIn('admin', {}, '/console/payments/unapplied/0123456789abcdef01234567');
  await page.getByText('There is nothing here').waitFor();
  expectNoFaults(page.context());
});
