import { readPage, type Page, type PageQuery } from '../../api/client';
import type { Property } from '../../api/document';
import { fieldLabel, language } from '../messages/index.svelte';
import { filterOf } from './address';
import { exported } from './cell';

// A list as a file: its filter, order and columns, and every row of it. Spreadsheets of the language open it as it is:
// UTF-8 with its mark, lines that end in CRLF, and in Portuguese semicolons, decimal commas and dd/mm/yyyy.

/** As many rows as a collection of the API gives at once. */
export const AT_ONCE = 1000;

/** From how many rows on it is said beforehand that it takes long. */
export const MANY = 50_000;

/** Some rows of a list, how many it has, and whether these are its last. */
export interface Part<T> { rows: T[]; total: number; last: boolean }

/** What a list is to a file. */
export interface Source<T> {
  heads: string[];
  cells: (row: T) => string[];
  idOf: (row: T) => string;
  /** The rows of a page from 0 on; before is the last row of the page before it. */
  read: (page: number, signal: AbortSignal, before: T | undefined) => Promise<Part<T>>;
}

const FORMULA = /^[ \u00a0\u200b\ufeff\v\f\0]*[=+\-@\t\r\n＝＋－＠]/;
const NUMERAL = /^[+-]\d+(?:[.,]\d+)?$/;

/** A text that no spreadsheet takes for a formula, as the API's own exports write it: signed numbers stay as they are. */
export function neutral(text: string): string { return FORMULA.test(text) && !NUMERAL.test(text) ? `'${text}` : text; }

/** A line of the file. */
export function line(cells: string[]): string {
  return cells.map((cell) => `"${neutral(cell).replaceAll('"', '""')}"`).join(language.locale === 'pt' ? ';' : ',') + '\r\n';
}

/** The order with the id as its last key, so that pages do not overlap; one that nobody chose is the API's, which has it. */
export function exactSort(sort: string | undefined): string | undefined {
  const keys = filterOf(sort ?? '');
  if (!keys || !Object.keys(keys).length) return sort;
  return JSON.stringify('_id' in keys ? keys : { ...keys, _id: 1 });
}

type Row = Record<string, unknown>;
type Read = (path: string, ask: PageQuery, signal?: AbortSignal) => Promise<Page<Row>>;

/** A collection of the API, or the search over it, with the columns that are chosen. */
export function collectionSource(path: string, ask: Pick<PageQuery, 'query' | 'sort' | 'q'>, columns: Property[], read: Read = readPage): Source<Row> {
  const sort = exactSort(ask.sort);
  return {
    heads: columns.map(({ name }) => fieldLabel(name)),
    cells: (row) => columns.map((field) => exported(field, row[field.name])),
    idOf: (row) => String(row['_id']),
    read: async (page, signal) => {
      const { docs, pagination } = await read(path, { ...ask, ...(sort && { sort }), page, size: AT_ONCE }, signal);
      return { rows: docs, total: pagination.qty_total_docs, last: docs.length < AT_ONCE };
    },
  };
}

/** How far an export is, and how many rows the list had when its last page was read. */
export interface Progress { done: number; total: number }

/**
 * Reads a list to its end, and gives the parts of its file; a row that moved to a later page meanwhile stands in it
 * once. It throws what reading throws, also when the signal ends it.
 */
export async function exportList<T>(source: Source<T>, signal: AbortSignal, onprogress: (at: Progress) => void): Promise<string[]> {
  const parts = [`\ufeff${line(source.heads)}`];
  const seen = new Set<string>();
  let before: T | undefined;
  for (let page = 0; ; page++) {
    const { rows, total, last } = await source.read(page, signal, before);
    signal.throwIfAborted();
    const fresh = rows.filter((row) => !seen.has(source.idOf(row)));
    fresh.forEach((row) => seen.add(source.idOf(row)));
    parts.push(fresh.map((row) => line(source.cells(row))).join(''));
    onprogress({ done: seen.size, total });
    if (last) return parts;
    before = rows.at(-1);
  }
}

/** The name of the file of a list. */
export function fileName(label: string, day: string): string {
  const plain = label.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  return `${plain}-${day}.csv`;
}
