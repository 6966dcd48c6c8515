package collection

import (
	"context"
	"fmt"
	"math"
	"regexp"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/query"
)

// Definition describes one resource. Everything in it is a constant of the
// program; New checks it.
type Definition struct {
	Name     string // as in the path: "videos"
	Singular string // as in sentences: "Video"
	Table    string // with its schema: "catalog.videos"

	// From is the FROM clause that reads it, with the row under the alias t.
	// Default: Table t. Joins for computed fields go here; they must not change
	// the number of rows.
	From string

	// Base is a constant SQL condition over t that every row of the resource
	// meets; reads, changes and deletions pass by what does not. Default none.
	Base string

	// Version is a constant SQL expression that yields a bigint which grows with
	// every committed write to what the resource shows. With it pages can be kept
	// in a Memory. Default none.
	Version string

	// Fields in the order of the answer, without _id and the three creation
	// fields, which every resource carries.
	Fields []Field

	// DefaultSort is a JSON sort; default {"_id":1}.
	DefaultSort string
	// PageSize is the default of qty_docs_page; default 10.
	PageSize int

	// CreatedByColumn, CreatedColumn and UpdatedColumn hold the creation fields;
	// defaults document_created_by_id, register_date, register_update_date.
	CreatedByColumn, CreatedColumn, UpdatedColumn string

	// Constraints says what a violated constraint of that name tells people.
	Constraints map[string]Violation

	Hooks Hooks
}

