// Package stream tells browsers of what changes, by server-sent events (docs/contract/README.md, Streams of events).
//
// A Feed is one kind of stream. It reads the newest states of all keys that anybody follows, in one statement a second
// and process, and only while somebody follows any. So nobody's stream takes a connection of the database, and a change
// is seen whichever process made it. A state has an id, and replaces the one before it: a client that missed some is
// told the newest, and one that takes events slowly has at most one waiting.
//
// A stream ends after a minute, when its process drains, when what it follows has ended, when its client takes nothing
// (writer), and when a look at the caller, every ten seconds, finds that they may not follow it any more. A user
// has at most three in a process.
package stream
