import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { en } from './en';
import { pt } from './pt';

function keysOf(messages: object, before = ''): string[] {
  return Object.entries(messages).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value as object, `${before}${key}.`) : [`${before}${key}/${typeof value}`]);
}

it('both languages have the same messages', () => {
  expect(keysOf(pt).sort()).toEqual(keysOf(en).sort());
});

it('no message is empty', () => {
  for (const messages of [en, pt]) expect(JSON.stringify(messages)).not.toContain('""');
});

function enumsOf(node: unknown, found: Set<string>): Set<string> {
  if (typeof node !== 'object' || node === null) return found;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'enum' && Array.isArray(value)) value.filter((one) => one !== null).forEach((one) => found.add(String(one)));
    else enumsOf(value, found);
  }
  return found;
}

it('every value of an enum of the API has a word in both', () => {
  const document: unknown = JSON.parse(readFileSync(new URL('../../api/openapi.json', import.meta.url), 'utf8'));
  const values = [...enumsOf(document, new Set())];
  expect(values.length).toBeGreaterThan(50);
  for (const [language, { words }] of Object.entries({ en, pt })) {
    expect(values.filter((value) => !(value in words)), `without a word in ${language}`).toEqual([]);
  }
});
