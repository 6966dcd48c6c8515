import type { CDPSession, Page } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, person, signedIn, told } from './browser';
import { newAdmin } from './people';

const { users } = inject('platform');

/** An authenticator in software, which a page's browser takes for one that is built in. */
async function authenticatorOf(page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

async function addPasskey(page: Page, name: string, password: string) {
  await page.getByRole('dialog').waitFor({ state: 'detached' }); // the one before, which Escape closes
  await page.getByRole('region', { name: 'Passkeys' }).getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByRole('button', { name: 'Add a passkey' }).click();
}

it('a passkey is added, signs in, takes up a lost session, and is removed', async () => {
  const ivo = await newAdmin('Ivo');
  const page = await signedIn(ivo, {}, '/console/');
  const { cdp, authenticatorId } = await authenticatorOf(page);
  await page.getByRole('link', { name: 'Ivo' }).click();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await page.getByText('No passkeys yet').waitFor();

  await addPasskey(page, 'Laptop', 'not the password');
  await page.getByRole('dialog').locator('[aria-invalid="true"]').waitFor();
  await page.keyboard.press('Escape');
  await addPasskey(page, 'Laptop', ivo.password);
  const row = page.getByRole('region', { name: 'Passkeys' }).getByRole('listitem').filter({ hasText: 'Laptop' });
  await row.getByText('never').waitFor();

  // The same device again says that it has one.
  await addPasskey(page, 'Laptop again', ivo.password);
  await page.getByText('That device has a passkey of yours already.').waitFor();
  await page.keyboard.press('Escape');

  // It signs in, without name and password.
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await row.getByText('never').waitFor({ state: 'detached' });
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
  expect(credentials.length).toBe(1);

  // A session that ended goes on by it, with what was being done.
  let ended = true;
  await page.route('**/api/v1/**', async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (!ended || /\/(my-user|health)$|\/auth\/passkeys\//.test(path)) return route.fallback();
    return route.fulfill({ status: 403, contentType: 'application/json', body: '{"detail":"Access Denied: Could not validate token."}' });
  });
  await row.getByRole('button', { name: 'Remove Laptop' }).click();
  await page.getByRole('dialog', { name: 'Remove the passkey' }).getByRole('button', { name: 'Remove' }).click();
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.waitFor();
  ended = false;
  await again.getByRole('button', { name: 'Use a passkey' }).click();
  await told(page, 'The passkey is removed');
  await page.getByText('No passkeys yet').waitFor();

  // What is removed signs nobody in.
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  expectNoFaults(page.context());
});

it('a lost session does not go on as somebody else', async () => {
  const [ana, rui] = [await newAdmin('Ana'), await newAdmin('Rui')];
  const page = await signedIn(ana, {}, '/console/account');
  await authenticatorOf(page);
  await addPasskey(page, 'Shared computer', ana.password);
  await page.getByRole('listitem').filter({ hasText: 'Shared computer' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Username or e-mail').fill(rui.username);
  await page.getByLabel('Password').fill(rui.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('No passkeys yet').waitFor();

  await page.route('**/api/v1/**', async (route) => {
    if (/\/(my-user|health)$|\/auth\/passkeys\//.test(new URL(route.request().url()).pathname)) return route.fallback();
    return route.fulfill({ status: 403, contentType: 'application/json', body: '{"detail":"Access Denied: Could not validate token."}' });
  });
  await page.getByRole('link', { name: 'Customers' }).click();
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.getByRole('button', { name: 'Use a passkey' }).click();
  await again.getByText('That passkey is another account’s.').waitFor();
  expectNoFaults(page.context());
});

it('who declines is told so, and the password still does', async () => {
  const context = await person();
  const page = await context.newPage();
  await page.goto('/console/');
  const { cdp, authenticatorId } = await authenticatorOf(page);
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('No passkey was used.').waitFor();
  await page.getByLabel('Username or e-mail').fill(users.admin.username);
  await page.getByLabel('Password').fill(users.admin.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('main#content').waitFor();
  expectNoFaults(context);
});
