import type { Got } from '../../api/client';
import { count, instant } from '../formats';
import { m, word } from '../messages/index.svelte';

export type Access = Got<'/api/v1/admin/customers/{id}/access'>;

/** Why a customer may watch, or may not, as a sentence of the language that is chosen, from the values of the API. */
export function sentenceOfAccess(why: Pick<Access, 'reason' | 'at' | 'payment_failures' | 'move_reason'>): string {
  const says = m().access;
  const at = why.at ? instant(why.at) : '';
  switch (why.reason) {
    case 'active': return at ? says.activeUntil(at) : says.active;
    case 'customer_disabled': return says.disabled;
    case 'never_subscribed': return says.never;
    case 'gateway_unanswered': return says.unanswered;
    case 'pix_unpaid': return at ? says.pixUntil(at) : says.pix;
    case 'payment_pending': return says.pending;
    case 'period_over': return at ? says.over(at) : says.overEarlier;
    case 'payment_disputed': return says.disputed;
    case 'suspended_by_staff': return says.byStaff(at);
    case 'payment_failed': return why.payment_failures ? says.failed(at, count(why.payment_failures), why.payment_failures === 1) : says.notCollected(at);
    case 'cancelled': return at ? says.cancelled(at, word(why.move_reason)) : says.cancelledEarlier(word(why.move_reason));
  }
}
