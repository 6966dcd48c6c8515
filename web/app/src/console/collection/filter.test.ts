import { describe, expect, it } from 'vitest';
import type { Kind, Property } from '../../api/document';
import { chipsOf, conditionsOf, memberOf, withMember, withoutChip } from './filter';

const field = (name: string, kind: Kind): Property => ({
  name, kind, values: [], required: false, nullable: true, readOnly: false, schema: {},
});
const fields = [field('email', 'text'), field('status', 'enum'), field('created_at', 'instant'), field('amount', 'number'), field('enable', 'boolean')];

describe('chips and the filter say the same', () => {
  const kinds: Kind[] = ['text', 'id', 'instant', 'number', 'boolean', 'enum'];
  for (const kind of kinds) {
    for (const condition of conditionsOf(kind)) {
      it(`${kind} ${condition}`, () => {
        const value = kind === 'number' ? '12' : kind === 'boolean' ? 'true' : 'a.b*c';
        const chips = chipsOf({ f: memberOf(condition, kind, value) }, [field('f', kind)]);
        expect(chips).toEqual([{ field: 'f', condition, value: condition.endsWith('mpty') ? '' : value }]);
      });
    }
  }
});

it('two bounds of a field stand beside each other, and one is taken away alone', () => {
  let filter = withMember({ status: 'active' }, 'created_at', memberOf('since', 'instant', '2026-01-01'));
  filter = withMember(filter, 'created_at', memberOf('before', 'instant', '2026-02-01'));
  expect(filter).toEqual({ status: 'active', created_at: { $gte: '2026-01-01', $lt: '2026-02-01' } });
  expect(chipsOf(filter, fields)).toHaveLength(3);
  expect(withoutChip(filter, 1)).toEqual({ status: 'active', created_at: { $lt: '2026-02-01' } });
});

it('what no chip can say is shown as it stands, and can be taken away', () => {
  const filter = { $or: [{ email: 'a' }, { email: 'b' }], status: { $in: ['active'] } };
  const chips = chipsOf(filter, fields);
  expect(chips.map(({ condition }) => condition)).toEqual(['other', 'other']);
  expect(withoutChip(filter, 0)).toEqual({ status: { $in: ['active'] } });
});
