import type { Page } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, person, signedIn, signIn, told } from './browser';
import { asRoot, call, signUp, until } from './people';

const { users } = inject('platform');

it('a session that ends in a half-filled form asks for the password in place, and the form survives', async () => {
  const customer = await signUp('Otávio Reis');
  const context = await person();
  const page = await context.newPage();
  await page.goto(`/console/customers/${customer.id}`);
  const stay = page.getByLabel('Stay signed in on this computer');
  await stay.check();
  await signIn(page, users.admin);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Phone').fill('+5521912345678');
  // From here on the API takes neither token any more.
  let ended = true;
  await page.route('**/api/v1/**', async (route) => {
    if (!ended || /\/(token|my-user|health)$/.test(new URL(route.request().url()).pathname)) return route.fallback();
    return route.fulfill({ status: 403, contentType: 'application/json', body: '{"detail":"Access Denied: Could not validate token."}' });
  });
  await page.getByRole('button', { name: 'Save' }).click();
  const asked = page.getByRole('dialog', { name: 'Your session has ended' });
  await asked.getByLabel('Password').fill('wrong');
  await asked.getByRole('button', { name: 'Go on' }).click();
  await asked.getByText('Username or password is wrong.').waitFor();
  expect(await stay.isChecked()).toBe(true); // as the session was that ended
  // Only the button that says so signs out, which would throw the form away.
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  ended = false;
  await asked.getByLabel('Password').fill(users.admin.password);
  await asked.getByRole('button', { name: 'Go on' }).click();
  await told(page); // what was being done went on by itself
  const { docs } = await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(docs[0]?.phone).toBe('+5521912345678');
  expectNoFaults(page.context());
});

