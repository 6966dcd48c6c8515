package files

import "marquee/platform/objectid"

// What tests outside the package look at.
var (
	Disposition  = disposition
	SafeFilename = safeFilename
	ContentType  = contentType
)

// SealPublicID makes a public id under the key.
func SealPublicID(key []byte, id objectid.ID) string { return newPublicIDs(key).seal(id) }

// OpenPublicID reads a public id under the key.
func OpenPublicID(key []byte, public string) (objectid.ID, bool) {
	return newPublicIDs(key).open(public)
}
