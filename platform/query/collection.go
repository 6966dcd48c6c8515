package query

// Kind says what a field's values are in the document that the API shows, and with
// that which operands it compares with (docs/contract/filters.md, Operands).
type Kind int

const (
	// OID is an ObjectId, stored as 24 lower-case hexadecimal digits in text or in
	// a domain over text. Arrays of ids are text[].
	OID Kind = iota + 1
	// String is text. Compared by code point whatever the database's locale.
	String
	// Int is a whole number in an integer or bigint column. Arrays are bigint[].
	Int
	// Number is a decimal number in a numeric column.
	Number
	// Cents is an amount that the API shows in reais (12.5) and that is stored in
	// cents (1250) in an integer or bigint column. Clients filter in reais.
	Cents
	// Bool is a boolean; false is less than true.
	Bool
	// Date is an instant in a timestamptz column, of millisecond precision.
	Date
	// JSON is a jsonb column; dotted paths lead into it (docs/contract/filters.md, Paths).
	JSON
)

// Presence says what the API shows while a column is null.
type Presence int

const (
	// Always shows the key with null: the field exists in every document.
	Always Presence = iota
	// WhenSet leaves the key out: the field does not exist while it is null.
	WhenSet
)

// Field is one entry of a collection's whitelist.
type Field struct {
	// Expr is the SQL expression that yields the value, such as `v.title` or a
	// parenthesised scalar subselect. It is a constant of the program and stands in
	// the SQL text as it is. It has to bind tighter than any operator.
	Expr string
	// Kind is the kind of the value, or of each element when Array is set.
	Kind Kind
	// Array marks a Postgres array that is NOT NULL and holds no NULL elements.
	Array bool
	// Nullable marks a column that may be NULL. WhenSet implies it.
	Nullable bool
	// Presence says whether null is shown or left out.
	Presence Presence
	// NullsEnd sorts null after everything in both directions, against MongoDB's
	// order (requisition-status.index alone; docs/contract/filters.md, Sort).
	NullsEnd bool
	// OIDPaths lists the dotted paths below a JSON field that hold ids, such as
	// "file_id" in requisitions.files. They compare as OID fields do.
	OIDPaths []string
	// Normal gives a string the form in which the column stores it, such as capitals;
	// nil where that is as it is written. What a filter compares with passes it, a pattern does not.
	Normal func(string) string
}

func (f Field) mayBeNull() bool { return !f.Array && (f.Nullable || f.Presence == WhenSet) }

// Collection is the whitelist of one collection for one kind of caller. It is read
// only once it is in use and may serve any number of goroutines.
type Collection struct {
	// Fields are keyed by the name that the API shows. A name may be dotted
	// ("address.city") when a sub-document's members are columns of their own; the
	// longest registered prefix of a path wins. Register the sub-document itself
	// ("address") as JSON beside them, or it counts as missing. `_id` is required. Names that are
	// not here behave like fields that no document has.
	Fields map[string]Field
	// DefaultSort is the JSON sort used when the client gives none, such as
	// `{"register_update_date":-1}`. Empty means `{"_id":1}`, the order of creation.
	DefaultSort string
}
