import { expect, it, vi } from 'vitest';
import { problemOf } from './problem';
import { reach } from './reach';

it('only of what was to change something nothing is known where a gateway answers for the API', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('', { status: 502 })));
  for (const [method, read] of [['GET', true], ['PUT', false]] as const) {
    const problem = await problemOf(await reach('http://localhost/api/v1/customers', { method }));
    expect([problem.unanswered, problem.read], method).toEqual([true, read]);
  }
});
