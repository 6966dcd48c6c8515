import { expect, it } from 'vitest';
import { fit } from './logo';

it('a logo keeps its shape within 512 pixels; only what is drawn by lines is enlarged', () => {
  expect(fit(1024, 256, false)).toEqual([512, 128]);
  expect(fit(100, 50, false)).toEqual([100, 50]);
  expect(fit(100, 50, true)).toEqual([512, 256]);
  expect(fit(5000, 1, true)).toEqual([512, 1]);
});
