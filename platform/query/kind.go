package query

import "time"

// casts are the SQL types that operands of a kind are bound as. Lists of numbers
// travel as text, which every execution mode of pgx can encode.
var casts = map[Kind]struct{ one, list literal }{
	OID:    {"text", "text[]"},
	String: {"text", "text[]"},
	Int:    {"bigint", "bigint[]"},
	Cents:  {"bigint", "bigint[]"},
	Number: {"text::numeric", "text[]::numeric[]"},
	Bool:   {"boolean", "boolean[]"},
	Date:   {"timestamptz", "timestamptz[]"},
}

// operand turns v into the Go value that is bound for a field of kind k. ok is false
// when v lies outside the kind's bracket: it equals no value of the field. A string
// that is no date is an error on dates, since it is always a mistake.
func (k Kind) operand(v value) (bound any, ok bool, err error) {
	switch k {
	case OID:
		id, ok := idOf(v)
		return id, ok, nil
	case String:
		return v.text, v.kind == valueString, nil
	case Bool:
		return v.truth, v.kind == valueBool, nil
	case Date:
		t, ok, err := dateOf(v)
		return t, ok, err
	case Number:
		return v.number.String(), v.kind == valueNumber && !v.number.tiny(), nil
	case Int, Cents:
		n, whole := k.scale(v.number).int64()
		return n, v.kind == valueNumber && whole, nil
	}
	return nil, false, nil
}

// scale turns a number as the client writes it into the column's unit.
func (k Kind) scale(d decimal) decimal {
	if k == Cents {
		return d.hundredfold()
	}
	return d
}

// idOf reads an id: {"$oid"} or a plain string of 24 hexadecimal digits.
func idOf(v value) (string, bool) {
	switch v.kind {
	case valueOID:
		return v.text, true
	case valueString:
		return hexID(v.text)
	}
	return "", false
}

func dateOf(v value) (t time.Time, ok bool, err error) {
	switch v.kind {
	case valueDate:
		return v.instant, true, nil
	case valueString:
		if t, ok = parseDate(v.text); !ok {
			return t, false, v.at.errorf("is not a date")
		}
		return t, true, nil
	}
	return t, false, nil
}

// operands turns the members of a list into one Go slice. Members outside the
// bracket are left out; strangers counts them.
func (k Kind) operands(members []value) (bound any, n, strangers int, err error) {
	values := make([]any, 0, len(members))
	for _, m := range members {
		v, ok, err := k.operand(m)
		if err != nil {
			return nil, 0, 0, err
		}
		if !ok {
			strangers++
			continue
		}
		values = append(values, v)
	}
	switch k {
	case Int, Cents:
		bound = typed[int64](values)
	case Bool:
		bound = typed[bool](values)
	case Date:
		bound = typed[time.Time](values)
	default:
		bound = typed[string](values)
	}
	return bound, len(values), strangers, nil
}

func typed[T any](values []any) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = v.(T)
	}
	return out
}

// compareForms are the shapes of a range; strings compare by code point.
var compareForms = map[string]struct{ plain, text literal }{
	"$gt":  {"? > ?", `? COLLATE "C" > ?`},
	"$gte": {"? >= ?", `? COLLATE "C" >= ?`},
	"$lt":  {"? < ?", `? COLLATE "C" < ?`},
	"$lte": {"? <= ?", `? COLLATE "C" <= ?`},
}

// compare is the range condition x op v. present is the condition that x is there,
// for numbers that are beyond everything the column can hold.
func (k Kind) compare(x fragment, op string, v value, present condition) (condition, error) {
	if k == Number || k == Int || k == Cents {
		if v.kind != valueNumber {
			return constant(false), nil
		}
		return k.compareNumber(x, op, k.scale(v.number), present), nil
	}
	bound, ok, err := k.operand(v)
	if err != nil || !ok {
		return constant(false), err
	}
	form := compareForms[op].plain
	if k == String {
		form = compareForms[op].text
	}
	return atom(fill(form, x, arg(bound, casts[k].one))), nil
}

func (k Kind) compareNumber(x fragment, op string, d decimal, present condition) condition {
	if k == Number {
		op, d = roundTiny(op, d)
		return atom(fill(compareForms[op].plain, x, arg(d.String(), casts[k].one)))
	}
	n, exact, beyond := d.floor()
	upward := op == "$gt" || op == "$gte"
	switch {
	case beyond != 0 && upward == (beyond > 0):
		return constant(false)
	case beyond != 0:
		return present
	case !exact && upward:
		op = "$gt"
	case !exact:
		op = "$lte"
	}
	return atom(fill(compareForms[op].plain, x, arg(n, casts[k].one)))
}

// roundTiny replaces a number too close to zero for numeric by zero, and the
// comparison by the one with the same outcome.
func roundTiny(op string, d decimal) (string, decimal) {
	if !d.tiny() {
		return op, d
	}
	above := op == "$gt" || op == "$gte"
	switch {
	case above && !d.negative:
		op = "$gt"
	case above:
		op = "$gte"
	case !d.negative:
		op = "$lte"
	default:
		op = "$lt"
	}
	return op, decimal{}
}

// modulo is the condition trunc(x) mod divisor = remainder.
func (k Kind) modulo(x fragment, mod [2]int64) condition {
	form := literal("? % ? = ?")
	switch k {
	case Cents:
		form = "? / 100 % ? = ?"
	case Number:
		return atom(fill("mod(trunc(?), ?) = ?", x, arg(mod[0], "bigint::numeric"), arg(mod[1], "bigint::numeric")))
	case Int:
	default:
		return constant(false)
	}
	return atom(fill(form, x, arg(mod[0], "bigint"), arg(mod[1], "bigint")))
}
