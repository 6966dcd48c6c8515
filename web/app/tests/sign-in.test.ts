import { expect, inject, it } from 'vitest';
import { expectNoFaults, person, signedIn, signIn } from './browser';

const { users } = inject('platform');

it('a wrong password is said in words, and the right one opens the console', async () => {
  const context = await person();
  const page = await context.newPage();
  await page.goto('/console/customers');
  await page.getByLabel('Username or e-mail').fill(users.admin.username);
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Username or password is wrong.').waitFor();
  await signIn(page, users.admin);
  await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor();
  expect(await page.evaluate(() => Object.keys(localStorage).concat(Object.values(localStorage)).join())).not.toContain('ey');
  expectNoFaults(context);
});

it('a reload goes on, another browser tab asks, and "stay signed in" is shared', async () => {
  const page = await signedIn('admin');
  await page.reload();
  await page.locator('main#content').waitFor();
  const other = await page.context().newPage();
  await other.goto('/console/');
  await other.getByLabel('Stay signed in on this computer').check();
  await signIn(other, users.admin);
  const third = await page.context().newPage();
  await third.goto('/console/');
  await third.locator('main#content').waitFor();
  // Signing out in one ends all, and nothing is left to come back with.
  await third.getByRole('button', { name: 'Sign out' }).click();
  for (const one of [page, other, third]) await one.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await other.reload();
  await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  expectNoFaults(page.context());
});

it('a customer is told that the console is for staff', async () => {
  const context = await person();
  const page = await context.newPage();
  await page.goto('/console/');
  await page.getByLabel('Username or e-mail').fill(users.customer.username);
  await page.getByLabel('Password').fill(users.customer.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The console is for staff').waitFor();
  await page.getByRole('button', { name: 'Use another account' }).click();
  await signIn(page, users.admin);
});
