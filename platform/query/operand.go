package query

import (
	"strings"
	"time"

	"marquee/platform/query/internal/pgregex"
)

// value is an operand: what the client compares with (docs/contract/filters.md, Operands).
type value struct {
	kind    valueKind
	truth   bool
	number  decimal
	text    string // of a string, an id (lower case) or a pattern (translated)
	instant time.Time
	keys    []string // of a sub-document
	items   []value  // of a list or a sub-document
	at      *place
}

type valueKind int

const (
	valueNull valueKind = iota
	valueBool
	valueNumber
	valueString
	valueOID
	valueDate
	valueArray
	valueObject
	valuePattern
)

// extended are the Extended JSON types that are values here.
var extended = map[string]bool{
	"$oid": true, "$date": true,
	"$numberInt": true, "$numberLong": true, "$numberDouble": true, "$numberDecimal": true,
}

// foreign are the Extended JSON types that no field of ours can hold.
var foreign = map[string]bool{
	"$binary": true, "$uuid": true, "$timestamp": true, "$minKey": true, "$maxKey": true, "$undefined": true,
	"$symbol": true, "$code": true, "$scope": true, "$dbPointer": true, "$ref": true, "$id": true, "$db": true,
}

// isOperators reports an object whose keys are operators.
func isOperators(n *node) bool {
	return n.kind == nodeObject && len(n.keys) > 0 && strings.HasPrefix(n.keys[0], "$") && !isExtended(n)
}

func isExtended(n *node) bool {
	return n.kind == nodeObject && len(n.keys) == 1 && extended[n.keys[0]]
}

// isPattern reports an object that is a regular expression as a value.
func isPattern(n *node) bool {
	if n.kind != nodeObject || len(n.keys) == 0 {
		return false
	}
	if len(n.keys) == 1 {
		return n.keys[0] == "$regularExpression" || n.keys[0] == "$regex"
	}
	return len(n.keys) == 2 && n.child("$regex") != nil && n.child("$options") != nil
}

func (n *node) child(key string) *node {
	for i, k := range n.keys {
		if k == key {
			return n.items[i]
		}
	}
	return nil
}

// operand reads a value that is not a regular expression.
func (p *parser) operand(n *node, at *place) (value, error) {
	switch n.kind {
	case nodeNull:
		return value{kind: valueNull, at: at}, nil
	case nodeBool:
		return value{kind: valueBool, truth: n.truth, at: at}, nil
	case nodeString:
		return value{kind: valueString, text: n.text, at: at}, nil
	case nodeNumber:
		return number(n.text, at)
	case nodeArray:
		return p.array(n, at)
	}
	if isExtended(n) {
		return extendedValue(n.keys[0], n.items[0], at.at(n.keys[0]))
	}
	v := value{kind: valueObject, keys: n.keys, at: at}
	for i, key := range n.keys {
		if strings.HasPrefix(key, "$") {
			return value{}, refuseKey(key, at)
		}
		item, err := p.operand(n.items[i], at.at(key))
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

func refuseKey(key string, at *place) error {
	if foreign[key] {
		return at.at(key).errorf("unsupported value type")
	}
	return at.at(key).errorf("operator inside a value")
}

func (p *parser) array(n *node, at *place) (value, error) {
	if len(n.items) > MaxMembers {
		return value{}, at.errorf("more than %d values", MaxMembers)
	}
	v := value{kind: valueArray, at: at}
	for i, item := range n.items {
		member, err := p.operand(item, at.item(i))
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, member)
	}
	return v, nil
}

// member reads a value of a list operator, where regular expressions are allowed.
func (p *parser) member(n *node, at *place) (value, error) {
	if isPattern(n) {
		return p.pattern(n, at)
	}
	return p.operand(n, at)
}

func number(text string, at *place) (value, error) {
	d, ok := parseDecimal(text)
	if !ok || len(text) > MaxNumberLength {
		return value{}, at.errorf("number is out of range")
	}
	return value{kind: valueNumber, number: d, at: at}, nil
}

func extendedValue(name string, n *node, at *place) (value, error) {
	switch name {
	case "$oid":
		if id, ok := hexID(n.text); ok && n.kind == nodeString {
			return value{kind: valueOID, text: id, at: at}, nil
		}
		return value{}, at.errorf("$oid needs 24 hexadecimal digits")
	case "$date":
		return extendedDate(n, at)
	}
	if n.kind != nodeString {
		return value{}, at.errorf("needs a number in a string")
	}
	v, err := number(n.text, at)
	if err != nil {
		return value{}, err
	}
	whole, isWhole := v.number.int64()
	if name == "$numberInt" && (!isWhole || !allDigits(strings.TrimPrefix(n.text, "-")) || whole != int64(int32(whole))) || //nolint:gosec // that is what is asked
		name == "$numberLong" && (!isWhole || !allDigits(strings.TrimPrefix(n.text, "-"))) {
		return value{}, at.errorf("number is out of range")
	}
	return v, nil
}

func extendedDate(n *node, at *place) (value, error) {
	instant, ok := time.Time{}, false
	switch {
	case n.kind == nodeString:
		instant, ok = parseDate(n.text)
	case n.kind == nodeNumber:
		if d, valid := parseDecimal(n.text); valid {
			instant, ok = dateOfMillis(d)
		}
	case isExtended(n) && n.keys[0] == "$numberLong":
		ms, err := extendedValue("$numberLong", n.items[0], at)
		if err != nil {
			return value{}, err
		}
		instant, ok = dateOfMillis(ms.number)
	}
	if !ok {
		return value{}, at.errorf("is not a date")
	}
	return value{kind: valueDate, instant: instant, at: at}, nil
}

// hexID reports 24 hexadecimal digits of either case, and lowers them.
func hexID(s string) (string, bool) {
	if len(s) != 24 || strings.Trim(s, "0123456789abcdefABCDEF") != "" {
		return "", false
	}
	return strings.ToLower(s), true
}

// pattern reads {$regex, $options} or {$regularExpression: {pattern, options}} and
// translates it to Postgres' dialect.
func (p *parser) pattern(n *node, at *place) (value, error) {
	source, options := n.child("$regex"), n.child("$options")
	at = at.at("$regex")
	if canonical := n.child("$regularExpression"); canonical != nil {
		at.key = "$regularExpression"
		source, options = canonical.child("pattern"), canonical.child("options")
		known := 0
		for _, part := range []*node{source, options} {
			if part != nil {
				known++
			}
		}
		if canonical.kind != nodeObject || source == nil || known != len(canonical.keys) {
			return value{}, at.errorf("needs a pattern and options")
		}
	}
	if source.kind != nodeString || options != nil && options.kind != nodeString {
		return value{}, at.errorf("needs a string")
	}
	if p.patterns++; p.patterns > MaxPatterns {
		return value{}, at.errorf("more than %d regular expressions", MaxPatterns)
	}
	flags := ""
	if options != nil {
		flags = options.text
	}
	translated, err := pgregex.Translate(source.text, flags)
	if err != nil {
		return value{}, at.errorf("%s", err.Error())
	}
	return value{kind: valuePattern, text: translated, at: at}, nil
}
