// Package gwa is the adapter of gateway A, which speaks the Asaas API v3: a
// typed client on net/http that puts what package payments needs into the
// gateway's words, and the reader of its events (its facts: docs/gateway-facts.md, A1 to A11).
//
// The gateway has no idempotency keys, drops unknown fields without a word, and
// leaves absent relations out. Therefore: no POST is ever repeated; every object
// that we make carries the local id as externalReference, by which the Find
// calls look for it; and an answer that does not echo what was sent is undone.
//
// Amounts travel as decimal reais, written exactly from cents. Dates are days or
// local times of Config.Zone in four forms; an instant of a bare day is its 00:00
// there. The days that we ask for are days of Config.Days.
//
// A card in the clear is read in one place, cardBody, and is in no error.
//
// What an event means, and how the gateway is asked for it, stands beside the object that it
// tells of: a new one is a row of that file's meanings.
package gwa
