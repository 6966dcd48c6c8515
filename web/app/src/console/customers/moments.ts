import { money } from '../formats';
import { m, word } from '../messages/index.svelte';

// The API says what happened in English sentences of a few forms. They are taken apart here and said in the language of
// the console; a sentence of another form stands as it came.

const AMOUNT = String.raw`(-?)R\$ (-?)(\d+)\.(\d\d)`;
const of = (pattern: string) => new RegExp(`^${pattern.replaceAll('AMOUNT', AMOUNT)}$`, 's');

function amountOf([minus = '', inner = '', whole = '', cents = '']: string[]): string {
  return money((minus || inner ? -1 : 1) * Number(whole + cents));
}

const coded = (text: string) => word(text.replaceAll(' ', '_'));

function purposeOf(text: string): string {
  const { unknown, order, subscription } = m().moments.purposes;
  if (text.startsWith('nothing')) return unknown;
  return text === 'a ticket order' ? order : text === 'a subscription' ? subscription : coded(text.replace(/^an? /, ''));
}

type Said = (parts: string[]) => string;

const forms: Record<string, [RegExp, Said][]> = {
  signup: [[of('Signed up\\.'), () => m().moments.signup]],
  email_verified: [[of('E-mail address verified\\.'), () => m().moments.verified]],
  subscription: [
    [of('Subscription to (.*) began as (\\w+) \\(([\\w ]+)\\)\\.'),
      ([plan = '', to = '', reason = '']) => m().moments.began(plan, word(to), coded(reason))],
    [of('Subscription to (.*) went from (\\w+) to (\\w+) \\(([\\w ]+)\\)\\.'),
      ([plan = '', from = '', to = '', reason = '']) => m().moments.went(plan, word(from), word(to), coded(reason))],
  ],
  payment: [[of('Paid AMOUNT for (nothing that is known here|an? [\\w ]+) by ([\\w ]+) at (\\w+)\\.'), (parts) => {
    const [purpose = '', method = '', gateway = ''] = parts.slice(4);
    return m().moments.paid(amountOf(parts), purposeOf(purpose), coded(method), word(gateway));
  }]],
  payment_failed: [[of('A payment of AMOUNT failed at (\\w+)\\.'), (parts) => m().moments.failed(amountOf(parts), word(parts[4] ?? ''))]],
  refund: [
    [of('A refund of AMOUNT was given back\\.'), (parts) => m().moments.refundDone(amountOf(parts))],
    [of('A refund of AMOUNT failed\\.'), (parts) => m().moments.refundFailed(amountOf(parts))],
    [of('A refund of AMOUNT is under way\\.'), (parts) => m().moments.refundPending(amountOf(parts))],
  ],
  chargeback: [
    [of('A dispute took AMOUNT\\.'), (parts) => m().moments.disputeTook(amountOf(parts))],
    [of('A dispute was won: AMOUNT came back\\.'), (parts) => m().moments.disputeWon(amountOf(parts))],
  ],
  order: [[of('Ordered (\\d+) for (.*), AMOUNT\\.'), (parts) => m().moments.ordered(parts[0] ?? '', parts[1] ?? '', amountOf(parts.slice(2)))]],
  ticket: [[of('Used a ticket for (.*)\\.'), ([event = '']) => m().moments.ticketUsed(event)]],
  promo_code: [[of('Redeemed the promo code (.*)\\.'), ([code = '']) => m().moments.promoRedeemed(code)]],
};

/** The sentence of something that happened, in the language of the console. */
export function sentenceOfMoment({ type, summary }: { type: string; summary: string }): string {
  for (const [form, say] of forms[type] ?? []) {
    const found = form.exec(summary);
    if (found) return say(found.slice(1));
  }
  return summary;
}
