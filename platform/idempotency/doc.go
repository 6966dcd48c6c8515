// Package idempotency lets clients repeat a request that moves money without
// moving it twice (header Idempotency-Key). The first request with a key claims
// it; its repetitions get the first answer, byte for byte, for 24 hours.
//
// # What is kept
//
// Of the key, its caller and the body only keyed hashes, and of the answer a
// sealed text: no card data, no secret of a gateway and no ticket's code is
// readable in the table.
//
// # What a crash leaves
//
// The service that commits a request's row (an order, a subscription) binds the key
// to it in the same transaction. A repetition of a request that was cut off before
// that commit runs anew, since nothing has happened. After it, the repetition
// finds the row and tells what became of it; no second row is made while the first
// one can still cost money. An attempt that was taken over fails at the binding,
// so even one that only seemed dead commits nothing.
package idempotency
