import { Problem } from '../api/problem';
import { toasts } from '../ui/toasts.svelte';
import { m } from './messages/index.svelte';

/** The sentence for people, of whatever was thrown. */
export function sentenceOf(cause: unknown): string {
  if (!(cause instanceof Problem)) return cause instanceof Error ? cause.message : String(cause);
  if (cause.unanswered) return m().problem.unanswered;
  if (cause.code === 'SERVICE_BUSY') return m().problem.busy;
  return cause.message;
}

/** Shows a failure as a toast, with the id that finds it in the log. */
export function report(cause: unknown) {
  const id = cause instanceof Problem ? cause.requestId : '';
  toasts.show('bad', sentenceOf(cause), id ? m().problem.request(id) : undefined);
}
