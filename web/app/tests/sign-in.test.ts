import { createHmac } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, person, signedIn, signIn, told } from './browser';
import { call, newAdmin, tokenOf } from './people';

const { users } = inject('platform');

it('a wrong password is said in words, and the right one opens the console', async () => {
  const context = await person();
  const page = await context.newPage();
  await page.goto('/console/customers');
  await page.getByLabel('Username or e-mail').fill(users.admin.username);
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
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
  for (const one of [page, other]) {
    await one.reload();
    await one.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  }
  expectNoFaults(page.context());
});

it('where the browser keeps nothing for all tabs, "stay signed in" is for the tab', async () => {
  const context = await person();
  await context.addInitScript(() => {
    IDBFactory.prototype.open = () => { throw new DOMException('It is turned off.', 'SecurityError'); };
  });
  const page = await context.newPage();
  await page.goto('/console/');
  await page.getByLabel('Stay signed in on this computer').check();
  await signIn(page, users.admin);
  await page.reload();
  await page.locator('main#content').waitFor();
  const other = await context.newPage();
  await other.goto('/console/');
  await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  expectNoFaults(context);
});

it('with all site data blocked the console starts, and who signs in stays so for the tab', async () => {
  const context = await person();
  await context.addInitScript(() => {
    const refuse = () => { throw new DOMException('Access is denied for this document.', 'SecurityError'); };
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) Object.defineProperty(globalThis, name, { get: refuse });
    Object.assign(globalThis, { BroadcastChannel: class { constructor() { refuse(); } } });
  });
  const page = await context.newPage();
  await page.goto('/console/');
  await page.getByLabel('Theme').selectOption('dark');
  await page.getByLabel('Stay signed in on this computer').check();
  await signIn(page, users.admin);
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  // An access token that is refused is renewed, as in any other tab.
  let refused = 0;
  await page.route('**/api/v1/customers?**', (route) => {
    refused++;
    return route.fulfill({ status: 403, contentType: 'application/json', body: '{"detail":"Access Denied: Could not validate token."}' });
  }, { times: 1 });
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await page.locator('tbody tr').first().waitFor();
  expect(refused).toBe(1);
  await page.getByRole('button', { name: 'Export' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  expectNoFaults(context);
});

it('root who needs a second factor reads so, and sets it up where they are', async () => {
  const eli = await newAdmin('Eli');
  const context = await person();
  const sentence = 'Root users need a second factor here. Set one up at /me/totp, or sign in by a passkey.';
  await context.route('**/api/v1/my-user', (route) => route.fulfill({
    status: 403, contentType: 'application/json',
    body: JSON.stringify({ detail: sentence, error: { code: 'MFA_REQUIRED', message: sentence, timestamp: '2026-01-01T00:00:00Z' } }),
  }));
  const page = await context.newPage();
  await page.goto('/console/');
  await signIn(page, eli);
  await page.getByRole('alert').getByText(sentence).waitFor();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await page.getByRole('region', { name: 'Second factor' }).getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('dialog', { name: 'Set up' }).getByLabel('Current password').fill(eli.password);
  await page.getByRole('dialog', { name: 'Set up' }).getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('dialog', { name: 'Set up the authenticator' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  expectNoFaults(context);
});

it('sessions are listed, ended one by one and all at once, and signing out ends its own', async () => {
  const eva = await newAdmin('Eva');
  await tokenOf(eva);
  await tokenOf(eva);
  const page = await signedIn(eva, {}, '/console/account');
  const sessions = page.getByRole('region', { name: 'Sessions' });
  await sessions.getByRole('listitem').nth(2).waitFor();
  await sessions.getByRole('listitem').filter({ hasText: 'this one' }).getByText('Chrome · Linux').waitFor();
  await sessions.getByRole('button', { name: /^End the session of/ }).first().click();
  await expect.poll(() => sessions.getByRole('listitem').count()).toBe(2);
  await sessions.getByRole('button', { name: 'End all others' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
  await told(page, 'One session is ended');
  await expect.poll(() => sessions.getByRole('listitem').count()).toBe(1);

  const ended = page.waitForResponse((response) => response.request().method() === 'DELETE');
  await page.getByRole('button', { name: 'Sign out' }).click();
  expect((await ended).status()).toBe(200);
  const token = await tokenOf(eva);
  const { docs } = await call<{ docs: unknown[] }>('GET', '/me/sessions', token);
  expect(docs.length).toBe(1);
  expectNoFaults(page.context());
});

it('a customer is told that the console is for staff', async () => {
  const context = await person();
  const page = await context.newPage();
  await page.goto('/console/');
  await page.getByLabel('Username or e-mail').fill(users.customer.username);
  await page.getByLabel('Password').fill(users.customer.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('The console is for staff').waitFor();
  await page.getByRole('button', { name: 'Use another account' }).click();
  await signIn(page, users.admin);
});

it('the page of the API signs in who has a second factor', async () => {
  const ute = await newAdmin('Ute');
  const token = await tokenOf(ute);
  const { secret } = await call<{ secret: string }>('POST', '/me/totp', token, { current_password: ute.password });
  const { recovery_codes: [code = ''] } = await call<{ recovery_codes: string[] }>('POST', '/me/totp/confirm', token, { totp: codeOf(secret) });
  const context = await person();
  const page = await context.newPage();
  await page.goto('/api/v1/docs');
  await page.getByLabel('Username or e-mail').fill(ute.username);
  await page.getByLabel('Password').fill(ute.password);
  const asked = page.getByLabel('Code of the second factor');
  expect(await asked.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await asked.fill(code);
  await asked.press('Enter');
  await page.getByText('Operations below are called with this token.').waitFor();
  expect(await page.getByLabel('Access token').inputValue()).toMatch(/^ey/);
  expect(await asked.isVisible()).toBe(false);
  expectNoFaults(context);
});

it('who has a second factor is asked for its code', async () => {
  const ada = await newAdmin('Ada');
  const token = await tokenOf(ada);
  const { secret } = await call<{ secret: string }>('POST', '/me/totp', token, { current_password: ada.password });
  const { recovery_codes: codes } = await call<{ recovery_codes: string[] }>('POST', '/me/totp/confirm', token, { totp: codeOf(secret) });
  const context = await person();
  const page = await context.newPage();
  await page.goto('/console/');
  await page.getByLabel('Username or e-mail').fill(ada.username);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const code = page.getByLabel('Code');
  await code.fill('000000');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('The code is wrong, or was used before.').waitFor();
  await code.fill(codes[0] ?? '');
  await code.press('Enter');
  await page.getByRole('link', { name: 'Ada' }).waitFor();
  expectNoFaults(context);
});

it('a second factor is set up by picture or secret, its recovery codes are shown once, and it is turned off', async () => {
  const iris = await newAdmin('Iris');
  const page = await signedIn(iris, {}, '/console/account');
  const panel = page.getByRole('region', { name: 'Second factor' });
  await panel.getByText('off', { exact: true }).waitFor();
  const dialog = page.getByRole('dialog');

  await panel.getByRole('button', { name: 'Set up' }).click();
  await dialog.getByLabel('Current password').fill('not the password');
  await dialog.getByRole('button', { name: 'Set up' }).click();
  await dialog.locator('[aria-invalid="true"]').waitFor();
  await dialog.getByLabel('Current password').fill(iris.password);
  await dialog.getByRole('button', { name: 'Set up' }).click();
  const confirm = page.getByRole('dialog', { name: 'Set up the authenticator' });
  const picture = confirm.getByRole('img', { name: 'QR code of the secret, for the authenticator app' });
  await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(100);
  await confirm.getByRole('button', { name: 'Copy the secret' }).click();
  const secret = await page.evaluate(() => navigator.clipboard.readText());
  expect((await confirm.innerText()).replaceAll(' ', '')).toContain(secret);

  // Until the first code is right nothing asks for one.
  await confirm.getByLabel('Code').fill('000000');
  await confirm.getByRole('button', { name: 'Turn on' }).click();
  await confirm.locator('[aria-invalid="true"]').waitFor();
  await tokenOf(iris).then((token) => { expect(token).toMatch(/^ey/); });
  await confirm.getByLabel('Code').fill(codeOf(secret));
  await confirm.getByRole('button', { name: 'Turn on' }).click();
  const codes = page.getByRole('dialog', { name: 'Recovery codes' });
  await expect.poll(() => codes.getByRole('listitem').count()).toBe(10);
  const [first = '', second = '', third = ''] = await codes.getByRole('listitem').allInnerTexts();
  await codes.getByRole('button', { name: 'I have kept them' }).click();
  await panel.getByText('Recovery codes left: 10').waitFor();
  expect(await page.getByText(first).count()).toBe(0);

  // Signing in asks for a code, and a passkey too.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog').getByLabel('Code').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Username or e-mail').fill(iris.username);
  await page.getByLabel('Password').fill(iris.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('Code').fill(first);
  await page.getByLabel('Code').press('Enter');
  await panel.getByText('Recovery codes left: 9').waitFor();

  await panel.getByRole('button', { name: 'New recovery codes' }).click();
  await dialog.getByLabel('Current password').fill(iris.password);
  await dialog.getByLabel('Code').fill(second);
  await dialog.getByRole('button', { name: 'New recovery codes' }).click();
  await expect.poll(() => codes.getByRole('listitem').count()).toBe(10);
  const [fresh = ''] = await codes.getByRole('listitem').allInnerTexts();
  await page.keyboard.press('Escape');

  await panel.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByLabel('Current password').fill(iris.password);
  await dialog.getByLabel('Code').fill(third); // void
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await dialog.locator('[aria-invalid="true"]').waitFor();
  await dialog.getByLabel('Code').fill(fresh);
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await told(page, 'The second factor is turned off');
  await panel.getByText('off', { exact: true }).waitFor();
  expect(await tokenOf(iris)).toMatch(/^ey/);
  expectNoFaults(page.context());
});

/** The six digits of this half minute (RFC 6238). */
function codeOf(secret: string): string {
  const bits = [...secret].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g)?.map((byte) => parseInt(byte, 2)) ?? []);
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac('sha1', key).update(step).digest();
  return String((mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff) % 1e6).padStart(6, '0');
}
