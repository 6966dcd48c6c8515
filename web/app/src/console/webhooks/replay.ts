import { answer, api, type paths } from '../../api/client';

/** What a replay did, or would do. */
export type Replayed =
  paths['/api/v1/webhook-logs/{id}/replay']['post']['responses'][200]['content']['application/json'];

/** Applies the stored event again; dry, all of it is taken back. */
export function replay(id: string, dry: boolean): Promise<Replayed> {
  return answer(api.POST('/api/v1/webhook-logs/{id}/replay', {
    params: { path: { id }, query: dry ? { dry_run: '1' } : {} },
  }));
}
