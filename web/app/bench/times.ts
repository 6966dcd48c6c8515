import type { Page } from 'playwright-core';
import { afterAll } from 'vitest';

// Each is done ROUNDS times, after once for nothing; the median stands beside the least and the most, and the goal.
const ROUNDS = Number(process.env['ROUNDS'] ?? 15);
const table: string[] = [];

afterAll(() => {
  const { SCALE = '', WEBHOOKS = '' } = process.env;
  process.stdout.write([
    '', `${SCALE} subscriptions, ${WEBHOOKS} webhook calls, ${String(ROUNDS)} rounds; milliseconds`, '',
    '| what | median | least–most | goal |', '|---|---|---|---|', ...table, '',
  ].join('\n'));
});

/** Does a thing, and writes its times into the table. */
export async function times(what: string, goal: number, once: (round: number) => Promise<number>) {
  await once(0);
  const took: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) took.push(await once(round));
  took.sort((a, b) => a - b);
  const at = (i: number) => (took[i] ?? 0).toFixed(0);
  table.push(`| ${what} | ${at(Math.floor(ROUNDS / 2))} | ${at(0)}–${at(ROUNDS - 1)} | ${String(goal)} |`);
}

/** From an act until what it brings has been painted, by the page's own clock. */
export async function until(page: Page, act: () => Promise<unknown>, there: () => Promise<unknown>): Promise<number> {
  const now = () => page.evaluate(() => performance.now());
  const began = await now();
  await act();
  await there();
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => { setTimeout(resolve); }); }));
  return (await now()) - began;
}
