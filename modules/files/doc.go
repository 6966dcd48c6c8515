// Package files owns the archive tokens: session tokens that open stored files
// without an Authorization header (specification, Authentication 8).
//
// It does not own users; it knows them by id. Whether a user may still use his
// tokens (not deleted, not disabled, tokens not ended) is for accounts to say,
// from the instant of issue that ArchiveTokenOwner returns.
//
// Words: an archive token is an opaque text of 32 random bytes, given out once
// and stored as its hash. Older tokens of a user live on until they expire.
package files
