import { expect, it } from 'vitest';
import { rowsOf } from './rights_matrix';

it('each right stands in the row of what it is of, and in the column of its list', () => {
  expect(rowsOf([
    { name: 'view', rights: ['requisition_get', 'requisition_file_download'] }, { name: 'create', rights: ['requisition_post', 'requisition_file_upload'] },
    { name: 'update', rights: ['config_branding_put'] }, { name: 'delete', rights: [] },
  ])).toEqual([
    { of: 'config_branding', rights: { update: ['config_branding_put'] } },
    { of: 'requisition', rights: { view: ['requisition_get'], create: ['requisition_post'] } },
    { of: 'requisition_file', rights: { view: ['requisition_file_download'], create: ['requisition_file_upload'] } },
  ]);
});
