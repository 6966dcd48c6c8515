import { readdirSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, inject, it } from 'vitest';
import { signedIn } from './browser';

const dist = new URL('../../dist/', import.meta.url).pathname;
const { url } = inject('platform');

it('what is kept is at most 5 MB', () => {
  const sizes = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) => statSync(dist + name)).filter((s) => s.isFile());
  expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(5_000_000);
});

it('pages are under a policy without inline scripts, files are kept for ever, and unknown files are 404', async () => {
  const page = await fetch(`${url}/console/customers`);
  expect(page.status).toBe(200);
  const policy = page.headers.get('Content-Security-Policy') ?? '';
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toContain('unsafe');
  expect(page.headers.get('Cache-Control')).toContain('no-cache');
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? '';
  const file = await fetch(url + script, { headers: { 'Accept-Encoding': 'br' } });
  expect(file.headers.get('Cache-Control')).toContain('immutable');
  expect(file.headers.get('Content-Encoding')).toBe('br');
  expect((await fetch(`${url}/assets/nothing.js`)).status).toBe(404);
});

it('no page carries a style or a script of its own', () => {
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.html'))) {
    expect(readFileSync(dist + name, 'utf8')).not.toMatch(/<style|<script(?![^>]*src=)|style="/);
  }
});

it('a page is painted soon, and nothing in it jumps', async () => {
  const page = await signedIn('root', {}, '/console/customers');
  await page.reload();
  await page.locator('tbody tr').first().waitFor();
  const seen = await page.evaluate(() => new Promise<{ paint: number; jumps: number }>((resolve) => {
    let jumps = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) jumps += (entry as PerformanceEntry & { value: number }).value;
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => { resolve({ paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1, jumps }); }, 500);
  }));
  process.stdout.write(`first contentful paint after ${seen.paint.toFixed(0)} ms, layout shift ${seen.jumps.toFixed(3)}\n`);
  expect(seen.paint).toBeGreaterThan(0);
  expect(seen.paint).toBeLessThan(10_000); // ten times the goal: the machine may be busy otherwise
  expect(seen.jumps).toBeLessThan(0.1);
});

it('before the first chart at most 200 kB of script are loaded, and no request goes elsewhere', async () => {
  const page = await signedIn('root', {}, '/console/customers');
  await page.locator('tbody tr').first().waitFor();
  const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(loaded.filter((name) => !name.startsWith(url))).toEqual([]);
  const scripts = [...new Set(loaded.filter((name) => name.endsWith('.js')))];
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(dist + new URL(name).pathname.slice(1))).length, 0);
  expect(bytes).toBeLessThan(200_000);
});
