import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { afterAll, expect, inject } from 'vitest';

/** How long anything may take that is waited for, in milliseconds: the machine may be busy otherwise. */
const PATIENCE = 120_000;

let browser: Promise<Browser> | undefined;
const opened: BrowserContext[] = [];

afterAll(async () => {
  for (const context of opened) await context.close();
  await (await browser)?.close();
});

export interface Look { width?: number; height?: number; scheme?: 'light' | 'dark'; locale?: string }

/** What a page said or asked for that it should not have. */
const faults = new WeakMap<BrowserContext, string[]>();

/** A browser of its own, whose pages may ask this machine's platform for things and nobody else. */
export async function person({ width = 1440, height = 900, scheme = 'light', locale = 'en-GB' }: Look = {}): Promise<BrowserContext> {
  browser ??= chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const context = await (await browser).newContext({
    viewport: { width, height }, colorScheme: scheme, locale, baseURL: inject('platform').url, reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE);
  await context.addInitScript(keepToasts);
  opened.push(context);
  const found: string[] = [];
  faults.set(context, found);
  await context.route((url) => url.origin !== inject('platform').url, async (route) => {
    if (!/^(blob|data):/.test(route.request().url())) found.push(`asked ${route.request().url()}`);
    await route.abort();
  });
  context.on('console', (message) => {
    // Chromium itself tells of each answer over 399; what pages make of it is what counts.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) found.push(message.text());
  });
  context.on('weberror', (error) => { found.push(String(error.error())); });
  return context;
}

/** Nothing was said on the console, nothing thrown, no other origin asked, and nothing refused by the policy. */
export function expectNoFaults(context: BrowserContext) { expect(faults.get(context)).toEqual([]); }

/** A page of somebody who signed in to the console by the form. */
export async function signedIn(who: 'root' | 'admin' | Login, look: Look = {}, at = '/console/'): Promise<Page> {
  const context = await person(look);
  const page = await context.newPage();
  await page.goto(at);
  await signIn(page, typeof who === 'string' ? inject('platform').users[who] : who);
  return page;
}

export interface Login { username: string; password: string }

export async function signIn(page: Page, { username, password }: Login) {
  await page.locator('input[autocomplete="username"]').fill(username);
  await page.locator('input[type="password"]').fill(password);
  await page.locator('button[type="submit"]').click();
  await page.locator('main#content').waitFor();
}

/** Keeps what toasts say: they leave after five seconds, in which a machine that is busy otherwise may not look. */
function keepToasts() {
  const toasts: Element[] = [];
  Object.assign(globalThis, { toasts });
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node instanceof Element && node.matches('[role="status"] > .toast')) toasts.push(node);
    }
  }).observe(document, { childList: true, subtree: true });
}

/** Waits until a toast says this and nothing more, or has said so on this page and was not waited for. */
export async function told(page: Page, text: string | RegExp = 'Saved') {
  await expect.poll(() => page.evaluate((wanted) => {
    const { toasts } = globalThis as unknown as { toasts: Element[] };
    const said = toasts.map((toast) => toast.querySelector('p')?.textContent.replace(/\s+/g, ' ').trim() ?? '');
    const at = said.findIndex((one) => (typeof wanted === 'string' ? one === wanted : wanted.test(one)));
    if (at < 0) return said;
    toasts.splice(at, 1);
    return true;
  }, text), { message: `a toast that says ${String(text)}` }).toBe(true);
}

/** Goes to an address of the console as its links do, without loading the page anew. */
export async function visit(page: Page, path: string) {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/console${path}`);
}

/** Drags with the mouse as people do: down, many moves, a pause, up. */
export async function drag(page: Page, from: Locator, to: Locator) {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  if (!a || !b) throw new Error('what is dragged, or where to, is not on the screen');
  const [x, y] = [a.x + Math.min(a.width / 2, 60), a.y + a.height / 2];
  const [tx, ty] = [b.x + b.width / 2, b.y + Math.min(b.height / 2, 90)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 15; i++) await page.mouse.move(x + ((tx - x) * i) / 15, y + ((ty - y) * i) / 15);
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 300); })); // the library looks every 200 ms
  await page.mouse.up();
}
