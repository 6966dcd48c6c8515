// Package files owns stored files and the archive tokens, session tokens that
// open stored files without an Authorization header (docs/contract/accounts.md, Tokens).
//
// It owns the bytes, what each file is for, which record it belongs to and who
// may open it; the addresses of avatars and of public images; and checking,
// rewriting and scaling images.
//
// It does not own the records: they are known by kind and id, through Records,
// which the modules above fill. It does not own users: Users tells who stands
// behind a token and whether they may still use it. Which file is a user's avatar
// is for accounts to say.
//
// Words: a content is the bytes of a file, in chunks of 256 KiB. An upload is a
// content that nobody keeps yet; a file is one that is kept, with a purpose and
// a place. A public id is a file id encrypted for an address that anybody may
// hold. An archive token is an opaque text of 32 random bytes, given out once
// and stored as its hash; older tokens of a user live on until they expire.
//
// Timestamps: contents.received_at is when bytes began to arrive, files.created_at
// when they were kept.
package files
