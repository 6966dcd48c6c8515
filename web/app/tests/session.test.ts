import { expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, signUp } from './people';

const { users } = inject('platform');

it('a session that ends in a half-filled form asks for the password in place, and the form survives', async () => {
  const customer = await signUp('Otávio Reis');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
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
  ended = false;
  await asked.getByLabel('Password').fill(users.admin.password);
  await asked.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('Saved').waitFor(); // what was being done went on by itself
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
  await page.getByText('Saved').waitFor();

  // The same field changes: both values, side by side.
  await edit('+5521900000002');
  await asRoot('PUT', '/customers', [{ _id: customer.id, phone: '+5521900000003' }]);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Somebody else changed this meanwhile').waitFor();
  await page.getByRole('row', { name: 'Phone +5521900000002 +5521900000003' }).waitFor();
  const unchanged = await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(unchanged.docs[0]?.phone).toBe('+5521900000003');
  await page.getByRole('button', { name: 'Save mine' }).click();
  await expect.poll(async () => (await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`)).docs[0]?.phone)
    .toBe('+5521900000002');
});

it('two quick saves over a slow line and a change by others between them are no conflict', async () => {
  const customer = await signUp('Lívia Matos');
  const page = await signedIn('admin', {}, `/console/customers/${customer.id}`);
  const SLOW = 3000;
  await page.route('**/api/v1/customers?**', async (route) => {
    await new Promise((resolve) => { setTimeout(resolve, SLOW); });
    await route.fallback();
  });
  await page.route('**/api/v1/customers', async (route) => {
    await new Promise((resolve) => { setTimeout(resolve, SLOW); });
    await route.fallback();
  });
  for (const phone of ['+5521900000011', '+5521900000012']) {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Phone').fill(phone);
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT' && response.ok());
    await page.getByRole('button', { name: 'Save' }).click();
    await asRoot('PUT', '/customers', [{ _id: customer.id, my_list: [phone] }]);
    await saved;
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  expect(await page.getByText('Somebody else changed this meanwhile').count()).toBe(0);
  const { docs } = await asRoot<{ docs: { phone: string }[] }>('GET', `/customers?_id=${customer.id}`);
  expect(docs[0]?.phone).toBe('+5521900000012');
  expectNoFaults(page.context());
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
