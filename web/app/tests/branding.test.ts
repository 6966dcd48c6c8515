import { expect, inject, it } from 'vitest';
import { expectNoFaults, person, signedIn, signIn, told } from './browser';
import { asRoot } from './people';
import { violationsOf } from './screens';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 40 20">
  <script>document.documentElement.setAttribute('fill', 'red'); fetch('https://elsewhere.example/')</script>
  <image xlink:href="https://elsewhere.example/a.png" width="40" height="20"/><rect width="40" height="20" fill="#0a6b3d"/></svg>`;
const theirs = { name: 'Marquee', accent_light: '#2b59c3', accent_dark: '#8aaefc', logo: null };

interface Branding { name: string; logo: string | null; accent_light: string }
const branding = () => asRoot<Branding>('GET', '/config/branding');

it('name, accent and a logo in SVG are chosen, refused where they are not read, and shown from the first paint on', async () => {
  const page = await signedIn('root', {}, '/console/settings/branding');
  const form = page.getByRole('form', { name: 'Branding' });
  await form.getByLabel('Name').fill('Cine Sol');
  await form.getByLabel('Accent in the light theme', { exact: true }).fill('#ffd700');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText(/has a contrast of 1\.\d\d:1 on the background of the light theme/).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  expect((await branding()).name).toBe('Marquee');

  await form.getByLabel('Accent in the light theme', { exact: true }).fill('#0a6b3d');
  await form.getByLabel('Accent in the dark theme', { exact: true }).fill('#5ee2a0');
  await form.locator('input[type=file]').setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) });
  await form.getByRole('button', { name: 'Take the logo away' }).waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await told(page);
  await page.getByRole('navigation').first().getByText('Cine Sol').waitFor();
  const accent = () => page.evaluate(() => getComputedStyle(document.querySelector('main button[type="submit"]') ?? document.body).backgroundColor);
  await expect.poll(accent).toBe('rgb(10, 107, 61)');
  const now = await branding();
  const logo = await page.request.get(now.logo ?? '');
  expect(logo.headers()['content-type']).toBe('image/png');
  expect([...(await logo.body()).subarray(1, 4)]).toEqual([...Buffer.from('PNG')]);
  expectNoFaults(page.context());

  // A stranger's first page has it before anything is painted, and keeps it.
  const guest = await person({ scheme: 'dark' });
  const first = await guest.newPage();
  await first.goto('/console/');
  await first.getByText('Cine Sol').waitFor();
  expect(await first.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent'))).toContain('#5ee2a0');
  expect(await first.title()).toContain('Cine Sol');
  expect(await violationsOf(first)).toEqual([]);
  await first.route('**/api/v1/config/branding', () => new Promise(() => undefined)); // it never comes
  await first.reload();
  await first.getByText('Cine Sol').waitFor();
  expectNoFaults(guest);

  // Two who change it at once: the second is told.
  const second = await page.context().newPage();
  await second.goto('/console/settings/branding');
  await signIn(second, inject('platform').users.root);
  await second.getByLabel('Name').waitFor();
  await asRoot('PUT', '/admin/config/branding', { name: 'Cine Lua' });
  await second.getByLabel('Name').fill('Cine Mar');
  await second.getByRole('button', { name: 'Save' }).click();
  await second.getByText('Somebody else changed this meanwhile').waitFor();
  await second.getByRole('cell', { name: 'Cine Lua' }).waitFor();
  expect((await branding()).name).toBe('Cine Lua');
  await second.getByRole('button', { name: 'Take theirs' }).click();
  await expect.poll(() => second.getByLabel('Name').inputValue()).toBe('Cine Lua');
  await asRoot('PUT', '/admin/config/branding', theirs);
});

it('on a phone who may not write sees it and is told which right is missing', async () => {
  const page = await signedIn('admin', { width: 360, height: 640, scheme: 'dark' }, '/console/settings/branding');
  await page.getByText('config_branding_put').first().waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expectNoFaults(page.context());
});
