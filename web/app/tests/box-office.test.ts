import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, giveMany } from './people';

const ahead = (days: number) => new Date(Date.now() + days * 864e5).toISOString();

async function newEvent(title: string, more: object = {}): Promise<string> {
  const { docs: [event] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/events', [{
    title: `${title} ${String(Date.now() % 1e7)}`, event_type: 'screening', event_date: ahead(20), location: 'Sala 1', capacity: 4, ticket_value: 30, ...more,
  }]);
  return event?._id ?? '';
}

it('the counter sells by keyboard, prints, gives courtesies with a reason, takes back, and the till adds up', async () => {
  const id = await newEvent('Bilheteria');
  const page = await signedIn('admin', {}, `/console/events/${id}/box-office`);
  const form = page.getByRole('form', { name: 'Sell' });
  await page.getByText('The counter has sold nothing yet').waitFor();

  // Two by card, with keys alone.
  await form.getByLabel('Tickets').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('2');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => form.getByRole('radio', { name: 'card machine' }).isChecked()).toBe(true);
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'Tickets' });
  await expect.poll(() => sheet.getByRole('img').count()).toBe(2);
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('section[aria-labelledby=last]').evaluate((part) => getComputedStyle(part).visibility)).toBe('hidden');
  await page.emulateMedia({ media: null });
  await page.keyboard.press('Escape');

  // A courtesy wants a reason; what is left is one place.
  await form.getByRole('radio', { name: 'courtesy' }).check();
  expect(await form.getByRole('button', { name: 'Sell' }).isDisabled()).toBe(true);
  await form.getByLabel('Why it is given').fill('The press');
  await form.getByText('BRL 0.00').waitFor();
  await form.getByRole('button', { name: 'Sell' }).click();
  await sheet.getByRole('img').first().waitFor();
  await page.keyboard.press('Escape');
  await form.getByRole('radio', { name: 'cash' }).check();
  await form.getByLabel('Tickets').fill('2');
  await form.getByRole('button', { name: 'Sell' }).click();
  await page.getByText('sold out', { exact: false }).first().waitFor();

  const till = page.getByRole('region', { name: 'The till of the day' });
  await till.getByText('2 sales, 3 tickets').waitFor();
  await till.getByText('BRL 60.00').first().waitFor();

  // One of two comes back: half of it is handed back.
  const last = page.getByRole('region', { name: 'Last sales' });
  await last.getByRole('row', { name: /card machine/ }).getByRole('button', { name: 'Take back' }).click();
  const dialog = page.getByRole('dialog', { name: 'Take back' });
  await expect.poll(() => dialog.getByRole('checkbox', { checked: true }).count()).toBe(2);
  await dialog.getByRole('checkbox').first().uncheck();
  await dialog.getByLabel('Reason').fill('Wrong session');
  await dialog.getByRole('button', { name: 'Hand back BRL 30.00' }).click();
  await last.getByRole('row', { name: /card machine/ }).getByText('partly refunded').waitFor();
  await till.getByText('2 sales, 2 tickets').waitFor();
  await last.getByRole('row', { name: /card machine/ }).getByRole('button', { name: 'Print again' }).click();
  await expect.poll(() => sheet.getByRole('img').count()).toBe(1);
  await page.keyboard.press('Escape');
  const { totals } = await asRoot<{ totals: object }>('GET', `/events/${id}/box-office`);
  expect(totals).toMatchObject({ sold: 60, refunded: 30, net: 30, tickets_sold: 3, tickets_refunded: 1 });

  // The orders say where they were sold.
  await page.getByRole('navigation', { name: 'Parts of the event' }).getByRole('link', { name: 'Orders' }).click();
  await expect.poll(() => page.getByRole('row', { name: /at the box office/ }).count()).toBe(2);
  expectNoFaults(page.context());
});

it('an event with 10,000 tickets shows all of them, a page at a time', async () => {
  const id = await newEvent('Estádio', { capacity: 20_000, is_sale_box_office: true });
  giveMany(id, 10_000);
  const page = await signedIn('admin', {}, `/console/events/${id}`);
  await page.getByText('10,000 / 20,000').waitFor();
  for (const part of ['Guests', 'Orders', 'Box office', 'Edit']) {
    await page.getByRole('navigation', { name: 'Parts of the event' }).getByRole('link', { name: part }).click();
    await page.waitForLoadState('networkidle');
    if (part === 'Guests') await page.getByText(/^1–\d+ of 10,000$/).waitFor();
    expect(await page.locator('tr, [role=row]').count(), part).toBeLessThanOrEqual(200);
  }
  await page.goto(`${new URL(page.url()).origin}/console/events/${id}/guests?page=200&size=50`);
  await page.getByText('9,951–10,000 of 10,000').waitFor();
  expect(await page.locator('tbody tr').count()).toBe(50);
  expectNoFaults(page.context());
});
