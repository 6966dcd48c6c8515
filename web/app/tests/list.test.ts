import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, call, signUp, subscribed } from './people';

it('chips write the filter, the filter writes chips, and the address brings all of it again', async () => {
  await signUp('Zélia Quirino');
  const page = await signedIn('admin', {}, '/console/customers');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'Name' });
  await page.getByLabel('Value').fill('quirino');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Name contains quirino').waitFor();
  await page.getByRole('link', { name: 'Zélia Quirino' }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('query')).toBe('{"full_name":{"$regex":"quirino","$options":"i"}}');

  await page.getByRole('button', { name: 'Query' }).click();
  const json = page.getByRole('textbox', { name: /The filter as the API takes it/ });
  expect(JSON.parse(await json.inputValue())).toEqual({ full_name: { $regex: 'quirino', $options: 'i' } });
  await json.fill('{"full_name": {"$near": 1}}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(/query\.full_name.*unknown or unsupported operator/).waitFor();
  await json.fill('{"email_verified": false, "enable": true}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Verified is no').waitFor();
  await page.getByText('May sign in is yes').waitFor();

  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('/api/v1/customers?query=');
  expect(copied).toContain('Authorization: Bearer $TOKEN');

  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Phone' }).check();
  await page.getByRole('button', { name: 'Created' }).click();
  await page.getByRole('columnheader', { name: /Created/ }).and(page.locator('[aria-sort="ascending"]')).waitFor();
  await page.reload();
  await page.getByText('Verified is no').waitFor();
  await page.getByRole('columnheader', { name: 'Phone' }).waitFor();
  await page.getByRole('columnheader', { name: /Created/ }).and(page.locator('[aria-sort="ascending"]')).waitFor();
  await page.getByRole('button', { name: 'Remove the filter Verified is no' }).click();
  expect(await page.getByText('Verified is no').count()).toBe(0);
  expectNoFaults(page.context());
});

it('amounts of filters are typed and shown as money, times in the zone of the platform', async () => {
  const page = await signedIn('admin', {}, '/console/payments/settled');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'Amount' });
  await page.getByLabel('Value').fill('29.90');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Amount at least BRL 29.90').waitFor();
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByLabel('Field').selectOption({ label: 'Paid' });
  await page.getByLabel('Value').fill('2026-01-02T21:30');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(/^Paid .*2 Jan 2026, 21:30$/).waitFor();
  expect(JSON.parse(new URL(page.url()).searchParams.get('query') ?? '')).toEqual(
    { amount: { $gte: 2990 }, paid_at: { $gte: '2026-01-03T00:30:00.000Z' } });
  expectNoFaults(page.context());
});

