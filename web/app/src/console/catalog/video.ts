import type { Tone } from '../../ui/Status.svelte';
import type { Doc } from '../form/record';
import { day } from '../formats';
import { m } from '../messages/index.svelte';

/** Whether customers see a video, in a word. */
export function stateOfVideo(video: Doc): { tone: Tone; word: string } {
  const now = Date.now();
  const at = (name: string) => (typeof video[name] === 'string' ? Date.parse(video[name]) : undefined);
  if (video['enable'] !== true) return { tone: 'idle', word: m().catalog.hidden };
  const ends = at('expiration_date');
  if (ends !== undefined && ends <= now) return { tone: 'warn', word: m().catalog.over };
  const begins = at('release_date');
  if (begins !== undefined && begins > now) return { tone: 'busy', word: m().catalog.from(day(String(video['release_date']))) };
  return { tone: 'good', word: m().catalog.published };
}

/** A name as an address has it. */
export function slugOf(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 200);
}
