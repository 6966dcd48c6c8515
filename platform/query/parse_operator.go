package query

import "strings"

// fieldOperators are the operators that a path takes, each with the reader of its
// operand. $regex is read with its $options, from the whole object.
var fieldOperators map[string]func(p *parser, t *test, n *node, depth int) error

func init() { // in init because $not leads back to the table
	fieldOperators = map[string]func(p *parser, t *test, n *node, depth int) error{
		"$eq": (*parser).comparison, "$ne": (*parser).comparison,
		"$gt": (*parser).comparison, "$gte": (*parser).comparison,
		"$lt": (*parser).comparison, "$lte": (*parser).comparison,
		"$in": (*parser).in, "$nin": (*parser).in,
		"$exists": (*parser).existence, "$type": (*parser).types, "$size": (*parser).size, "$mod": (*parser).modulo,
		"$not": (*parser).not, "$all": (*parser).every, "$elemMatch": (*parser).element, "$regex": nil,
	}
}

func (p *parser) comparison(t *test, n *node, _ int) (err error) {
	if isPattern(n) {
		return t.at.errorf("takes no regular expression")
	}
	if t.operand, err = p.operand(n, t.at); err != nil {
		return err
	}
	isRange := t.op != "$eq" && t.op != "$ne"
	if isRange && (t.operand.kind == valueArray || t.operand.kind == valueObject) {
		return t.at.errorf("takes no array or object")
	}
	return nil
}

// checkList checks the operand of a list operator.
func checkList(n *node, at *place) error {
	if n.kind != nodeArray {
		return at.errorf("needs an array")
	}
	if len(n.items) > MaxMembers {
		return at.errorf("more than %d values", MaxMembers)
	}
	return nil
}

func (p *parser) in(t *test, n *node, _ int) error {
	if err := checkList(n, t.at); err != nil {
		return err
	}
	for i, item := range n.items {
		v, err := p.member(item, t.at.item(i))
		if err != nil {
			return err
		}
		t.list = append(t.list, v)
	}
	return nil
}

// every reads $all: equalities, regular expressions and {$elemMatch}s.
func (p *parser) every(t *test, n *node, depth int) error {
	if err := checkList(n, t.at); err != nil {
		return err
	}
	for i, item := range n.items {
		var one test
		var err error
		if len(item.keys) == 1 && item.keys[0] == "$elemMatch" {
			one, err = p.operator("$elemMatch", item, item.items[0], t.at.item(i), depth)
		} else {
			one, err = p.equals(item, t.at.item(i))
		}
		if err != nil {
			return err
		}
		t.inner = append(t.inner, one)
	}
	return nil
}

func (p *parser) existence(t *test, n *node, _ int) error {
	v, err := p.operand(n, t.at)
	if err != nil {
		return err
	}
	switch v.kind {
	case valueNull:
	case valueBool:
		t.exists = v.truth
	case valueNumber:
		t.exists = !v.number.isZero()
	default:
		return t.at.errorf("has to be true or false")
	}
	return nil
}

func (p *parser) size(t *test, n *node, _ int) error {
	v, err := p.operand(n, t.at)
	if err != nil {
		return err
	}
	if v.kind != valueNumber || v.number.negative || v.number.exp < 0 {
		return t.at.errorf("needs a non-negative integer")
	}
	t.operand = v
	return nil
}

func (p *parser) modulo(t *test, n *node, _ int) error {
	if n.kind != nodeArray || len(n.items) != 2 {
		return t.at.errorf("needs an array of divisor and remainder")
	}
	for i, item := range n.items {
		v, err := p.operand(item, t.at.item(i))
		if err != nil {
			return err
		}
		if v.kind != valueNumber {
			return t.at.errorf("needs an array of divisor and remainder")
		}
		whole, ok := v.number.trunc()
		if !ok {
			return t.at.item(i).errorf("number is out of range")
		}
		t.mod[i] = whole
	}
	if t.mod[0] == 0 {
		return t.at.errorf("needs a nonzero divisor")
	}
	return nil
}

func (p *parser) types(t *test, n *node, _ int) error {
	names := []*node{n}
	if n.kind == nodeArray {
		if len(n.items) == 0 {
			return t.at.errorf("needs at least one type")
		}
		if err := checkList(n, t.at); err != nil {
			return err
		}
		names = n.items
	}
	for _, name := range names {
		bson, ok := parseType(name)
		if !ok {
			return t.at.errorf("unknown type")
		}
		t.types = append(t.types, bson)
	}
	return nil
}

func (p *parser) not(t *test, n *node, depth int) (err error) {
	if err := p.enter(t.at, depth+1); err != nil {
		return err
	}
	switch {
	case n.kind == nodeObject && isCanonicalPattern(n):
		var one test
		one, err = p.equality(n, t.at)
		t.inner = []test{one}
	case isOperators(n):
		t.inner, err = p.operators(n, t.at, depth+1)
	default:
		return t.at.errorf("needs an operator object or a regular expression")
	}
	return err
}

// element reads $elemMatch: operators on the element itself, or a filter on its members.
func (p *parser) element(t *test, n *node, depth int) (err error) {
	if err := p.enter(t.at, depth+1); err != nil {
		return err
	}
	if n.kind != nodeObject {
		return t.at.errorf("has to be an object")
	}
	if len(n.keys) > 0 && strings.HasPrefix(n.keys[0], "$") && !isFilterKey(n.keys[0]) {
		if isExtended(n) || isCanonicalPattern(n) {
			return t.at.at(n.keys[0]).errorf("unknown or unsupported operator")
		}
		t.inner, err = p.operators(n, t.at, depth+1)
		return err
	}
	t.object, err = p.filter(n, t.at, depth+1)
	return err
}

func isFilterKey(key string) bool {
	return key == "$and" || key == "$or" || key == "$nor" || key == "$comment"
}
