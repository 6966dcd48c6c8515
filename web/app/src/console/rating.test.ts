import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Relative luminance of a colour, as WCAG has it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

it('each sign of an age rating has a colour of its own, and a letter that stands out from it', () => {
  const source = readFileSync(new URL('./Rating.svelte', import.meta.url), 'utf8');
  const signs = [...source.matchAll(/\.age-(\w+) \{ background: (#\w{6}); color: (#\w{6});/g)].map(([, rating = '', ground = '', letter = '']) => ({ rating, ground, letter }));
  expect(signs.map(({ rating }) => rating)).toEqual(['L', '10', '12', '14', '16', '18']);
  expect(new Set(signs.map(({ ground }) => ground)).size).toBe(6);
  for (const { rating, ground, letter } of signs) {
    const [light = 0, dark = 0] = [luminance(ground), luminance(letter)].sort((a, b) => b - a);
    expect((light + 0.05) / (dark + 0.05), rating).toBeGreaterThanOrEqual(4.5);
  }
});
