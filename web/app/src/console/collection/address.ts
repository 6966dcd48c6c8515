import { router } from '../router.svelte';
import type { Filter } from './filter';

// What a list shows stands in the address: q, query, sort, page, size, columns.

export interface ListState {
  q: string;
  query: string; // JSON, or ''
  sort: string; // JSON, or ''
  page: number;
  size: number;
  columns: string[] | undefined;
}

export const SIZES = [25, 50, 100];

export function listState(): ListState {
  const params = router.params;
  const size = Number(params.get('size'));
  return {
    q: params.get('q') ?? '',
    query: params.get('query') ?? '',
    sort: params.get('sort') ?? '',
    page: Math.max(0, (Number(params.get('page')) || 1) - 1),
    size: SIZES.includes(size) ? size : 25,
    columns: columnsOf(params.get('columns')),
  };
}

/** The columns of a text, each once; undefined where it names none. */
export function columnsOf(text: string | null): string[] | undefined {
  const names = [...new Set(text?.split(',').map((name) => name.trim()).filter(Boolean))];
  return names.length ? names : undefined;
}

/** The columns that are shown: those chosen that there are, or else the usual ones. */
export function shownColumns(chosen: string[] | undefined, usual: string[], fields: { name: string }[]): string[] {
  const known = chosen?.filter((column) => fields.some(({ name }) => name === column)) ?? [];
  return known.length ? known : usual;
}

/** The filter of a text; undefined where it is not JSON of an object. */
export function filterOf(json: string): Filter | undefined {
  if (!json) return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Filter) : undefined;
  } catch {
    return undefined;
  }
}

export function jsonOf(filter: Filter): string { return Object.keys(filter).length ? JSON.stringify(filter) : ''; }
