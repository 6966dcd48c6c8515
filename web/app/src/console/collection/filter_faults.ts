import type { Kind, Property } from '../../api/document';
import { m } from '../messages/index.svelte';
import type { Filter } from './filter';

// The API takes a field that it does not know for one that no record has, and a value of another type for one that
// nothing is equal to: it answers an empty list. People are told which field it is, by the API's document, instead.

export interface Fault { field: string; says: string }

const LOGIC = new Set(['$and', '$or', '$nor']);
const COMPARED = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
const LISTED = new Set(['$in', '$nin', '$all']);
const NESTED = new Set(['$not', '$elemMatch']);

/** What is wrong with a filter of a list with these fields, the first fault of each field. */
export function faultsOf(filter: Filter, fields: Property[]): Fault[] {
  const found = new Map<string, string>();
  walk(filter, fields, found);
  return [...found].map(([field, says]) => ({ field, says }));
}

function walk(filter: Filter, fields: Property[], found: Map<string, string>) {
  for (const [name, member] of Object.entries(filter)) {
    if (LOGIC.has(name)) {
      for (const part of Array.isArray(member) ? member : []) if (isObject(part)) walk(part, fields, found);
    } else if (!name.startsWith('$') && !found.has(name)) {
      const says = faultOf(name, member, fields);
      if (says) found.set(name, says);
    }
  }
}

function faultOf(name: string, member: unknown, fields: Property[]): string | undefined {
  const [root = '', ...below] = name.split('.');
  const field = fields.find((one) => one.name === root);
  if (!field) return m().table.noField(name);
  if (!below.length) return valueFault(name, member, field);
  const item = field.kind === 'list' && (below.length > 1 || !/^\d+$/.test(below[0] ?? '')) && !holdsObjects(field);
  return item || field.kind !== 'list' && field.kind !== 'json' ? m().table.noField(name) : undefined;
}

/** A list of objects or of anything: what stands in these is not looked at. */
function holdsObjects({ schema }: Property): boolean {
  const of = [schema.items?.type ?? []].flat();
  return !!schema.items?.$ref || !of.length || of.includes('object');
}

function valueFault(name: string, member: unknown, field: Property): string | undefined {
  if (!isObject(member) || isValue(member)) return fits(member, field) ? undefined : says(name, field);
  for (const [operator, value] of Object.entries(member)) {
    if (operator === '$regex' && field.kind !== 'text' && field.kind !== 'enum' && field.kind !== 'list' && field.kind !== 'json') {
      return m().table.noText(name);
    }
    const wrong = COMPARED.has(operator) ? !fits(value, field)
      : LISTED.has(operator) ? Array.isArray(value) && !value.every((one) => fits(one, field))
        : false;
    if (wrong) return says(name, field);
    const inner = NESTED.has(operator) && isObject(value) ? valueFault(name, value, field) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

const says = (name: string, field: Property) =>
  field.kind === 'enum' ? m().table.badEnum(name, field.values.join(', ')) : m().table.badValue(name, m().table.kinds[field.kind]);

const ID = /^[0-9a-f]{24}$/i;
const INSTANT = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Whether a value can be equal to, or be compared with, one of the field. Null asks for what is not there. */
function fits(value: unknown, field: Property): boolean {
  if (value === null || isObject(value) && '$regex' in value) return true;
  return FITS[field.kind](value, field);
}

const FITS: Record<Kind, (value: unknown, field: Property) => boolean> = {
  text: (value) => typeof value === 'string',
  id: (value) => typeof value === 'string' ? ID.test(value) : isValue(value) && '$oid' in value,
  instant: (value) => typeof value === 'string' ? INSTANT.test(value) && !Number.isNaN(Date.parse(value.replace(' ', 'T'))) : isValue(value) && '$date' in value,
  number: (value) => typeof value === 'number' || isValue(value) && Object.keys(value).every((key) => key.startsWith('$number')),
  boolean: (value) => typeof value === 'boolean',
  enum: (value, { values }) => values.includes(String(value)),
  list: () => true,
  json: () => true,
};

/** An object that stands for a value, such as {"$oid": "…"}: no condition. */
function isValue(value: unknown): value is Record<string, unknown> {
  return isObject(value) && Object.keys(value).some((key) => key === '$oid' || key === '$date' || key.startsWith('$number') || key === '$regularExpression');
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
