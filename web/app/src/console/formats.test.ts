import { expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['pt-BR'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
const { centsOf, instantOf, money, reais, taxID, typedCents, typedInstant } = await import('./formats');

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

it('instants are typed in the zone of the platform, also of the years that had summer time', () => {
  for (const [typed, iso] of [['2026-11-30T20:30', '2026-11-30T23:30:00.000Z'], ['2018-12-24T20:30', '2018-12-24T22:30:00.000Z']] as const) {
    expect(instantOf(typed)).toBe(iso);
    expect(typedInstant(iso)).toBe(typed);
  }
  expect(instantOf('')).toBeUndefined();
  expect(reais(29.9).replaceAll('\u00a0', ' ')).toBe('R$ 29,90');
  expect(instantOf('2017-12-31T12:00:05')).toBe('2017-12-31T14:00:05.000Z');
});