it('a filter by an unknown field, or with a value of another type, says so instead of that nothing matches', async () => {
  const page = await signedIn('admin', {}, `/console/customers?query=${encodeURIComponent('{"nope":"x","enable":true}')}`);
  const alert = page.getByRole('alert').filter({ hasText: 'nope: this list has no such field.' });
  await alert.waitFor();
  await page.locator('.chip.bad').filter({ hasText: 'nope' }).waitFor();
  expect(await page.locator('.chip.bad').count()).toBe(1);
  expect(await page.getByText('Nothing matches').count()).toBe(0);
  expect(await page.getByRole('button', { name: /all .* that match|Export/i }).count()).toBe(0);
  await page.getByRole('button', { name: /^Remove the filter nope/i }).click();
  await page.locator('tbody tr').first().waitFor();
  expect(await alert.count()).toBe(0);

  await page.getByRole('button', { name: 'Query' }).click();
  const json = page.getByRole('textbox', { name: /The filter as the API takes it/ });
  await json.fill('{"created_at": {"$gte": "yesterday"}}');
  await page.getByText('created_at takes a date such as 2026-12-31').waitFor(); // while it is typed
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('No rows are shown').waitFor();
  expect(await page.getByText('Nothing matches').count()).toBe(0);
  await json.fill('{"created_at": {"$gte": "2020-01-01"}}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.locator('tbody tr').first().waitFor();
  expectNoFaults(page.context());
});

it('pages come from the server, 25 rows each, and back returns to where one was', async () => {
  await Promise.all(Array.from({ length: 30 }, (_, i) => signUp(`Paginado Silva ${String(i).padStart(2, '0')}`)));
  const page = await signedIn('admin', {}, `/console/customers?query=${encodeURIComponent('{"full_name":{"$regex":"^Paginado"}}')}&sort=${encodeURIComponent('{"full_name":1}')}`);
  await page.getByText('1–25 of 30').waitFor();
  expect(await page.locator('tbody tr').count()).toBe(25);
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('26–30 of 30').waitFor();
  const last = page.getByRole('link', { name: 'Paginado Silva 29' });
  await last.click();
  await page.getByRole('heading', { name: 'Paginado Silva 29' }).waitFor();
  await page.goBack();
  await page.getByText('26–30 of 30').waitFor();
});

it('how far a list was scrolled is there again on the way back, and stays while a record is edited', async () => {
  const mark = `Rolado${String(Date.now())}`;
  await Promise.all(Array.from({ length: 40 }, (_, i) => asRoot('POST', '/plans', [{
    plan_id: `${mark.toLowerCase()}-${String(i)}`, name: `${mark} ${String(i).padStart(2, '0')}`, amount: 1000, tier: 1, is_active: false,
  }])));
  const page = await signedIn('root', {}, `/console/settings/plans?size=100&query=${encodeURIComponent(JSON.stringify({ name: { $regex: `^${mark}` } }))}&sort=${encodeURIComponent('{"name":1}')}`);
  const row = page.getByRole('link', { name: `${mark} 35` });
  const top = () => page.evaluate(() => scrollY);
  await row.scrollIntoViewIfNeeded();
  const was = await top();
  expect(was).toBeGreaterThan(300);
  await row.click();
  await page.getByRole('dialog', { name: 'Edit plan' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await top()).toBe(was);
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor();
  expect(await top()).toBe(0);
  await page.goBack();
  await row.waitFor();
  await expect.poll(top).toBe(was);
  expectNoFaults(page.context());
});

it('a list without a match says how to get out, and one that is refused keeps its rows', async () => {
  const page = await signedIn('admin', {}, '/console/customers?q=nobodyiscalledthis');
  await page.getByText('Nothing matches').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.locator('tbody tr').first().waitFor();
});

it('search takes whatever is at hand, and lands on the page of it', async () => {
  const { customer, finds } = await known('Conceição Araújo');
  const page = await signedIn('admin');
  for (const typed of finds) {
    await search(page, typed);
    await page.getByRole('option', { selected: true }).and(page.getByRole('option', { name: customer.name })
      .or(page.getByRole('option', { name: /subscription|payment|ticket/ }))).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: customer.name }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  }
  expectNoFaults(page.context());
});

it('search lands on webhooks, plans and the audit trail, and the pages of films', async () => {
  const { docs } = await asRoot<{ docs: { _id: string; event_id: string; request_id: string }[] }>('GET', '/webhook-logs?qty_docs_page=1');
  const log = docs[0];
  const page = await signedIn('root');
  for (const typed of [log?.event_id, log?.request_id, log?._id]) {
    await search(page, typed ?? '');
    await page.getByRole('option', { selected: true, name: 'webhook' }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/console/webhooks/${log?._id ?? ''}`);
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  }
  await search(page, 'premium');
  await page.getByRole('option', { selected: true, name: 'plan' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Edit plan' }).waitFor();
  await page.keyboard.press('Escape');

  const title = `Filme sem sala ${String(Date.now())}`;
  await asRoot('POST', '/videos', [{
    title, slug: `sem-sala-${String(Date.now())}`, video_id: 'https://videos.example.com/1', duration: 90, release_date: '2024-01-02',
  }]);
  await search(page, title);
  await page.getByRole('option', { selected: true, name: title }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  expectNoFaults(page.context());
});

it('search leads to the parts of rooms, to what can be made, and does what can be done anywhere', async () => {
  const page = await signedIn('admin');
  await search(page, 'over');
  await page.getByRole('option', { name: 'Overdue' }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/console/subscriptions/overdue');
  await search(page, 'query');
  expect(await page.getByRole('option', { name: 'Query plan' }).count()).toBe(0); // of root
  await page.keyboard.press('Escape');
  await search(page, 'new event');
  await page.getByRole('option', { selected: true, name: 'New event' }).waitFor();
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: 'New event' });
  await form.waitFor();
  expect(new URL(page.url()).search).toBe('?new=1');
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
  await search(page, 'dark');
  await page.getByRole('option', { name: 'Theme: Dark' }).click();
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  await search(page, 'portugues');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Eventos', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  const box = page.getByRole('combobox', { name: 'Buscar' });
  for (const [plain, room] of [['catalogo', 'Catálogo'], ['configuracoes', 'Ajustes']] as const) {
    await box.fill(plain);
    await page.getByRole('option', { name: room, exact: false }).first().waitFor();
  }
  // Signing out is never chosen by itself.
  await box.fill('sair');
  await page.getByRole('status').getByText('1 resultado').waitFor();
  await page.keyboard.press('Enter');
  expect(await page.getByRole('dialog').getByRole('option', { selected: true }).count()).toBe(0);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('input[type="password"]').waitFor();
  expectNoFaults(page.context());
});

it('Enter before the results opens the first of them, and none of the text before', async () => {
  const [one, two] = [await signUp(`Zuleide Primeira${String(Date.now())}`), await signUp(`Umbelina Segunda${String(Date.now())}`)];
  const page = await signedIn('admin');
  await search(page, one.email);
  await page.getByRole('option', { selected: true, name: one.name }).waitFor();
  const go = gate();
  await page.route('**/api/v1/admin/search?**', async (route) => {
    await go.opened;
    await route.fallback();
  });
  const box = page.getByRole('combobox', { name: 'Search' });
  await box.fill(two.email);
  await box.press('Enter');
  await box.press('Enter');
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
  go.open();
  await page.getByRole('heading', { name: two.name, level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/customers/${two.id}`);
  const focused = () => page.evaluate(() => `${document.activeElement?.tagName ?? ''} ${document.activeElement?.textContent ?? ''}`);
  await expect.poll(focused).toBe(`H1 ${two.name}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).focus(); // without a key, as a screen reader does
  expect(await focused()).toBe('BUTTON Edit');

  // The link past the navigation leads to the content of the page that is shown.
  await page.keyboard.press('Shift+Tab'); // who goes on by keys keeps the focus where they are
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await skip.focus();
  await skip.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
  expect(new URL(page.url()).pathname).toBe(`/console/customers/${two.id}`);
  expectNoFaults(page.context());
});

it('before the results Enter does no act, and what the arrows chose stays chosen when they come', async () => {
  const customer = await signUp(`Sign Themis${String(Date.now())}`);
  const page = await signedIn('admin');
  let go = gate();
  await page.route('**/api/v1/admin/search?**', async (route) => {
    await go.opened;
    await route.fallback();
  });
  const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
  const before = await theme();
  await search(page, 'the');
  await page.getByRole('option', { name: 'Theme: Dark' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { selected: true, name: 'Theme: Dark' }).waitFor();
  const come = page.waitForResponse((response) => response.url().includes('/admin/search'));
  go.open();
  await come;
  await page.getByRole('status').getByText(/^\d+ results?$/).waitFor();
  await page.getByRole('option', { selected: true, name: 'Theme: Dark' }).waitFor();

  go = gate();
  const box = page.getByRole('combobox', { name: 'Search' });
  await box.fill('sign');
  await page.getByRole('option', { name: 'Sign out' }).waitFor();
  await box.press('Enter');
  expect(await page.getByRole('dialog', { name: 'Search' }).count()).toBe(1);
  await box.fill(customer.email);
  await box.press('Enter');
  go.open();
  await page.getByRole('heading', { name: customer.name, level: 1 }).waitFor();
  expect(await theme()).toBe(before);

  // What was looked for last is selected when the search opens again.
  await search(page, 'Themis');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await expect.poll(() => box.evaluate((input: HTMLInputElement) => input === document.activeElement)).toBe(true);
  await page.keyboard.type('over');
  expect(await box.inputValue()).toBe('over');
  await page.keyboard.press('Escape');

  // Under a dialog nothing is looked for.
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByLabel('Phone').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByLabel('Phone').fill('12');
  expect(await page.getByRole('dialog').count()).toBe(1);
  expectNoFaults(page.context());
});

/** What others wait at until it is opened. */
function gate() {
  let open = () => { /* until there is a promise */ };
  const opened = new Promise<void>((resolve) => { open = resolve; });
  return { opened, open: () => { open(); } };
}

async function search(page: Page, typed: string) {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(typed);
}

/** A customer with a subscription and a ticket, and whatever finds their page. */
async function known(name: string) {
  const customer = await subscribed(name);
  const { docs: [subscription] } = await asRoot<{ docs: { gwb_subscription_id: string }[] }>(
    'GET', `/subscriptions?query=${encodeURIComponent(JSON.stringify({ _id: customer.subscription }))}`);
  const { payments: [payment] } = await asRoot<{ payments: { gateway_payment_id: string }[] }>(
    'GET', `/admin/customers/360?_id=${customer.id}`);
  const { docs: [event] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/events', [{
    title: 'Estreia', event_type: 'movie_premiere', event_date: new Date(Date.now() + 30 * 864e5).toISOString(),
    location: 'Cine Ipiranga', capacity: 100, ticket_value: 120.5,
  }]);
  const { docs: [ticket] } = await asRoot<{ docs: { _id: string }[] }>(
    'POST', '/tickets', { customer_id: customer.id, event_id: event?._id, title: 'Poltrona' });
  const { qr_payload: code } = await call<{ qr_payload: string }>('GET', `/me/tickets/${ticket?._id ?? ''}/qr`, customer.token);
  const dotted = customer.taxID.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
  return {
    customer,
    finds: [
      'conceicao ara', 'ARAUJO conc', customer.email, customer.email.slice(0, -6), customer.taxID, dotted, customer.id,
      subscription?.gwb_subscription_id ?? '', payment?.gateway_payment_id ?? '', code,
    ],
  };
}
