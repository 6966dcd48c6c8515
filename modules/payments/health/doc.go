// Package health is what the platform knows of a gateway as a whole (table
// payments.gateway_state), whoever asked it:
//
//   - that it fails: it gives no answer that can be used. Then checks are few, and one each
//     half minute probes it. The first right answer after a failed one ends the mark, and
//     brings all checks forward.
//   - that it is suspect: more than 5 and more than 1 % of what was there once and was
//     checked within an hour was missing. Most likely its address or key is wrong, and
//     nothing ends by missing. The mark is lifted by an operator (marquee gateway trust),
//     by a check that finds again what was missing, and by checks of the same hour that
//     bring the share below 1 %.
//   - what checks may still cost: a fifth of the calls that it takes in a window.
//
// Its metrics count the open orders too, and its mails tell the operators of all of this.
//
// It owns no intent: package intent, which stands above it, says what follows for those.
package health
