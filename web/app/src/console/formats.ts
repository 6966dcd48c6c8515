import { language, m } from './messages/index.svelte';

// Money, instants and numbers as people of the language write them. Instants are told in the
// zone of the platform; their exact UTC is for the title.

const ZONE = 'America/Sao_Paulo';

/** Cents as R$ 29,90 or BRL 29.90. */
export function money(cents: number): string {
  const whole = new Intl.NumberFormat(language.tag, {
    style: 'currency', currency: 'BRL', currencyDisplay: language.locale === 'pt' ? 'symbol' : 'code',
  });
  return whole.format(cents / 100);
}

/** An amount that somebody typed, in cents; undefined where it is none. */
export function centsOf(typed: string): number | undefined {
  const plain = typed.replace(/[^\d.,]/g, '');
  const digits = /^(\d{1,3}(?:[.,]\d{3})*|\d+)(?:[.,](\d{1,2}))?$/.exec(plain);
  if (!digits?.[1] || plain !== typed.trim()) return undefined;
  return Number(digits[1].replace(/[.,]/g, '')) * 100 + Number((digits[2] ?? '').padEnd(2, '0'));
}

/** Cents as they are typed: 29,90 or 29.90. */
export function typedCents(cents: number): string {
  return (cents / 100).toFixed(2).replace('.', language.locale === 'pt' ? ',' : '.');
}

export function count(n: number): string { return new Intl.NumberFormat(language.tag).format(n); }

export function percent(n: number): string {
  return new Intl.NumberFormat(language.tag, { maximumFractionDigits: 1 }).format(n) + ' %';
}

export function instant(iso: string): string {
  return new Intl.DateTimeFormat(language.tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: ZONE })
    .format(new Date(iso));
}

export function day(iso: string): string {
  return new Intl.DateTimeFormat(language.tag, { dateStyle: 'medium', timeZone: ZONE }).format(new Date(iso));
}

/** A day in a file for spreadsheets: 31/12/2026 or 2026-12-31. */
export function csvDay(iso: string): string {
  const of = new Intl.DateTimeFormat(language.locale === 'pt' ? 'pt-BR' : 'sv-SE', { dateStyle: 'short', timeZone: ZONE });
  return of.format(new Date(iso));
}

/** The day on which it is now in the zone of the platform, as 2026-12-31. */
export function today(): string { return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone: ZONE }).format(); }

/** An instant in one, to the second in the zone of the platform. */
export function csvInstant(iso: string): string {
  const of = new Intl.DateTimeFormat('sv-SE', { timeStyle: 'medium', timeZone: ZONE });
  return `${csvDay(iso)} ${of.format(new Date(iso))}`;
}

function zoned(at: number, timeStyle: 'short' | 'medium'): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle, timeZone: ZONE }).format(at).replace(' ', 'T');
}

/** An instant as a form has it, 2026-12-31T20:30 in the zone of the platform. */
export function typedInstant(iso: string): string { return zoned(Date.parse(iso), 'short'); }

/** The instant that a form's text, with or without seconds, names in the zone of the platform, as ISO in UTC; undefined where it is none. */
export function instantOf(typed: string): string | undefined {
  const wanted = Date.parse(`${typed}Z`);
  if (Number.isNaN(wanted)) return undefined;
  // What the zone is ahead of UTC there, looked at twice: at a change of the clocks the first look may miss.
  let at = wanted;
  for (let i = 0; i < 2; i++) at = wanted - (Date.parse(`${zoned(at, 'medium')}Z`) - at);
  return new Date(at).toISOString();
}

/** Reais as R$ 29,90 or BRL 29.90. */
export function reais(amount: number): string { return money(Math.round(amount * 100)); }

/** A day of a plot, from seconds. */
export function shortDay(seconds: number): string {
  return new Intl.DateTimeFormat(language.tag, { day: 'numeric', month: 'short', timeZone: ZONE }).format(new Date(seconds * 1000));
}

/** An hour, without its year. */
export function hour(iso: string): string {
  return new Intl.DateTimeFormat(language.tag, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZone: ZONE })
    .format(new Date(iso));
}

/** A month of the API, 2026-11, as Nov 2026. */
export function month(yearMonth: string): string {
  return new Intl.DateTimeFormat(language.tag, { month: 'short', year: 'numeric', timeZone: 'UTC' })
    .format(new Date(`${yearMonth}-01T00:00:00Z`));
}

/** The exact instant, for the title of one that is told shortly. */
export function exactly(iso: string): string { return m().app.exactly(iso.replace('T', ' ').replace('Z', '')); }

/** A CPF or CNPJ with its dots. */
export function taxID(digits: string): string {
  if (digits.length === 11) return digits.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
  if (digits.length === 14) return digits.replace(/(..)(...)(...)(....)(..)/, '$1.$2.$3/$4-$5');
  return digits;
}

const SPANS = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000]] as const;

/** How far an instant is from now: 3 days ago, in 6 days; hours below two days, minutes below two hours. */
export function distance(iso: string, now = Date.now()): string {
  const away = Date.parse(iso) - now;
  const [unit, span] = SPANS.find(([, length]) => Math.abs(away) >= 2 * length) ?? SPANS[2];
  return new Intl.RelativeTimeFormat(language.tag).format(Math.trunc(away / span), unit);
}