it('a stale save shows both values, merges what is not on screen, and overwrites nothing unseen', async () => {
  const customer = await signUp('Nádia Freire');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const edit = async (phone: string) => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Phone').fill(phone);
  };
  // A field that the form does not show changes: no conflict.
  await edit('+5521900000001');
  await asRoot('PUT', '/customers', [{ _id: customer.id, my_list: ['a film'] }]);
  await page.getByRole('button', { name: 'Save' }).click();
  await told(page);

  // The same field changes: both values, side by side.
  await edit('+5521900000002');
  await asRoot('PUT', '/customers', [{ _id: customer.id, phone: '+5521900000003' }]);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Somebody else changed this meanwhile').waitFor();
  await page.getByText(/The record was changed by \S+ at 20\d\d-\S+Z, after it was read\./).waitFor();
  await page.getByRole('row', { name: 'Phone +5521900000002 +5521900000003' }).waitFor();
  await page.getByRole('button', { name: 'Copy mine' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('Phone: +5521900000002');
  const unchanged = await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(unchanged.docs[0]?.phone).toBe('+5521900000003');
  await page.getByRole('button', { name: 'Save mine' }).click();
  await expect.poll(async () => (await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`)).docs[0]?.phone)
    .toBe('+5521900000002');
});

const SLOW = 3000;
const dateOf = async (id: string) =>
  (await asRoot<{ docs: { register_update_date: string }[] }>('GET', `/customers?_id=${id}`)).docs[0]?.register_update_date;

/** A line on which what is said of customers takes three seconds. */
async function slowDown(page: Page) {
  await page.route(/\/api\/v1\/customers(\?.*)?$/, async (route) => {
    await new Promise((resolve) => { setTimeout(resolve, SLOW); });
    await route.fallback();
  });
}

it('two quick saves over a slow line, with a webhook and others\' changes between, are no conflict', async () => {
  const customer = await signUp('Lívia Matos');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await slowDown(page);
  const edit = async (phone: string) => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Phone').fill(phone);
  };
  const saved = () => page.waitForResponse((response) => response.request().method() === 'PUT' && response.ok());

  // The first is on its way when its form is closed and opened again.
  await edit('+5521900000011');
  const first = saved();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await edit('+5521900000012');
  const second = first.then(saved);
  await page.getByRole('button', { name: 'Save' }).click();
  await second;
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  // A subscription is paid while the form is open: its webhook writes the customer.
  await edit('+5521900000013');
  const before = await dateOf(customer.id);
  await call('POST', '/gwb/subscribe', customer.token, { plan_id: 'plus', payment_method_id: 'pm_card_visa' });
  await until(async () => (await dateOf(customer.id)) !== before || undefined);
  const third = saved();
  await page.getByRole('button', { name: 'Save' }).click();
  await asRoot('PUT', '/customers', [{ _id: customer.id, my_list: ['a film'] }]);
  await third;
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  expect(await page.getByText(/Somebody else changed|somebody else changed/).count()).toBe(0);
  const { docs } = await asRoot<{ docs: { phone: string; my_list: string[] }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(docs[0]).toMatchObject({ phone: '+5521900000013', my_list: ['a film'] });
  expectNoFaults(page.context());
});

it('what is typed while a save is on its way stays, and the next save writes it', async () => {
  const customer = await signUp('Digna Prado');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await slowDown(page);
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Phone').fill('+5521900000031');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByLabel('Phone').fill('+5521900000032');
  await dialog.getByText('What you typed since is not saved yet.').waitFor();
  expect(await dialog.getByLabel('Phone').inputValue()).toBe('+5521900000032');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByText(/Somebody else changed/).count()).toBe(0);
  const { docs } = await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(docs[0]?.phone).toBe('+5521900000032');
  expectNoFaults(page.context());
});

it('a save whose answer is lost is no conflict with itself', async () => {
  const customer = await signUp('Telma Rios');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Phone').fill('+5521900000021');
  await page.route('**/api/v1/customers', async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('No answer came.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await told(page);
  const { docs } = await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(docs[0]?.phone).toBe('+5521900000021');
});

it('the API says at which field it refuses, and nothing typed is lost', async () => {
  const customer = await signUp('Plínio Castro');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Tax id').fill('11111111111');
  await page.getByLabel('Phone').fill('12');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('[aria-invalid="true"]').first().waitFor();
  expect(await page.getByLabel('Tax id').inputValue()).toBe('11111111111');

  // Nor by a click beside the form, or Esc, without a word; what nobody typed in goes at once.
  const asked = page.getByRole('dialog', { name: 'Discard what you typed?' });
  for (const leave of [() => page.mouse.click(5, 5), () => page.keyboard.press('Escape')]) {
    await leave();
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Tax id').inputValue()).toBe('11111111111');
  }
  await page.keyboard.press('Escape');
  await asked.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Tax id').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('while the server cannot be reached a banner says so, and what was not read comes by itself when it is back', async () => {
  const page = await signedIn('admin');
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  const down = page.getByText('The server cannot be reached.');
  await page.route('**/api/v1/**', (route) => route.abort());
  await down.waitFor();
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await page.getByRole('region', { name: 'Customers' }).getByText('Loading').waitFor({ state: 'attached' });
  await page.unroute('**/api/v1/**');
  await page.locator('tbody tr').first().waitFor();
  await down.waitFor({ state: 'detached' });

  // A page that is opened meanwhile says it too, and goes on as the same person.
  await page.route('**/api/v1/**', (route) => route.abort());
  await page.reload();
  await down.waitFor();
  await page.unroute('**/api/v1/**');
  await page.locator('tbody tr').first().waitFor();
  await down.waitFor({ state: 'detached' });
  expectNoFaults(page.context());
});

it('a session is kept while the API is too busy to renew it, and lost when the API says so', async () => {
  const page = await signedIn('admin');
  const refresh = '**/api/v1/auth/refresh-token';
  const down = page.getByText('The server cannot be reached.');
  const form = page.getByRole('heading', { name: 'Sign in to the console' });
  for (const status of [503, 500, 429]) {
    let asked = 0;
    await page.route(refresh, (route) => {
      asked++;
      return route.fulfill({ status, contentType: 'application/json', headers: { 'Retry-After': '1' }, body: '{"detail":"The service is busy. Try again in a second."}' });
    });
    await page.reload();
    await down.waitFor();
    await expect.poll(() => asked, { message: String(status) }).toBeGreaterThan(1); // it is asked again by itself
    expect(await form.count()).toBe(0);
    await page.unroute(refresh);
    await page.locator('main#content').waitFor();
    await down.waitFor({ state: 'detached' });
  }
  // So is one whose token is over while somebody works: what was asked for comes by itself.
  let refused = 0;
  await page.route(refresh, (route) => {
    refused++;
    return route.fulfill({ status: 503, contentType: 'application/json', body: '{"detail":"The service is busy. Try again in a second."}' });
  });
  await page.route('**/api/v1/customers?**', (route) => route.fulfill({
    status: 403, contentType: 'application/json', body: '{"detail":"Access Denied: Could not validate token."}',
  }), { times: 1 });
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await down.waitFor();
  await expect.poll(() => refused).toBeGreaterThan(1);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.unroute(refresh);
  await page.locator('tbody tr').first().waitFor();
  await down.waitFor({ state: 'detached' });
  for (const [status, detail] of [[401, 'Not authenticated'], [403, 'Access Denied: Could not validate token.']] as const) {
    const other = await signedIn('admin');
    await other.route(refresh, (route) => route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ detail }) }));
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  }
  expectNoFaults(page.context());
});

it('while the API is down a banner says so within seconds, and what is typed is saved once it is back', async () => {
  const customer = await signUp('Rute Salles');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Phone').fill('+5521900000031');
  const began = Date.now();
  await page.route('**/api/v1/**', (route) => route.abort());
  const down = page.getByText('The server cannot be reached.');
  await down.waitFor();
  const took = Date.now() - began;
  process.stdout.write(`the banner came after ${String(took)} ms\n`);
  expect(took).toBeLessThan(15_000); // three times the goal: the machine may be busy otherwise
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('No answer came.').waitFor();
  expect(await page.getByLabel('Phone').inputValue()).toBe('+5521900000031');
  await page.unroute('**/api/v1/**');
  await down.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save' }).click();
  await told(page);
  const { docs } = await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(docs[0]?.phone).toBe('+5521900000031');
  expectNoFaults(page.context());
});
