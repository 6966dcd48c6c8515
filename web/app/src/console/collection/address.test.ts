import { expect, it, vi } from 'vitest';

vi.stubGlobal('location', { href: 'http://localhost/console/', pathname: '/console/', search: '' });
vi.stubGlobal('history', {});
vi.stubGlobal('addEventListener', () => undefined);
const { columnsOf, filterOf, shownColumns } = await import('./address');

it('a column counts once', () => {
  expect(columnsOf('full_name,email,,full_name')).toEqual(['full_name', 'email']);
  expect(columnsOf(',')).toBeUndefined();
  expect(columnsOf(null)).toBeUndefined();
});

it('columns that there are not are dropped, and without any the usual ones are shown', () => {
  const fields = [{ name: 'email' }, { name: 'full_name' }];
  expect(shownColumns(['password', 'email', 'nope'], ['full_name'], fields)).toEqual(['email']);
  expect(shownColumns(['password', 'nope'], ['full_name'], fields)).toEqual(['full_name']);
  expect(shownColumns(undefined, ['full_name'], fields)).toEqual(['full_name']);
});

it('only an object is a filter', () => {
  for (const text of ['{bad', '[]', 'null', '"x"', '1']) expect(filterOf(text), text).toBeUndefined();
  expect(filterOf('')).toEqual({});
  expect(filterOf('{"a":1}')).toEqual({ a: 1 });
});
