import { expect, it } from 'vitest';
import { expectNoFaults, signedIn } from './browser';
import { subscribed } from './people';
import { violationsOf } from './screens';

it('what opens over a page is found nothing in either', async () => {
  const { id } = await subscribed('Olga Torres');
  const page = await signedIn('root', {}, `/console/customers/${id}`);
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
