// Package plays counts on how many devices each user plays at once, and holds a customer to what their plan allows
// (docs/contract/catalogue.md, Streams at once).
//
// # Words
//
// A play begins when a player asks for a video's stream URL, goes on while the player is heard of, and is over after 90
// seconds without a word (Silence) or when its user ends it. It has one of its user's places, counted from 1.
//
// # What holds the limit
//
// A play takes the lowest place that is free, in one statement; the constraint plays_place_once lets one of several
// that take it at once have it, and the others look again. So no lock is waited for, and no more play than may.
package plays
