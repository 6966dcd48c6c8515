import { expect, it, vi } from 'vitest';
import type { Kind, Property, Schema } from '../../api/document';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['en'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
const { faultsOf } = await import('./filter_faults');

const field = (name: string, kind: Kind, values: string[] = [], schema: Schema = {}): Property => ({
  name, kind, values, required: false, nullable: true, readOnly: false, schema,
});
const fields = [
  field('email', 'text'), field('_id', 'id'), field('status', 'enum', ['active', 'pending']), field('created_at', 'instant'),
  field('amount', 'number'), field('enable', 'boolean'), field('labels', 'list', [], { items: { type: 'string' } }),
  field('rows', 'list', [], { items: { type: 'object' } }), field('payload', 'json'),
];
const id = '65a000000000000000000001';

it.each([
  { email: 'a', status: 'active' }, { email: null }, { email: { $ne: null } }, { email: { $regex: '^a', $options: 'i' } },
  { email: { $in: ['a', { $regex: 'b' }] } }, { email: { $not: { $regex: 'a' } } }, { email: { $exists: true } },
  { _id: id }, { _id: { $oid: id } }, { _id: { $in: [id, null] } }, { amount: { $gte: 1, $lt: 2 } }, { amount: { $numberLong: '5' } },
  { amount: { $mod: [2, 0] } }, { enable: true }, { enable: { $ne: false } }, { created_at: '2026-01-02' },
  { created_at: { $gte: '2026-01-02T03:04:05.678Z', $lt: '2026-02-01T00:00:00-03:00' } }, { created_at: { $date: 1 } },
  { labels: 'x' }, { 'labels.0': 'x' }, { labels: { $size: 2 } }, { labels: ['a'] }, { 'rows.name': 'x' }, { 'payload.data.id': 5 },
  { $or: [{ email: 'a' }, { $and: [{ amount: 1 }] }], $comment: 'x' }, {},
])('%j is right', (filter) => { expect(faultsOf(filter, fields)).toEqual([]); });

it.each([
  [{ nope: 'x' }, 'nope'], [{ nope: null }, 'nope'], [{ 'email.sub': null }, 'email.sub'], [{ 'labels.x': 'a' }, 'labels.x'],
  [{ $or: [{ email: 'a' }, { $nor: [{ nope: 1 }] }] }, 'nope'], [{ email: 5 }, 'email'], [{ _id: 'abc' }, '_id'],
  [{ _id: { $in: ['abc'] } }, '_id'], [{ status: 'aktive' }, 'status'], [{ status: { $in: ['active', 'x'] } }, 'status'],
  [{ amount: '12' }, 'amount'], [{ amount: { $gte: '12' } }, 'amount'], [{ amount: { $not: { $lt: 'x' } } }, 'amount'],
  [{ amount: { $regex: '9' } }, 'amount'], [{ enable: 'true' }, 'enable'], [{ created_at: { $gte: 'yesterday' } }, 'created_at'],
  [{ created_at: { $gte: 0 } }, 'created_at'], [{ email: ['x'] }, 'email'],
])('%j is wrong, and says where', (filter, name) => {
  const faults = faultsOf(filter, fields);
  expect(faults.map((fault) => fault.field)).toEqual([name]);
  expect(faults[0]?.says).toContain(name);
});
