import { Problem } from '../api/problem';
import { AnotherPerson } from '../api/session.svelte';
import { toasts } from '../ui/toasts.svelte';
import { m } from './messages/index.svelte';

/** The sentence for people, of whatever was thrown. */
export function sentenceOf(cause: unknown): string {
  if (cause instanceof AnotherPerson) return m().signIn.another;
  if (cause instanceof DOMException) return ofBrowser(cause);
  if (!(cause instanceof Problem)) return cause instanceof Error ? cause.message : String(cause);
  if (cause.unanswered) return cause.read ? m().problem.unread : m().problem.unanswered;
  if (cause.code === 'IDEMPOTENCY_KEY_REUSED') return m().problem.askedOtherwise;
  if (cause.code === 'SERVICE_BUSY') return m().problem.busy;
  if (cause.status === 422 && cause.message.endsWith('query is too expensive')) return m().problem.tooExpensive;
  return cause.message;
}

/** Whether nothing stands at an address: no record has its id, or it is none. */
export function leadsNowhere(cause: unknown): boolean {
  return cause instanceof Problem && [400, 404, 422].includes(cause.status);
}

/** What a browser says of a passkey. Of others it says little more than that it did not come about, on purpose. */
function ofBrowser({ name, message }: DOMException): string {
  if (name === 'NotAllowedError' || name === 'AbortError') return m().passkeys.notUsed;
  if (name === 'SecurityError') return m().passkeys.otherAddress;
  if (name === 'InvalidStateError') return m().passkeys.hasOne;
  return message;
}

/** Shows a failure as a toast, with the id that finds it in the log. */
export function report(cause: unknown) {
  const id = cause instanceof Problem ? cause.requestId : '';
  toasts.show('bad', sentenceOf(cause), id ? m().problem.request(id) : undefined);
}