// Hooks run inside the transaction of a write, after validation; those of an
// update when its rows are locked. An error takes the whole write back; make it
// with Record.Invalid where a field is to blame.
type Hooks struct {
	BeforeCreate func(ctx context.Context, tx pgx.Tx, records []*Record) error
	BeforeUpdate func(ctx context.Context, tx pgx.Tx, records []*Record) error
	BeforeDelete func(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error
	// Delete takes the place of the DELETE statement where a row has to stay, as a
	// tombstone. It returns the ids that were there.
	Delete func(ctx context.Context, tx pgx.Tx, ids []objectid.ID) ([]objectid.ID, error)
	// AfterWrite runs once after the rows of a POST, PUT or DELETE are written.
	AfterWrite func(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error
}

// Violation is the error for a violated constraint.
type Violation struct {
	Kind    fault.Kind // Conflicting by default; Invalid for an unknown reference
	Code    string     // fault.CodeConflict by default
	Field   string     // JSON name, empty when no single field is to blame
	Message string     // behind the field's name: "is already taken"; a sentence when Field is empty
}

// Field is one field of the JSON document.
type Field struct {
	Name   string // in JSON
	Column string // written to; default Name
	Expr   string // read from; default t.<Column>. With Expr and no Column the field is computed
	Kind   query.Kind
	Array  bool // Postgres array of Kind, NOT NULL and without NULL elements

	Nullable bool // null is stored, and shown as null
	WhenSet  bool // null is stored, and the key is left out of the answer
	NullsEnd bool // sorts nulls last in both directions

	Write    Write
	Secret   bool // written, never read, filtered or sorted: a password
	Rule     Rule
	Doc      string   // for the documentation
	OIDPaths []string // of a JSON field: dotted paths below it that hold ids
}

// Write says what becomes of a field in a request's body (open-shapes, section 4,
// number 10).
type Write int

const (
	// Client may write the field.
	Client Write = iota
	// Kept by the service: computed names, dates and counters are ignored, since
	// clients send back what they read.
	Kept
	// Privileged fields are refused with 422.
	Privileged
	// Once fields are set by POST; a PUT that would change them is refused with 422.
	Once
)

// Rule is what a value has to satisfy; also the field's OpenAPI schema.
type Rule struct {
	Required             bool   // in POST
	Default              any    // in POST when absent: string, int, bool; nil means null or the empty list
	MinLength, MaxLength int    // characters of a string or of each element; 0 is no bound
	Min, Max             *int64 // of a number; of Cents in cents. Default for Int: the range of integer
	MaxItems             int    // of a list; default 1000
	Pattern              string // regular expression for a string or each element
	Means                string // what the pattern asks for, as in "has to be <Means>"
	Enum                 []string
	Format               string // for the documentation, such as "uri"
	// Check returns what is wrong with a value of the field's Go type (string,
	// int64, bool, time.Time, money.Cents as int64, []string), or "".
	Check func(value any) string

	pattern *regexp.Regexp
}

// Limit makes the pointer that Min and Max take.
func Limit(n int64) *int64 { return &n }

const (
	idField        = "_id"
	defaultItems   = 1000
	defaultPerPage = 10
)

// Resource is a checked Definition, safe for concurrent use.
type Resource struct {
	*View // everything that is no secret, without a condition
	def   Definition
	all   []Field // with _id and the creation fields
	named map[string]*Field
}

// New checks a definition and panics when it contradicts itself: a fault of the
// program, found by any test that loads the package.
func New(def Definition) *Resource {
	setDefaults(&def)
	r := &Resource{def: def, named: map[string]*Field{}}
	r.all = append(r.all, Field{Name: idField, Column: "id", Kind: query.OID, Write: Kept, Doc: "24 hexadecimal digits"})
	r.all = append(r.all, def.Fields...)
	r.all = append(r.all,
		Field{Name: "document_created_by_id", Column: def.CreatedByColumn, Kind: query.OID, Nullable: true, Write: Kept, Doc: "User who created it"},
		Field{Name: "register_date", Column: def.CreatedColumn, Kind: query.Date, Write: Kept},
		Field{Name: "register_update_date", Column: def.UpdatedColumn, Kind: query.Date, Write: Kept},
	)
	for i := range r.all {
		f := &r.all[i]
		if err := f.complete(); err != nil {
			panic(fmt.Sprintf("collection %s: %v", def.Name, err))
		}
		if r.named[f.Name] != nil {
			panic(fmt.Sprintf("collection %s: field %s twice", def.Name, f.Name))
		}
		r.named[f.Name] = f
	}
	r.View = r.newView("")
	return r
}

func setDefaults(def *Definition) {
	for text, value := range map[*string]string{
		&def.From:            def.Table + " t",
		&def.DefaultSort:     `{"_id":1}`,
		&def.CreatedByColumn: "document_created_by_id",
		&def.CreatedColumn:   "register_date",
		&def.UpdatedColumn:   "register_update_date",
	} {
		if *text == "" {
			*text = value
		}
	}
	if def.PageSize == 0 {
		def.PageSize = defaultPerPage
	}
}

// hiddenName matches what may never be shown or filtered (query-contract,
// section 3); a promo code is no secret.
var (
	hiddenName = regexp.MustCompile(`^password$|^password_hash|_hash$|_code_|_attempts$|_token$`)
	promoName  = regexp.MustCompile(`^promo_code_(used|id)$|^children_code_ids$`)
)

func (f *Field) complete() error {
	switch {
	case f.Name == "" || f.Kind == 0:
		return fmt.Errorf("field %q lacks a name or a kind", f.Name)
	case hiddenName.MatchString(f.Name) && !promoName.MatchString(f.Name) && !f.Secret:
		return fmt.Errorf("field %s has the name of a secret", f.Name)
	case f.Array && (f.Nullable || f.WhenSet):
		return fmt.Errorf("list %s may not be null", f.Name)
	}
	if f.Column == "" && f.Expr == "" {
		f.Column = f.Name
	}
	if f.Expr == "" {
		f.Expr = "t." + f.Column
	}
	if f.Column == "" {
		f.Write = Kept
	}
	if f.Rule.MaxItems == 0 {
		f.Rule.MaxItems = defaultItems
	}
	if f.Kind == query.Int && f.Rule.Min == nil {
		f.Rule.Min = Limit(math.MinInt32)
	}
	if f.Kind == query.Int && f.Rule.Max == nil {
		f.Rule.Max = Limit(math.MaxInt32)
	}
	if f.Rule.Pattern != "" {
		f.Rule.pattern = regexp.MustCompile(f.Rule.Pattern)
	}
	if f.writable() && !f.Rule.Required && !f.Array && !f.mayBeNull() && f.Rule.Default == nil {
		return fmt.Errorf("field %s needs a default, or to be required or nullable", f.Name)
	}
	return nil
}

func (f *Field) writable() bool  { return f.Write == Client || f.Write == Once }
func (f *Field) mayBeNull() bool { return f.Nullable || f.WhenSet }

// registered is the field as the query compiler knows it.
func (f *Field) registered() query.Field {
	q := query.Field{Expr: f.Expr, Kind: f.Kind, Array: f.Array, Nullable: f.mayBeNull(), NullsEnd: f.NullsEnd, OIDPaths: f.OIDPaths}
	if f.WhenSet {
		q.Presence = query.WhenSet
	}
	return q
}
