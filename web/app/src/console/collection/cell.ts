import type { Property } from '../../api/document';
import type { Tone } from '../../ui/Status.svelte';
import { csvDay, csvInstant, day, exactly, instant, money, reais, taxID, typedCents } from '../formats';
import { language, word } from '../messages/index.svelte';

/** How a value is shown. */
export interface Shown { text: string; title?: string; tone?: Tone; mono?: boolean; number?: boolean }

/** Fields that are cents, which people read and type as money. */
export const CENTS = new Set(['amount', 'total_refunded', 'amount_refunded']);
/** Fields whose numbers are reais. */
export const REAIS = new Set(['ticket_value', 'discount_first_month', 'unit_price', 'total', 'refunded']);
const DAYS = new Set(['next_billing_date', 'expires_at']);
const STATES = new Set(['status', 'state']);

const TONES: Record<string, Tone> = {
  active: 'good', done: 'good', refunded: 'good', consumed: 'idle', urgent: 'bad', high: 'warn', medium: 'idle', low: 'idle', paid: 'good', reserved: 'busy', refund_due: 'warn', won: 'good', processed: 'good', succeeded: 'good', ok: 'good',
  pending: 'busy', requested: 'busy', refunding: 'busy', queued: 'busy', running: 'busy', open: 'warn', inquiry: 'warn',
  suspended: 'warn', degraded: 'warn', failed: 'bad', lost: 'bad', cancelled: 'idle', expired: 'idle', available: 'good',
};

export function toneOf(state: string): Tone { return TONES[state] ?? 'idle'; }

/** Whether a column of the field is one of numbers, which stand on the right. */
export function numeric(field: Property): boolean { return field.kind === 'number'; }

export function shown(field: Property, value: unknown): Shown {
  if (value === null || value === undefined || value === '') return { text: '' };
  if (typeof value === 'string') return shownText(field, value);
  if (typeof value === 'boolean') return { text: word(String(value)) };
  if (typeof value === 'number') {
    return { text: CENTS.has(field.name) ? money(value) : REAIS.has(field.name) ? reais(value) : String(value), number: true };
  }
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) {
    return { text: value.length > 1 ? `${value.length}: ${value.join(', ')}` : value.join(), title: value.join('\n') };
  }
  const json = JSON.stringify(value);
  return { text: json, title: json, mono: true };
}

function shownText(field: Property, value: string): Shown {
  if (STATES.has(field.name)) return { text: word(value), tone: toneOf(value) };
  switch (field.kind) {
    case 'enum': return { text: word(value) };
    case 'instant': return { text: DAYS.has(field.name) ? day(value) : instant(value), title: exactly(value) };
    case 'id': return { text: value, mono: true, title: value };
    default: return { text: field.name === 'tax_id' ? taxID(value) : value, title: value };
  }
}

/** How a value stands in a file for spreadsheets: numbers without their currency, days and instants as dates. */
export function exported(field: Property, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') {
    if (REAIS.has(field.name)) return typedCents(Math.round(value * 100));
    return CENTS.has(field.name) ? typedCents(value) : String(value).replace('.', language.locale === 'pt' ? ',' : '.');
  }
  if (typeof value === 'string' && field.kind === 'instant') return DAYS.has(field.name) ? csvDay(value) : csvInstant(value);
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value.join(', ');
  return shown(field, value).text;
}
