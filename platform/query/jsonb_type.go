package query

const (
	int32Range = "@ >= -2147483648 && @ <= 2147483647"
	int64Range = "@ >= -9223372036854775808 && @ <= 9223372036854775807"
	wholeTest  = "@.floor() == @"
)

// jsonTypes tests a value for a type of BSON, numbers by what a driver would store
// them as.
var jsonTypes = map[bsonType]string{
	typeString: is("string"),
	typeObject: is("object"),
	typeBool:   is("boolean"),
	typeNull:   is("null"),
	typeNumber: is("number"),
	typeInt:    is("number") + " && " + wholeTest + " && " + int32Range,
	typeLong:   is("number") + " && " + wholeTest + " && " + int64Range + " && !(" + int32Range + ")",
	typeDouble: is("number") + " && !(" + wholeTest + " && " + int64Range + ")",
}

func (d document) ofType(t bsonType) condition {
	switch {
	case t == typeArray:
		return d.isArray()
	case d.isID() && t == typeObjectID:
		t = typeString
	case d.isID() && t == typeString:
		return constant(false)
	}
	predicate, known := jsonTypes[t]
	if !known {
		return constant(false)
	}
	c := d.offers(predicate)
	if t == typeNull && len(d.path) == 0 {
		return some(all(d.isNull, d.there), c)
	}
	return c
}

// isArray holds where the value is a list, or one of its elements is.
func (d document) isArray() condition {
	itself := d.holds(`$.type() == "array"`)
	if len(d.path) > 0 {
		itself = d.holds(arrayAt(d.path, "").exists())
	}
	if d.alone {
		return itself
	}
	return some(itself, d.offers(is("array")))
}
