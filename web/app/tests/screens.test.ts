import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectNoFaults, signedIn, type Look } from './browser';
import { asRoot, subscribed } from './people';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = new URL('../../../docs/pictures/', import.meta.url).pathname;

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe); // past the policy, which lets no script in
  const results = await page.evaluate(() => (window as unknown as { axe: { run: (o: object) => Promise<AxeResults> } })
    .axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
  return results.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`));
}

let screens: [name: string, path: string][] = [];

beforeAll(async () => {
  const customer = await subscribed('Marta Vilar');
  const { docs } = await asRoot<{ docs: { _id: string }[] }>('GET', '/webhook-logs?qty_docs_page=1');
  const audit = await asRoot<{ docs: { _id: string }[] }>('GET', '/audit-log?qty_docs_page=1');
  screens = [
    ['home', '/console/'], ['customers', '/console/customers'], ['customer', `/console/customers/${customer.id}`],
    ['subscriptions', '/console/subscriptions'], ['overdue', '/console/subscriptions/overdue'],
    ['payments', '/console/payments'], ['refunds', '/console/payments/refunds'], ['refunded', '/console/payments/refunded'], ['unapplied', '/console/payments/unapplied'],
    ['webhooks', '/console/webhooks'], ['webhook', `/console/webhooks/${docs[0]?._id ?? ''}`],
    ['settings', '/console/settings'], ['plans', '/console/settings/plans'], ['users', '/console/settings/users'],
    ['jobs', '/console/settings/jobs'], ['invariants', '/console/settings/invariants'],
    ['profiles', '/console/settings/profiles'], ['audit', '/console/settings/audit'],
    ['entry', `/console/settings/audit/${audit.docs[0]?._id ?? ''}`], ['nothing', '/console/nothing'],
  ];
});

const looks: [string, Look][] = [
  ['desk, light, English', { scheme: 'light', locale: 'en-GB' }],
  ['desk, dark, Portuguese', { scheme: 'dark', locale: 'pt-BR' }],
  ['phone, light, Portuguese', { width: 360, height: 640, scheme: 'light', locale: 'pt-BR' }],
  ['phone, dark, English', { width: 360, height: 640, scheme: 'dark', locale: 'en-GB' }],
];

describe.each(looks)('every screen, %s', { timeout: 240_000 }, (name, look) => {
  it('has nothing that axe finds, no sideways scrolling and no fault', async () => {
    const page = await signedIn('root', look);
    for (const [screen, path] of screens) {
      await page.goto(path);
      await page.locator('main h1, main .title').first().waitFor();
      await page.waitForLoadState('networkidle');
      expect(await violationsOf(page), `${screen}, ${name}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${screen} scrolls sideways`).toBeLessThanOrEqual(0);
      if (process.env['PICTURES'] === '1') {
        mkdirSync(pictures, { recursive: true });
        const file = `${screen}-${look.width ? 'phone' : 'desk'}-${look.scheme ?? 'light'}.png`;
        if (chief.has(file)) await page.screenshot({ path: pictures + file });
      }
    }
    expectNoFaults(page.context());
  });
});

const chief = new Set(['home-desk-light.png', 'customer-desk-light.png', 'customer-phone-dark.png', 'webhook-desk-dark.png']);

it('what opens over a page is found nothing in either', async () => {
  const page = await signedIn('root', {}, screens.find(([name]) => name === 'customer')?.[1]);
  const open: [string, () => Promise<void>][] = [
    ['search', () => page.keyboard.press('/')],
    ['help', () => page.keyboard.press('?')],
    ['edit', () => page.getByRole('button', { name: 'Edit' }).click()],
    ['refund', () => page.getByRole('button', { name: 'Refund', exact: true }).click()],
    ['menu', () => page.getByRole('button', { name: 'Acts on this customer' }).click()],
  ];
  for (const [name, act] of open) {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await act();
    await page.locator('[role="dialog"], [role="menu"]').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await violationsOf(page), name).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('[role="dialog"], [role="menu"]').waitFor({ state: 'detached' });
  }
  expectNoFaults(page.context());
});
