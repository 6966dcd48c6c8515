import type { Got } from '../../api/client';
import type { Tone } from '../../ui/Status.svelte';

export type Job = Got<'/api/v1/admin/jobs'>['docs'][number];
export type Queue = Got<'/api/v1/admin/queues'>['queues'][number];
export type JobState = Job['state'];

const jobStates: readonly JobState[] = [
  'discarded', 'retryable', 'running', 'available', 'scheduled', 'pending', 'cancelled', 'completed',
];

/** The state that a filter asks for, if it is one. */
export function stateOf(asked: unknown): JobState | undefined {
  return jobStates.find((state) => state === asked);
}

/** The filter of an address that names a state, a kind or a queue by parameters of their own; '' where it names none. */
export function narrowed(params: URLSearchParams): string {
  const named = ['state', 'kind', 'queue'].flatMap((name) => (params.get(name) ? [[name, params.get(name)]] : []));
  return named.length ? JSON.stringify(Object.fromEntries(named)) : '';
}

const tones: Partial<Record<JobState, Tone>> = {
  discarded: 'bad', retryable: 'warn', running: 'busy', available: 'busy', completed: 'good',
};

/** The tone of a job's state. */
export function toneOfJob(state: JobState): Tone { return tones[state] ?? 'idle'; }
