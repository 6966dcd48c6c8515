// Package reconcile is the room of asking gateways: what became of a call whose outcome nobody
// knows, and making a code unpayable before the places of its order are given back.
//
// It owns no table. What the gateway says is settled by the room orders; when it is asked
// again is of payments/intent.
package reconcile
