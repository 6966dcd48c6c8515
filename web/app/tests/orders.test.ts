import type { Page } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn, told, type Login } from './browser';
import { asRoot, atGateway, bought, boughtAtA, call, newEvent, signUp, tokenOf } from './people';

const root: Login = inject('platform').users.root;

async function search(page: Page, typed: string) {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(typed);
  await page.getByRole('option', { selected: true, name: /ticket|order|payment|refund/ }).waitFor();
  await page.keyboard.press('Enter');
}

interface Order { payments: { gateway_payment_id: string }[]; tickets: { _id: string; status: string }[]; refunds: { _id: string; status: string; amount: number }[] }

it('the code of a ticket, its order and its payment lead to the page of the order, where a ticket is given back', async () => {
  const event = await newEvent('Limite à tarde');
  const customer = await signUp('Marisa Teles');
  const id = await bought(customer, event, 3);
  const order = await asRoot<Order>('GET', `/admin/ticket-orders/${id}`);
  const { qr_payload: code } = await call<{ qr_payload: string }>('GET', `/me/tickets/${order.tickets[0]?._id ?? ''}/qr`, customer.token);

  const page = await signedIn('admin');
  const title = page.getByRole('heading', { level: 1, name: 'Order for Limite à tarde' });
  for (const typed of [code, id, order.payments[0]?.gateway_payment_id ?? '']) {
    await search(page, typed);
    await title.waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/console/events/orders/${id}`);
    await page.goto('/console/');
  }
  await page.goto(`/console/events/orders/${id}`);
  await title.waitFor();
  await page.getByText('3 × BRL 40.00').waitFor();
  expect(await page.getByRole('table', { name: 'Tickets' }).locator('tbody tr').count()).toBe(3);
  await page.getByRole('table', { name: 'Payments' }).getByText('BRL 120.00').waitFor();
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByText('Ordered 3, BRL 120.00.').waitFor();
  await timeline.getByText('Paid BRL 120.00 by card at Gateway B.').waitFor();
  const states = page.getByRole('table', { name: 'States' }).locator('tbody tr');
  expect((await states.allInnerTexts()).map((row) => row.split(/\s*\t\s*/).slice(1))).toEqual([['paid', 'paid'], ['waits for the money', 'purchased']]);

  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('checkbox').first().waitFor();
  expect(await dialog.getByRole('checkbox').count()).toBe(3);
  await dialog.getByRole('checkbox').first().uncheck();
  await dialog.getByRole('checkbox').nth(1).uncheck();
  await dialog.getByLabel('Reason').fill('One of them is ill');
  await dialog.getByRole('button', { name: 'Refund BRL 40.00' }).dblclick();
  await told(page, 'BRL 40.00 is being refunded');
  await page.getByRole('table', { name: 'Refunds' }).getByText('done').waitFor(); // without a reload
  await page.getByText('partly refunded').waitFor();
  await timeline.getByText('A refund of BRL 40.00 was given back.').waitFor();
  const after = await asRoot<Order>('GET', `/admin/ticket-orders/${id}`);
  expect(after.refunds.map(({ status, amount }) => [status, amount])).toEqual([['done', 40]]);
  await search(page, after.refunds[0]?._id ?? '');
  await title.waitFor();

  // From the customer, and from the lists of money.
  await page.getByRole('link', { name: 'Marisa Teles' }).click();
  await page.getByRole('heading', { level: 1, name: 'Marisa Teles' }).waitFor();
  await page.getByRole('table', { name: 'Orders' }).getByRole('link', { name: 'Limite à tarde' }).click();
  await title.waitFor();
  const query = encodeURIComponent(JSON.stringify({ local_id: id }));
  for (const list of ['settled', 'refunds']) {
    await page.goto(`/console/payments/${list}?query=${query}`);
    await page.locator('tbody tr a').first().click();
    await title.waitFor();
  }
  await page.goto(`/console/events/${event}/orders`);
  await page.getByRole('link', { name: 'Marisa Teles' }).click();
  await title.waitFor();
  expectNoFaults(page.context());
});

it('an order of much money asks for the amount, and with a refund on its way offers what is left', async () => {
  const { docs: [event] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/events', [{
    title: 'Gala', event_type: 'screening', event_date: new Date(Date.now() + 30 * 864e5).toISOString(), location: 'Cine Ipiranga',
    capacity: 100, ticket_value: 200, is_sale_box_office: true,
  }]);
  const customer = await signUp('Gilda Gala');
  const id = await boughtAtA(customer, event?._id ?? '', 3);
  const page = await signedIn('admin', {}, `/console/events/orders/${id}`);
  const open = () => page.getByRole('button', { name: 'Refund', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await open();
  await expect.poll(() => dialog.getByRole('checkbox', { checked: true }).count()).toBe(3);
  await dialog.getByLabel('Reason').fill('One of them is ill');
  await dialog.getByLabel('Type 600.00 to confirm').waitFor();
  expect(await dialog.getByRole('button', { name: 'Refund BRL 600.00' }).isDisabled()).toBe(true);
  await dialog.getByRole('checkbox').nth(0).uncheck();
  await dialog.getByRole('checkbox').nth(1).uncheck();
  expect(await dialog.getByLabel('Type').count()).toBe(0);
  const order = await asRoot<Order>('GET', `/admin/ticket-orders/${id}`);
  await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: true });
  try {
    await dialog.getByRole('button', { name: 'Refund BRL 200.00' }).click();
    await told(page, 'BRL 200.00 is being refunded');
    await page.getByRole('table', { name: 'Refunds' }).getByText('pending').waitFor();
    await open();
    await dialog.getByText('BRL 200.00 of this order is being refunded already').waitFor();
    expect(await dialog.getByRole('checkbox').count()).toBe(2);
    await dialog.getByRole('button', { name: 'Refund BRL 400.00' }).waitFor();
    await page.keyboard.press('Escape');
    await atGateway('gwa', 'POST', `/payments/${order.payments[0]?.gateway_payment_id ?? ''}/refund/complete`);
  } finally {
    await atGateway('gwa', 'PATCH', '/settings', { refundsInProgress: false });
  }
  await page.getByRole('table', { name: 'Refunds' }).getByText('done').waitFor();
  expectNoFaults(page.context());
});

it('an order of the box office has a page, too, without an account, and one that is not there says so', async () => {
  const event = await newEvent('Limite à noite');
  const token = await tokenOf(root);
  const { sale, tickets } = await call<{ sale: { _id: string }; tickets: { qr_payload: string }[] }>(
    'POST', `/events/${event}/box-office-sales`, token, { quantity: 2, method: 'cash', buyer: { full_name: 'Dona Zica' }, note: 'At the door' });
  const page = await signedIn('admin');
  await search(page, tickets[0]?.qr_payload ?? '');
  await page.getByRole('heading', { level: 1, name: 'Order for Limite à noite' }).waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/console/events/orders/${sale._id}`);
  const facts = page.getByRole('region', { name: 'Order' });
  await facts.getByText('Dona Zica').waitFor();
  await facts.getByText('(without an account)').waitFor();
  await facts.getByText('At the door').waitFor();
  await page.getByText('Paid BRL 80.00 at the box office: cash.').waitFor();
  expect(await page.getByRole('button', { name: 'Refund', exact: true }).count()).toBe(0);
  await page.goto(`/console/events/${event}/guests`);
  await page.locator('tbody tr a').first().click();
  await page.getByRole('heading', { level: 1, name: 'Order for Limite à noite' }).waitFor();
  for (const nobody of ['0123456789abcdef01234567', 'nothing']) {
    await page.goto(`/console/events/orders/${nobody}`);
    await page.getByText('There is nothing here').waitFor();
  }
  expectNoFaults(page.context());
});
