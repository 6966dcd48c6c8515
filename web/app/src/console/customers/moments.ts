import type { Got } from '../../api/client';
import { money } from '../formats';
import { m, word } from '../messages/index.svelte';

/** Something that happened to a customer, as the API has it. */
export type Moment = Got<'/api/v1/admin/customers/{id}/timeline'>['timeline'][number];

/** The sentence of something that happened, in the language of the console, of the values that the API says it in. */
export function sentenceOfMoment(moment: Moment): string {
  const says = m().moments;
  const { amount = 0, gateway = '', purpose = '', payment_method = '', plan_name = '', from_status, to_status = '', reason = '' } = moment;
  const { event_title = '', quantity = 0, promo_code = '' } = moment;
  switch (moment.type) {
    case 'signup': return says.signup;
    case 'email_verified': return says.verified;
    case 'subscription':
      return from_status ? says.went(plan_name, word(from_status), word(to_status), word(reason)) : says.began(plan_name, word(to_status), word(reason));
    case 'payment':
      return says.paid(money(amount), purpose ? says.purposes[purpose] : '', word(payment_method), word(gateway));
    case 'payment_failed': return says.failed(money(amount), word(gateway));
    case 'refund':
      switch (moment.refund_status) {
        case 'done': return says.refundDone(money(amount));
        case 'failed': return says.refundFailed(money(amount));
        default: return says.refundPending(money(amount));
      }
    case 'chargeback': return amount < 0 ? says.disputeWon(money(-amount)) : says.disputeTook(money(amount));
    case 'order': return says.ordered(String(quantity), event_title, money(amount));
    case 'ticket': return says.ticketUsed(event_title);
    case 'promo_code': return says.promoRedeemed(promo_code);
    default: return moment.summary; // a kind of a later version
  }
}
