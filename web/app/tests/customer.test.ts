import { expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn, signIn, told } from './browser';
import { asRoot, call, atGateway, subscribed, subscribedAtA, until } from './people';

/** What the sandbox's own ledger has given back of a subscription's payments, in cents. */
async function expectAtGateway(subscription: string, amounts: number[]) {
  const { payments } = await asRoot<{ payments: { amount_refunded: number }[] }>('GET', `/subscriptions/${subscription}/payments`);
  expect(payments.map((payment) => payment.amount_refunded)).toEqual(amounts);
}

it('story 4: a customer is found by tax id, half is refunded, a week is added, and the timeline tells it', async () => {
  const customer = await subscribed('Helena Prado');
  const page = await signedIn('admin');
  const dotted = customer.taxID.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');

  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search' }).fill(dotted);
  await page.getByRole('option', { name: 'Helena Prado' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Helena Prado' }).waitFor();

  // The whole of what is left stands in the form; half of it is typed, by the keyboard alone.
  await page.getByRole('button', { name: 'Refund', exact: true }).press('Enter');
  const amount = page.getByLabel('Amount');
  await expect.poll(() => amount.inputValue()).toBe('29.90');
  await amount.fill('14.95');
  await page.getByLabel('Reason').fill('Half a month without sound');
  await page.getByRole('button', { name: 'Refund BRL 14.95' }).press('Enter');
  await told(page, 'BRL 14.95 is being refunded');
  const refunds = page.getByRole('region', { name: 'Refunds' });
  await refunds.getByText('done').waitFor(); // without a reload, once the webhook came
  expect(await refunds.locator('tbody tr').count()).toBe(1);

  const before = await asRoot<{ subscription: { next_billing_date: string } }>('GET', `/admin/customers/360?_id=${customer.id}`);
  await page.getByRole('button', { name: 'Extend', exact: true }).click();
  await page.getByRole('button', { name: 'a week' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Extend' }).click();
  await told(page, /^Access goes on until /);
  const after = await asRoot<{ subscription: { next_billing_date: string }; totals: { refunded: number } }>(
    'GET', `/admin/customers/360?_id=${customer.id}`);
  expect(after.totals.refunded).toBe(1495);
  const days = (Date.parse(after.subscription.next_billing_date) - Date.parse(before.subscription.next_billing_date)) / 864e5;
  expect(days).toBe(7);

  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('listitem').filter({ hasText: /refund/i }).first().waitFor();
  await timeline.getByRole('combobox').selectOption({ label: 'refund' });
  await expect.poll(() => timeline.getByRole('listitem').count()).toBeGreaterThan(0);
  expectNoFaults(page.context());
});

it('a double click and a lost answer make one refund', async () => {
  const customer = await subscribed('Iara Lima');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const fill = async () => {
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await expect.poll(() => page.getByLabel('Amount').inputValue()).toBe('29.90');
    await page.getByLabel('Amount').fill('10');
    await page.getByLabel('Reason').fill('Asked for twice');
  };
  await fill();
  // The answer to the first is lost on its way back, after the refund was made.
  await page.route('**/refund', async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await page.getByRole('button', { name: 'Refund BRL 10.00' }).dblclick();
  await page.getByText('No answer came.').waitFor();
  await page.getByLabel('Reason').fill('Asked for in another way');
  await page.getByRole('button', { name: 'Refund BRL 10.00' }).click();
  await page.getByText('This was asked for in another way a moment ago').waitFor();
  await page.getByLabel('Reason').fill('Asked for twice');
  await page.getByRole('button', { name: 'Refund BRL 10.00' }).click();
  await told(page, 'BRL 10.00 is being refunded');
  const { refunds } = await until(async () => {
    const all = await asRoot<{ refunds: { amount: number; status: string }[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
    return all.refunds.every(({ status }) => status === 'done') ? all : undefined;
  });
  expect(refunds.map((one) => one.amount)).toEqual([1000]);
  await expectAtGateway(customer.subscription, [1000]);
});

it('by the keyboard alone a refund is made, and stands once at the gateway', async () => {
  const customer = await subscribed('Noel Castilho');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByRole('button', { name: 'Refund', exact: true }).waitFor();
  const focused = () => page.evaluate(() => {
    const at = document.activeElement as HTMLInputElement | null;
    return at?.labels?.[0]?.innerText || at?.innerText || '';
  });
  const tabTo = async (name: RegExp) => {
    for (let i = 0; i < 80; i++) {
      if (name.test(await focused())) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`the keyboard does not come to ${String(name)}`);
  };
  await tabTo(/^Refund$/);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Reason').waitFor();
  await tabTo(/^Amount/);
  expect(await page.getByLabel('Amount').inputValue()).toBe('29.90');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('7.50');
  await tabTo(/^Reason/);
  await page.keyboard.type('The sound was late');
  await tabTo(/^Refund BRL\s7\.50$/);
  await page.keyboard.press('Enter');
  await told(page, 'BRL 7.50 is being refunded');
  const refunds = page.getByRole('region', { name: 'Refunds' });
  await refunds.getByText('done').waitFor(); // without a reload
  await expectAtGateway(customer.subscription, [750]);
  expectNoFaults(page.context());
});

it('a refund is pending until its webhook comes, and then done, without a reload', async () => {
  const customer = await subscribedAtA('Otavio Braga');
  const { payments: [payment] } = await asRoot<{ payments: { gateway_payment_id: string }[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  let loads = 0;
  page.on('load', () => { loads++; });
  await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: true });
  try {
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await expect.poll(() => page.getByLabel('Amount').inputValue()).toBe('29.90');
    await page.getByLabel('Amount').fill('9.90');
    await page.getByLabel('Reason').fill('A week without captions');
    await page.getByRole('button', { name: 'Refund BRL 9.90' }).dblclick();
    await told(page, 'BRL 9.90 is being refunded');
    const refunds = page.getByRole('region', { name: 'Refunds' });
    await refunds.getByText('pending', { exact: true }).waitFor();

    // The gateway has given the money back, and its webhook is on the way.
    await atGateway('gwa', 'POST', '/webhooks/hold', { types: ['PAYMENT_PARTIALLY_REFUNDED'] });
    const { refunds: made } = await atGateway<{ refunds: { status: string; value: number }[] }>(
      'gwa', 'POST', `/payments/${payment?.gateway_payment_id ?? ''}/refund/complete`);
    expect(made.map(({ status, value }) => [status, value])).toEqual([['DONE', 9.9]]);
    await page.waitForResponse((response) => response.url().includes('/admin/customers/360')); // looked for again
    await page.waitForResponse((response) => response.url().includes('/admin/customers/360'));
    await refunds.getByText('pending', { exact: true }).waitFor();

    await atGateway('gwa', 'POST', '/webhooks/release');
    await refunds.getByText('done', { exact: true }).waitFor();
    expect(await refunds.locator('tbody tr').count()).toBe(1);
  } finally {
    await atGateway('gwa', 'POST', '/webhooks/release');
    await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: false });
  }
  expect(loads).toBe(0);
  await expectAtGateway(customer.subscription, [990]);
  expectNoFaults(page.context());
});

it('a refund that the gateway denied is asked for again by the same form, and is another', async () => {
  const customer = await subscribedAtA('Olga Serra');
  const { payments: [payment] } = await asRoot<{ payments: { gateway_payment_id: string }[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const ask = async () => {
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await expect.poll(() => page.getByLabel('Amount').inputValue()).toBe('29.90');
    await page.getByLabel('Amount').fill('9.90');
    await page.getByLabel('Reason').fill('A week without captions');
    await page.getByRole('button', { name: 'Refund BRL 9.90' }).click();
    await told(page, 'BRL 9.90 is being refunded');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const refunds = page.getByRole('region', { name: 'Refunds' });
  await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: true });
  try {
    await ask();
    await refunds.getByText('pending', { exact: true }).waitFor();
    await atGateway('gwa', 'POST', `/payments/${payment?.gateway_payment_id ?? ''}/refund/deny`);
    await refunds.getByText('failed', { exact: true }).waitFor();
  } finally {
    await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: false });
  }
  await ask();
  await refunds.getByText('done', { exact: true }).waitFor();
  expect(await refunds.locator('tbody tr').count()).toBe(2);
  await expectAtGateway(customer.subscription, [990]);
  expectNoFaults(page.context());
});

it('a refund whose answer was lost, and that was denied since, is asked for anew by a second click', async () => {
  const customer = await subscribedAtA('Ida Perdida');
  const { payments: [payment] } = await asRoot<{ payments: { gateway_payment_id: string }[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await expect.poll(() => page.getByLabel('Amount').inputValue()).toBe('29.90');
  await page.getByLabel('Amount').fill('9.90');
  await page.getByLabel('Reason').fill('A week without captions');
  await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: true });
  try {
    await page.route('**/refund', async (route) => {
      await route.fetch();
      await route.abort();
    }, { times: 1 });
    await page.getByRole('button', { name: 'Refund BRL 9.90' }).click();
    await page.getByText('No answer came.').waitFor();
    await atGateway('gwa', 'POST', `/payments/${payment?.gateway_payment_id ?? ''}/refund/deny`);
    await until(async () => {
      const { refunds } = await asRoot<{ refunds: { status: string }[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
      return refunds.some(({ status }) => status === 'failed') || undefined;
    });
  } finally {
    await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: false });
  }
  await page.getByRole('button', { name: 'Refund BRL 9.90' }).click();
  await told(page, 'BRL 9.90 is being refunded');
  const refunds = page.getByRole('region', { name: 'Refunds' });
  await refunds.getByText('done', { exact: true }).waitFor();
  expect(await refunds.locator('tbody tr').count()).toBe(2);
  await expectAtGateway(customer.subscription, [990]);
});

it('while a refund is on its way its form stands still, and its answer leaves a later opening alone', async () => {
  const customer = await subscribed('Lenta Resposta');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  let answerNow = () => undefined as void;
  const letGo = new Promise<void>((resolve) => { answerNow = resolve; });
  await page.route('**/refund', async (route) => {
    const response = await route.fetch();
    await letGo;
    await route.fulfill({ response });
  });
  const ask = async (amount: string) => {
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await page.getByLabel('Amount').fill(amount);
    await page.getByLabel('Reason').fill('A slow answer');
  };
  const asked = page.waitForRequest('**/refund');
  await ask('10');
  await page.getByRole('button', { name: 'Refund BRL 10.00' }).click();
  await asked;
  await expect.poll(() => page.getByLabel('Amount').isDisabled()).toBe(true);
  await expect.poll(() => page.getByLabel('Reason').isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await ask('5');
  await expectAtGateway(customer.subscription, [1000]);
  answerNow();
  await told(page, 'BRL 10.00 is being refunded');
  await page.getByRole('region', { name: 'Refunds' }).getByText('done').waitFor();
  expect(await page.getByLabel('Amount').inputValue()).toBe('5');
  expect(await page.getByLabel('Reason').inputValue()).toBe('A slow answer');
  expect(await page.getByText('BRL 5.00 is being refunded').count()).toBe(0);
  expectNoFaults(page.context());
});

it('of a payment with a refund on its way the dialog tells what is left, and that it has to wait', async () => {
  const customer = await subscribedAtA('Vera Espera');
  const { payments: [payment] } = await asRoot<{ payments: { gateway_payment_id: string }[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
  await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: true });
  try {
    await asRoot('POST', `/admin/gwa/subscriptions/${customer.subscription}/refund`,
      { payment_id: payment?.gateway_payment_id, reason: 'A day without sound', value: 5 });
  } finally {
    await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: false });
  }
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByRole('dialog').getByText('A refund of this payment is on its way').getByText('BRL 24.90').waitFor();
  expect(await page.getByLabel('Amount').count()).toBe(0);
  expectNoFaults(page.context());
});

it('two tabs make one refund of the whole', async () => {
  const customer = await subscribed('Davi Rocha');
  const tab = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const other = await tab.context().newPage();
  await other.goto(`/console/customers/${customer.id}`);
  await signIn(other, inject('platform').users.admin);
  for (const page of [tab, other]) {
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await expect.poll(() => page.getByLabel('Amount').inputValue()).toBe('29.90');
    await page.getByLabel('Reason').fill('Asked for in two tabs');
  }
  await Promise.all([tab, other].map((page) => page.getByRole('button', { name: 'Refund BRL 29.90' }).click()));
  for (const page of [tab, other]) {
    const dialog = page.getByRole('dialog'); // which closes after a refund, and tells of none
    await expect.poll(async () => !(await dialog.count()) || (await dialog.getByRole('alert').count()) > 0).toBe(true);
  }
  const { refunds } = await until(async () => {
    const all = await asRoot<{ refunds: { amount: number; status: string }[] }>('GET', `/admin/customers/360?_id=${customer.id}`);
    return all.refunds.some(({ status }) => status === 'done') ? all : undefined;
  });
  expect(refunds.filter(({ status }) => status !== 'failed').map((one) => one.amount)).toEqual([2990]);
  await expectAtGateway(customer.subscription, [2990]);
});

it('the page of a customer shows the films watched, and the labels', async () => {
  const customer = await subscribed('Wanda Prado');
  const { docs: [film] } = await call<{ docs: { _id: string; title: string; duration: number }[] }>('GET', '/videos?qty_docs_page=1', customer.token);
  await call('PUT', '/me/watch-history', customer.token, { video_id: film?._id, timeline: 754 });
  await asRoot('PUT', '/customers', [{ _id: customer.id, labels: ['press', 'vip'] }]);
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByText('press, vip').waitFor();
  const watched = page.getByRole('region', { name: 'Films watched' });
  await watched.scrollIntoViewIfNeeded();
  await watched.getByRole('listitem').filter({ hasText: film?.title }).filter({ hasText: `12 of ${film?.duration ?? 0} min` }).waitFor();
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByText('Paid BRL 29.90 for a subscription by card at Gateway B.').waitFor();
  expectNoFaults(page.context());
});

it('a dispute stands in the list of disputes and on the page of the customer, its payment in the list of payments', async () => {
  const customer = await subscribedAtA('Joana Falcão');
  await asRoot('POST', `/subscriptions/${customer.subscription}/chargeback`, { amount: 2990, reason: 'The bank wrote a letter' });
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const panel = page.getByRole('region', { name: 'Disputes' });
  await panel.scrollIntoViewIfNeeded();
  await panel.getByRole('row').filter({ hasText: 'open' }).filter({ hasText: '29.90' }).waitFor();
  await panel.getByRole('link', { name: 'Open the list' }).click();
  const rows = page.locator('tbody tr');
  await rows.filter({ hasText: '29.90' }).waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByRole('link', { name: 'Settled' }).click();
  await rows.filter({ hasText: 'Gateway A' }).first().waitFor();
  expectNoFaults(page.context());
});

it('above R$ 500 the amount is typed once more', async () => {
  const gold = `gold-${Date.now()}`;
  await asRoot('POST', '/plans', [{ plan_id: gold, name: 'Gold', amount: 90000, tier: 4, is_active: true }]);
  await asRoot('POST', `/plans/${gold}/sync-gwb`);
  const customer = await subscribed('Rita Moura', gold);
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByLabel('Reason').fill('A great deal of money');
  const submit = page.getByRole('button', { name: 'Refund BRL 900.00' });
  await submit.waitFor();
  expect(await submit.isDisabled()).toBe(true);
  await page.getByLabel('Type 900.00 to confirm').fill('900.00');
  await expect.poll(() => submit.isDisabled()).toBe(false);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByLabel('Reason').fill('A great deal of money');
  await submit.waitFor();
  expect(await page.getByLabel('Type 900.00 to confirm').inputValue()).toBe('');
  expect(await submit.isDisabled()).toBe(true);
  await page.getByLabel('Type 900.00 to confirm').fill('900.00');
  await submit.click();
  await told(page, 'BRL 900.00 is being refunded');
});

it('every act on a subscription has its dialog and does what it says', async () => {
  const customer = await subscribed('Vera Nunes');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const menu = () => page.getByRole('button', { name: 'Acts on this subscription' }).click();
  const panel = page.getByRole('region', { name: 'Subscription', exact: true });

  await menu();
  await page.getByRole('menuitem', { name: 'Move to another plan' }).click();
  await page.getByLabel('Plan', { exact: true }).selectOption('premium');
  await page.getByRole('dialog').getByRole('button', { name: 'Move to another plan' }).click();
  await panel.getByText('Premium').waitFor();

  await menu();
  await page.getByRole('menuitem', { name: 'Suspend' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  await panel.getByText('suspended').waitFor();

  await menu();
  await page.getByRole('menuitem', { name: 'Activate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  await panel.getByText('active', { exact: true }).waitFor();

  await menu();
  await page.getByRole('menuitem', { name: 'Cancel now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel now' }).click();
  await panel.getByText('cancelled').waitFor();
  expectNoFaults(page.context());
});
