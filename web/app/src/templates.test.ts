import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('no template has a style of its own, which the policy of the pages refuses', () => {
  const src = new URL('./', import.meta.url).pathname;
  const templates = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.svelte'));
  expect(templates.length).toBeGreaterThan(100);
  const styled = /<[a-zA-Z][^>]*\sstyle\s*=\s*["'{`]/;
  expect(styled.test('<p style="color: red">')).toBe(true);
  expect(templates.filter((name) => styled.test(readFileSync(src + name, 'utf8')))).toEqual([]);
});
