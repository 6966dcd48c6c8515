import { answer, api, type Got } from '../../api/client';

export type DefinitionOf = Got<'/api/v1/admin/finance/definitions'>['definitions'][number];

let all = $state.raw<DefinitionOf[]>();
let reading: Promise<void> | undefined;

// What each figure means: the API's one page of that, read once.
export const definitions = {
  get all() { return all; },
  load(): Promise<void> {
    reading ??= answer(api.GET('/api/v1/admin/finance/definitions')).then((found) => { all = found.definitions; }).catch((cause: unknown) => {
      reading = undefined;
      throw cause;
    });
    return reading;
  },
};
