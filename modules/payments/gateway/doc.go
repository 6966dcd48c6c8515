// Package gateway holds the words of payments: what the platform needs of a payment
// gateway, and what a gateway tells, without any type of a provider.
//
// Owns: the interfaces Gateway and Adapter, the terms of each call and its answers, the
// states and errors in neutral words, the events with one payload type a kind and what becomes
// of them (Event, Payload, Result, Reason), what each gateway does otherwise (Traits), the
// card data of request bodies.
//
// Does not own: anything that is kept. No SQL stands here, no table and no state; it
// imports platform alone, which testutil/archtest sees to. That is why the modules above
// payments, and the adapters gwa and gwb, may import it beside the root.
package gateway
