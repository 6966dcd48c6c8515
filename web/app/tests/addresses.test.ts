import { expect, it } from 'vitest';
import { expectNoFaults, signedIn, told } from './browser';
import { asRoot, newAdmin, signUp, tokenOf, call } from './people';

it('a query that is no JSON object is said, shows no rows and offers no act', async () => {
  await signUp('Queiroz Solto');
  const page = await signedIn('admin');
  for (const query of ['{bad', '[]', 'null', '"x"']) {
    await page.goto(`/console/customers?query=${encodeURIComponent(query)}`);
    await page.getByRole('alert').getByText('The filter in the address is not a JSON object.').waitFor();
    await page.getByText('No rows are shown').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
    expect(await page.getByRole('button', { name: /that match|Export/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Query' }).click();
    expect(await page.getByRole('textbox', { name: /The filter as the API takes it/ }).inputValue()).toBe(query);
  }
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.locator('tbody tr').first().waitFor();
  expectNoFaults(page.context());
});

it('a column counts once, and a page beyond the end leads to the first', async () => {
  await signUp('Coluna Dupla');
  const page = await signedIn('admin', {}, '/console/customers?columns=full_name,full_name');
  await page.locator('tbody tr').first().waitFor();
  expect(await page.getByRole('columnheader').count()).toBe(1);
  await page.goto('/console/customers?page=99999');
  await page.getByText('This page has no rows').waitFor();
  await page.getByRole('button', { name: 'To the first page' }).click();
  await page.locator('tbody tr').first().waitFor();
  expectNoFaults(page.context());
});

it('addresses that lead nowhere say so, and pages of root whose they are', async () => {
  const page = await signedIn('root');
  const records = ['customers', 'webhooks', 'catalog', 'catalog/seasons', 'catalog/imports', 'events', 'events/orders', 'promos', 'payments/unapplied', 'payments/reconciliations', 'settings/audit'];
  const rooms = ['settings', 'payments', 'subscriptions', 'finance'];
  for (const path of [...records.flatMap((of) => [`${of}/6b03d81c24673b7b46511b36`, `${of}/nobody`]), ...rooms.map((of) => `${of}/nowhere`)]) {
    await page.goto(`/console/${path}`);
    await expect.poll(() => page.locator('main').getByText(/^(There is nothing here|This could not be loaded)$/).allTextContents(), { message: path }).toEqual(['There is nothing here']);
    await page.getByText('There is nothing here').waitFor();
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('payments');
  await page.getByRole('option', { name: 'Payments' }).waitFor();
  await page.getByRole('status').getByText(/^\d+ results?$/).waitFor();
  expectNoFaults(page.context());
  const admin = await signedIn('admin', {}, '/console/settings/explain');
  await admin.getByText('No profile can give the right to this page.').waitFor();
});

it('a part that cannot be loaded is asked for anew by a button, and of a reading nobody is told that something may be changed', async () => {
  const page = await signedIn('admin');
  await page.route('**/assets/Customers-*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await page.getByText('This part of the console did not come.').waitFor();
  await page.unroute('**/assets/Customers-*.js');
  await page.route('**/api/v1/customers?**', (route) => route.fulfill({ status: 502, body: '' }));
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No answer came. Try again in a moment.').waitFor();
  await page.unroute('**/api/v1/customers?**');

  await page.goto('/console/customers?columns=password,nope');
  await page.getByRole('columnheader', { name: 'E-mail' }).waitFor();
  await page.locator('tbody tr').first().waitFor();
  expectNoFaults(page.context());
});

it('two views of one name stand beside each other, and one for a profile is for the one that is chosen', async () => {
  const login = await newAdmin('Vera');
  const none = { view: [], create: [], update: [], delete: [] };
  const { docs: profiles } = await asRoot<{ docs: { _id: string }[] }>('POST', '/users-type', [
    { name: `${login.username} one`, ...none }, { name: `${login.username} two`, ...none },
  ]);
  const { docs: [user] } = await asRoot<{ docs: { _id: string }[] }>('GET', `/users?query=${encodeURIComponent(JSON.stringify({ username: login.username }))}`);
  await asRoot('PUT', '/users', [{ _id: user?._id, type_user: profiles.map(({ _id }) => _id) }]);
  const token = await tokenOf(login);
  const name = `Twice ${login.username}`;
  const view = { name, path: '/customers', query: '', sort: '', columns: ['full_name', 'full_name'], audience: 'all' };
  for (const by of [token, token]) await call('POST', '/admin/views', by, view).catch((cause: unknown) => { expect(String(cause)).toMatch(/: 422 /); });
  for (let i = 0; i < 2; i++) await call('POST', '/admin/views', token, { ...view, columns: ['full_name'] });

  const page = await signedIn(login, {}, '/console/customers');
  await page.getByRole('button', { name: 'Views' }).click();
  const items = page.getByRole('menuitem', { name, exact: true });
  await items.first().waitFor();
  expect(await items.count()).toBeGreaterThanOrEqual(2);
  await items.nth(1).click();
  await page.getByRole('columnheader', { name: 'Name' }).waitFor();

  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(`For two ${login.username}`);
  await page.getByLabel('Who sees it').selectOption('profile');
  await page.getByLabel('Profile', { exact: true }).selectOption(profiles[1]?._id ?? '');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await told(page);
  const { docs } = await call<{ docs: { name: string; profile_id: string | null }[] }>('GET', '/admin/views?path=/customers', token);
  expect(docs.find((one) => one.name === `For two ${login.username}`)?.profile_id).toBe(profiles[1]?._id);
  expectNoFaults(page.context());
});
