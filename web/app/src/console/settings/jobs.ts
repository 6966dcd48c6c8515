import type { Got } from '../../api/client';
import type { Tone } from '../../ui/Status.svelte';

export type Job = Got<'/api/v1/admin/jobs'>['jobs'][number];
export type Queue = Got<'/api/v1/admin/queues'>['queues'][number];
export type JobState = Job['state'];

/** The states of jobs, those that somebody looks for first. */
export const jobStates: readonly JobState[] = [
  'discarded', 'retryable', 'running', 'available', 'scheduled', 'pending', 'cancelled', 'completed',
];

/** The state that an address names, if it is one. */
export function stateOf(text: string | null): JobState | undefined {
  return jobStates.find((state) => state === text);
}

const tones: Partial<Record<JobState, Tone>> = {
  discarded: 'bad', retryable: 'warn', running: 'busy', available: 'busy', completed: 'good',
};

/** The tone of a job's state. */
export function toneOfJob(state: JobState): Tone { return tones[state] ?? 'idle'; }
