import { expect, it, vi } from 'vitest';

vi.stubGlobal('location', { href: 'http://localhost/console/', pathname: '/console/', search: '' });
vi.stubGlobal('history', {});
vi.stubGlobal('addEventListener', () => undefined);
const { columnsOf, filterOf } = await import('./address');

it('a column counts once', () => {
  expect(columnsOf('full_name,email,,full_name')).toEqual(['full_name', 'email']);
  expect(columnsOf(',')).toBeUndefined();
  expect(columnsOf(null)).toBeUndefined();
});

it('only an object is a filter', () => {
  for (const text of ['{bad', '[]', 'null', '"x"', '1']) expect(filterOf(text), text).toBeUndefined();
  expect(filterOf('')).toEqual({});
  expect(filterOf('{"a":1}')).toEqual({ a: 1 });
});
