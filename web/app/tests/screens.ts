import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { asRoot, subscribed } from './people';

const drawn = process.env['PICTURES'] === '1';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = new URL('../../../docs/pictures/', import.meta.url).pathname;

type Rules = { runOnly: string[] };
const all: Rules = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
const contrast: Rules = { runOnly: ['color-contrast'] }; // what another scheme of the same layout can break

/** What axe finds on a page as it is. */
export async function violationsOf(page: Page, rules = all): Promise<string[]> {
  // Past the policy, which lets no script in.
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe);
  const results = await page.evaluate((options) => (window as unknown as { axe: { run: (o: object) => Promise<AxeResults> } })
    .axe.run(options), rules);
  return results.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`));
}

interface Look { name: string; width: number; height: number; scheme: 'light' | 'dark'; rules?: Rules; longer?: boolean }

const looks: Look[] = [
  { name: 'desk-light', width: 1440, height: 900, scheme: 'light', rules: all },
  { name: 'desk-dark', width: 1440, height: 900, scheme: 'dark', rules: contrast },
  { name: 'tablet-dark', width: 768, height: 1024, scheme: 'dark', rules: all },
  { name: 'phone-dark', width: 360, height: 640, scheme: 'dark', rules: all },
  { name: 'phone-light', width: 360, height: 640, scheme: 'light', rules: contrast },
  { name: 'zoom-200', width: 720, height: 450, scheme: 'light' }, // a desk at 200 %
  { name: 'longer-desk', width: 1440, height: 900, scheme: 'light', longer: true },
  { name: 'longer-phone', width: 360, height: 640, scheme: 'light' },
];

const chief = new Set(['home-desk-light', 'customer-desk-light', 'customer-phone-dark', 'webhook-desk-dark']);

/** Every screen of the console, by its name, and where it is. */
async function screensOf(crowded: boolean): Promise<[name: string, path: string][]> {
  const customer = await subscribed('Marta Vilar');
  if (crowded) await crowd(customer.subscription);
  const first = async (path: string) => (await asRoot<{ docs: { _id: string }[] }>('GET', `${path}?qty_docs_page=1`)).docs[0]?._id ?? '';
  return [
    ['home', '/console/'], ['account', '/console/account'], ['customers', '/console/customers'],
    ['customer', `/console/customers/${customer.id}`], ['subscriptions', '/console/subscriptions'],
    ['overdue', '/console/subscriptions/overdue'], ['payments', '/console/payments'], ['refunded', '/console/payments/refunded'],
    ['unapplied', '/console/payments/unapplied'], ['webhooks', '/console/webhooks'],
    ['webhook', `/console/webhooks/${await first('/webhook-logs')}`], ['settings', '/console/settings'],
    ['jobs', '/console/settings/jobs'], ['invariants', '/console/settings/invariants'],
    ['explain', `/console/settings/explain?path=/customers&query=${encodeURIComponent('{"full_name":"Ana"}')}`],
    ['plans', '/console/settings/plans'], ['users', '/console/settings/users'], ['profiles', '/console/settings/profiles'],
    ['audit', '/console/settings/audit'], ['entry', `/console/settings/audit/${await first('/audit-log')}`],
    ['nothing', '/console/nothing'],
  ];
}

/** Every text longer by two fifths, as in a language that takes more room. */
async function lengthen(page: Page) {
  await page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.nodeValue ?? '';
      if (text.trim()) texts.currentNode.nodeValue = text + 'ẽẽẽẽ ẽẽẽ'.repeat(text.length).slice(0, Math.ceil(text.length * 0.4));
    }
  });
}

/** The test of every screen in a language: axe finds nothing, nothing scrolls sideways, and there is no fault. */
export function testScreens(locale: 'en-GB' | 'pt-BR') {
  it(`every screen in ${locale} is found nothing in, from phones to desks, light and dark, zoomed and with longer words`, async () => {
    const screens = await screensOf(drawn && locale === 'en-GB');
    const page = await signedIn('root', { locale });
    for (const [screen, path] of screens) {
      await page.goto(path);
      await page.locator('main h1, main .title').first().waitFor();
      await page.waitForLoadState('networkidle');
      for (const { name, width, height, scheme, rules, longer } of looks) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: scheme });
        if (longer) await lengthen(page);
        // What a page changes with its size comes with the frame after.
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        if (rules) expect(await violationsOf(page, rules), `${screen}, ${name}`).toEqual([]);
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(sideways, `${screen}, ${name}, scrolls sideways`).toBeLessThanOrEqual(0);
        if (drawn && locale === 'en-GB' && chief.has(`${screen}-${name}`)) {
          mkdirSync(pictures, { recursive: true });
          await page.screenshot({ path: `${pictures}${screen}-${name}.png` });
        }
      }
    }
    expectNoFaults(page.context());
  });
}

/** What makes pictures look lived in: more customers, and half of one's money given back. */
async function crowd(subscription: string) {
  const names = ['Luana Teles', 'Otávio Brandão', 'Nadir Fontes', 'Caio Bragança', 'Estela Antunes', 'Ziraldo Pimenta', 'Breno Sales'];
  for (const [i, name] of names.entries()) await subscribed(name, i % 3 ? 'plus' : 'basic');
  await asRoot('POST', `/admin/gwb/subscriptions/${subscription}/refund`, { amount: 1495, reason: 'Half a month without sound' });
}
