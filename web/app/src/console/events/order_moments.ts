import { count, reais } from '../formats';
import { m, word } from '../messages/index.svelte';
import type { OrderDetail } from './event';

type Moment = OrderDetail['timeline'][number];

/** The sentence of something that happened to an order, in the language of the console. */
export function sentenceOfOrder(moment: Moment): string {
  const says = m().orders.moments;
  const { quantity = 0, gateway, payment_method = '', refund_status, dispute_state = '', from_status, to_status = '', reason = '' } = moment;
  const amount = reais(moment.amount ?? 0);
  switch (moment.type) {
    case 'order': return says.ordered(count(quantity), amount);
    case 'payment': return gateway ? says.paid(amount, word(payment_method), word(gateway)) : says.paidAtCounter(amount, word(payment_method));
    case 'ticket':
      return from_status ? says.went(count(quantity), word(from_status), word(to_status), word(reason)) : says.began(count(quantity), word(to_status), word(reason));
    case 'refund':
      if (refund_status === 'done') return m().moments.refundDone(amount);
      return refund_status === 'failed' ? m().moments.refundFailed(amount) : says.refundAsked(amount);
    case 'dispute':
      return dispute_state === 'open' || dispute_state === 'inquiry' ? says.disputeOpened(amount) : says.disputeClosed(amount, word(dispute_state));
    case 'event_cancelled': return says.eventCancelled;
    default: return moment.summary; // a kind of a later version
  }
}
