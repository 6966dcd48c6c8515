// Package selfservice is what customers do with their own subscription: read, cancel, resume, renew,
// change the card, get the PIX code.
//
// Owns: no table; /customers/me/subscription…, /customers/me/pix-qr, and the reads, cards and
// cancellations of /gwa/… and /gwb/….
//
// Does not own: subscribing (room checkout), withdrawing (room withdrawal).
package selfservice
