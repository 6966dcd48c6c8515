import type { Tone } from '../../ui/Status.svelte';

const TONES: Record<string, Tone> = { running: 'busy', ended: 'good', ended_with_failures: 'warn', not_ended: 'bad' };

/** How a reconciliation stands, as a colour beside its word. */
export function toneOfRun(state: string): Tone { return TONES[state] ?? 'idle'; }
