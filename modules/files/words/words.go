// Package words has what a file is for and who may open it, as its row says it. It owns no table and knows no database,
// so that the rows carry its types; package files has them under its own name.
package words

// Purpose is what a file is for; it decides who may open it.
type Purpose string

// The purposes.
const (
	Avatar     Purpose = "avatar"      // public, at /avatars/{file_id}
	EventImage Purpose = "event_image" // public, by its public id
	PromoImage Purpose = "promo_image" // public, by its public id
	Attachment Purpose = "attachment"  // of a board card: admins who may download attachments
	Record     Purpose = "record"      // of any other record: by its Visibility
)

// Visibility is who may open a file.
type Visibility string

// The visibilities. The first and the last are those of purposes; a Record is
// one of the two in between.
const (
	Public  Visibility = "public"  // anyone with its address
	Members Visibility = "members" // every signed-in user, unless the kind of records is Guarded
	Private Visibility = "private" // admins, and the reader if there is one
	Board   Visibility = "board"   // admins with the permission requisition_file_download
)
