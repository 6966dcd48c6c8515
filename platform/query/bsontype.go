package query

// bsonType is a type number of BSON, as $type takes it.
type bsonType int

const (
	typeDouble   bsonType = 1
	typeString   bsonType = 2
	typeObject   bsonType = 3
	typeArray    bsonType = 4
	typeObjectID bsonType = 7
	typeBool     bsonType = 8
	typeDate     bsonType = 9
	typeNull     bsonType = 10
	typeInt      bsonType = 16
	typeLong     bsonType = 18
	typeNumber   bsonType = 1000 // the alias for all of the numbers; BSON has no code for it
)

// bsonTypes holds MongoDB's aliases. Types that no field of ours has are known and never match.
var bsonTypes = map[string]bsonType{
	"double": typeDouble, "string": typeString, "object": typeObject, "array": typeArray, "binData": 5, "undefined": 6,
	"objectId": typeObjectID, "bool": typeBool, "date": typeDate, "null": typeNull, "regex": 11, "dbPointer": 12,
	"javascript": 13, "symbol": 14, "javascriptWithScope": 15, "int": typeInt, "timestamp": 17, "long": typeLong,
	"decimal": 19, "minKey": -1, "maxKey": 127, "number": typeNumber,
}

var bsonCodes = func() map[int64]bsonType {
	codes := map[int64]bsonType{}
	for _, t := range bsonTypes {
		if t != typeNumber {
			codes[int64(t)] = t
		}
	}
	return codes
}()

// parseType reads an alias or a number of a type.
func parseType(n *node) (bsonType, bool) {
	text := n.text
	if isExtended(n) && n.keys[0] != "$oid" && n.keys[0] != "$date" {
		v, err := extendedValue(n.keys[0], n.items[0], root(ParamQuery))
		if err != nil {
			return 0, false
		}
		text = v.number.String()
	} else if n.kind == nodeString {
		t, ok := bsonTypes[n.text]
		return t, ok
	} else if n.kind != nodeNumber {
		return 0, false
	}
	d, ok := parseDecimal(text)
	if !ok {
		return 0, false
	}
	code, whole := d.int64()
	t, known := bsonCodes[code]
	return t, whole && known
}

// matches reports whether values of the kind are of the type.
func (k Kind) matches(t bsonType) bool {
	switch t {
	case typeObjectID:
		return k == OID
	case typeString:
		return k == String
	case typeInt:
		return k == Int
	case typeDouble:
		return k == Number || k == Cents
	case typeNumber:
		return k == Int || k == Number || k == Cents
	case typeBool:
		return k == Bool
	case typeDate:
		return k == Date
	}
	return false
}
