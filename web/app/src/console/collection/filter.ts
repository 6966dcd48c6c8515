import type { Kind, Property } from '../../api/document';

// Chips are the members of the filter that the API takes: nothing stands in one that is not in the other.

export type Filter = Record<string, unknown>;
export type Condition = 'is' | 'isNot' | 'contains' | 'begins' | 'isEmpty' | 'notEmpty' | 'atLeast' | 'atMost' | 'since' | 'before' | 'other';

export interface Chip { field: string; condition: Condition; value: string }

const OF_KIND: Record<Kind, Condition[]> = {
  text: ['contains', 'is', 'begins', 'isNot', 'isEmpty', 'notEmpty'],
  id: ['is', 'isNot', 'isEmpty', 'notEmpty'],
  instant: ['since', 'before', 'isEmpty', 'notEmpty'],
  number: ['atLeast', 'atMost', 'is', 'isEmpty'],
  boolean: ['is'],
  enum: ['is', 'isNot', 'isEmpty', 'notEmpty'],
  list: ['is', 'isEmpty'],
  json: ['isEmpty', 'notEmpty'],
};

export function conditionsOf(kind: Kind): Condition[] { return OF_KIND[kind]; }

/** Which conditions take no value. */
export function bare(condition: Condition): boolean { return condition === 'isEmpty' || condition === 'notEmpty'; }

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const unescaped = (pattern: string) => pattern.replace(/\\([.*+?^${}()|[\]\\])/g, '$1');

function valueOf(kind: Kind, typed: string): unknown {
  if (kind === 'number') {
    const number = Number(typed.replace(',', '.'));
    return Number.isNaN(number) ? typed : number; // what is no number stands in its chip, which says so
  }
  if (kind === 'boolean') return typed === 'true';
  return typed;
}

/** The member of the filter that a chip stands for. */
export function memberOf(condition: Condition, kind: Kind, typed: string): unknown {
  const value = valueOf(kind, typed);
  switch (condition) {
    case 'isNot': return { $ne: value };
    case 'contains': return { $regex: escaped(typed), $options: 'i' };
    case 'begins': return { $regex: `^${escaped(typed)}`, $options: 'i' };
    case 'isEmpty': return null;
    case 'notEmpty': return { $ne: null };
    case 'atLeast':
    case 'since': return { $gte: value };
    case 'atMost': return { $lte: value };
    case 'before': return { $lt: value };
    default: return value;
  }
}

/** The filter with one more chip: a second condition on a field stands beside the first. */
export function withMember(filter: Filter, field: string, member: unknown): Filter {
  const there = filter[field];
  if (isObject(there) && isObject(member)) return { ...filter, [field]: { ...there, ...member } };
  return { ...filter, [field]: member };
}

/** The chips of a filter, in its order. */
export function chipsOf(filter: Filter, fields: Property[]): Chip[] {
  return Object.entries(filter).flatMap(([field, member]) => {
    const kind = fields.find(({ name }) => name === field)?.kind ?? 'text';
    return partsOf(member).map((part) => ({ field, ...read(part, kind) }));
  });
}

/** The filter without a chip. */
export function withoutChip(filter: Filter, gone: number): Filter {
  let index = 0;
  let rest: Filter = {};
  for (const [field, member] of Object.entries(filter)) {
    for (const part of partsOf(member)) {
      if (index++ !== gone) rest = withMember(rest, field, part);
    }
  }
  return rest;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function partsOf(member: unknown): unknown[] {
  if (!isObject(member) || '$regex' in member) return [member];
  return Object.entries(member).map(([operator, value]) => ({ [operator]: value }));
}

function read(part: unknown, kind: Kind): Omit<Chip, 'field'> {
  if (part === null) return { condition: 'isEmpty', value: '' };
  if (!isObject(part)) return { condition: Array.isArray(part) ? 'other' : 'is', value: shown(part) };
  const pattern = part['$regex'];
  if (typeof pattern === 'string') {
    const begins = pattern.startsWith('^');
    return { condition: begins ? 'begins' : 'contains', value: unescaped(begins ? pattern.slice(1) : pattern) };
  }
  const [operator, value] = Object.entries(part)[0] ?? [];
  switch (operator) {
    case '$ne': return value === null ? { condition: 'notEmpty', value: '' } : { condition: 'isNot', value: shown(value) };
    case '$gte': return { condition: kind === 'instant' ? 'since' : 'atLeast', value: shown(value) };
    case '$lte': return { condition: 'atMost', value: shown(value) };
    case '$lt': return { condition: 'before', value: shown(value) };
    default: return { condition: 'other', value: JSON.stringify(part) };
  }
}

function shown(value: unknown): string { return typeof value === 'string' ? value : JSON.stringify(value); }
