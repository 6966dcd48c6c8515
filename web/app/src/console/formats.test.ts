import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['pt-BR'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
const { centsOf, instantOf, money, taxID, typedCents } = await import('./formats');

it('amounts are read as people type them, to the cent', () => {
  const typed: Record<string, number | undefined> = {
    '29,90': 2990, '29.90': 2990, '29': 2900, '0,05': 5, '1.234,56': 123456, '1,234.56': 123456, '10,5': 1050,
    '': undefined, abc: undefined, '-5': undefined, '1,2,3': undefined, '1.234': 123400, '5 reais': undefined,
  };
  for (const [text, cents] of Object.entries(typed)) expect(centsOf(text), text).toBe(cents);
});

it('what is prefilled is read back as it was', () => {
  for (const cents of [1, 99, 2990, 50000, 123456]) expect(centsOf(typedCents(cents))).toBe(cents);
});

it('money and tax ids are written as in Brazil', () => {
  expect(money(123456).replaceAll('\u00a0', ' ')).toBe('R$ 1.234,56');
  expect(taxID('52998224725')).toBe('529.982.247-25');
  expect(taxID('12ABC34501DE35')).toBe('12.ABC.345/01DE-35');
});

it('a time that is typed is one in the zone of the platform, wherever the browser is', () => {
  expect(instantOf('2026-12-31T21:30')).toBe('2027-01-01T00:30:00.000Z');
  expect(instantOf('2017-12-31T12:00:05')).toBe('2017-12-31T14:00:05.000Z'); // in the summer time of then
});
