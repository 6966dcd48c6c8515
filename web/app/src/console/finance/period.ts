import { instantOf, today } from '../formats';
import { href } from '../router.svelte';

// A period of days or months, both ends included, and the one that it is compared with.

export type Unit = 'monthly' | 'daily';
export type Against = 'none' | 'before' | 'year';
export interface Period { unit: Unit; start: string; end: string } // 2026-11-30

const utc = (day: string) => new Date(`${day}T00:00:00Z`);
const text = (at: Date) => at.toISOString().slice(0, 10);

/** A day some days later; earlier for a negative number. */
export function plusDays(day: string, n: number): string {
  const at = utc(day);
  at.setUTCDate(at.getUTCDate() + n);
  return text(at);
}

/** The same day some months later, or the last of that month. */
export function plusMonths(day: string, n: number): string {
  const at = utc(day);
  const wanted = at.getUTCDate();
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() + n);
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  at.setUTCDate(Math.min(wanted, last));
  return text(at);
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const isDay = (given: string | null): given is string => !!given && DAY.test(given) && !Number.isNaN(utc(given).getTime());

/** The period of an address; without one the last 30 days, or this month and the six before it. */
export function periodOf(params: URLSearchParams, now = today()): Period {
  const unit: Unit = params.get('period') === 'daily' ? 'daily' : 'monthly';
  const [from, to] = [params.get('start'), params.get('end')];
  const end = isDay(to) ? to : now;
  const start = isDay(from) && from <= end ? from : unit === 'daily' ? plusDays(end, -29) : `${plusMonths(end, -6).slice(0, 7)}-01`;
  return { unit, start, end };
}

/** With what an address compares. */
export function againstOf(params: URLSearchParams): Against {
  const given = params.get('against');
  return given === 'before' || given === 'year' ? given : 'none';
}

/** The period that one is compared with: as many days or months right before it, or the same a year before. */
export function comparedWith({ unit, start, end }: Period, against: Against): Period | undefined {
  if (against === 'none') return undefined;
  if (against === 'year') return { unit, start: plusMonths(start, -12), end: plusMonths(end, -12) };
  if (unit === 'daily') {
    const days = Math.round((utc(end).getTime() - utc(start).getTime()) / 864e5) + 1;
    return { unit, start: plusDays(start, -days), end: plusDays(start, -1) };
  }
  const months = (Number(end.slice(0, 4)) - Number(start.slice(0, 4))) * 12 + Number(end.slice(5, 7)) - Number(start.slice(5, 7)) + 1;
  return { unit, start: plusMonths(start, -months), end: plusMonths(end, -months) };
}

/** The days of a row of a series, as instants of the filter of a list; the second is not included. */
export function spanOf(date: string): [string, string] {
  const first = date.length === 7 ? `${date}-01` : date;
  return [first, date.length === 7 ? plusMonths(first, 1) : plusDays(first, 1)];
}

/** The address of the list of a record's instants in a span of days, and of what else they have. */
export function listOf(path: string, field: string, [from, to]: [string, string], also: Record<string, unknown> = {}): string {
  const query = { ...also, [field]: { $gte: instantOf(`${from}T00:00`), $lt: instantOf(`${to}T00:00`) } };
  return href(`${path}?query=${encodeURIComponent(JSON.stringify(query))}`);
}
