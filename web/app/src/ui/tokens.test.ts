import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// What is written in a colour is read on every ground that it may stand on: WCAG 2.2, 1.4.3.
const css = readFileSync(new URL('tokens.css', import.meta.url), 'utf8');
const colours = new Map([...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = '', light = '', dark = '']) => [name, [light, dark]]));

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one: string, other: string): number {
  const [more = 0, less = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (more + 0.05) / (less + 0.05);
}

it('words in a colour have 4.5:1 on the grounds of both themes', () => {
  for (const words of ['n10', 'n11', 'n12', 'accent', 'warn', 'bad', 'good']) {
    for (const ground of ['n1', 'n2']) {
      for (const theme of [0, 1]) {
        const [word, on] = [colours.get(words)?.[theme] ?? '', colours.get(ground)?.[theme] ?? ''];
        expect(contrast(word, on), `${words} on ${ground}: ${word} on ${on}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  }
});
