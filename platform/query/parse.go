package query

import "strings"

// predicate is a filter: all of its terms hold.
type predicate []term

// term is a *logic or a *fieldTerm.
type term any

// logic is $and, $or or $nor.
type logic struct {
	op      string
	members []predicate
}

// fieldTerm asks one path; all tests hold, each independently of the others.
type fieldTerm struct {
	path  []string
	tests []test
}

// test is one operator applied to the value at a path.
type test struct {
	op      string    // as the client writes it; an implicit equality is $eq
	operand value     // of $eq $ne $gt $gte $lt $lte $regex; the number of $size
	list    []value   // of $in $nin
	inner   []test    // of $not, $all, and $elemMatch on the element itself
	object  predicate // of $elemMatch on the members of the element, when inner is nil
	mod     [2]int64  // divisor and remainder
	exists  bool
	types   []bsonType
	at      *place
}

// parser turns the tree of a filter into conditions and enforces the limits that
// concern them, before anything is rewritten.
type parser struct {
	conditions int
	patterns   int
}

func parseFilter(n *node, at *place) (predicate, error) {
	return new(parser).filter(n, at, 0)
}

// filter reads an object of paths and logical operators; depth is the number of
// nested operators around it.
func (p *parser) filter(n *node, at *place, depth int) (predicate, error) {
	var all predicate
	for i, key := range n.keys {
		at := at.at(key)
		var t term
		var err error
		switch {
		case key == "$and" || key == "$or" || key == "$nor":
			t, err = p.logic(key, n.items[i], at, depth+1)
		case key == "$comment":
			if n.items[i].kind != nodeString {
				return nil, at.errorf("needs a string")
			}
			continue
		case strings.HasPrefix(key, "$"):
			return nil, at.errorf("unknown or unsupported operator")
		default:
			t, err = p.field(key, n.items[i], at, depth)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (p *parser) logic(op string, n *node, at *place, depth int) (term, error) {
	if err := p.enter(at, depth); err != nil {
		return nil, err
	}
	if err := p.count(at); err != nil {
		return nil, err
	}
	if n.kind != nodeArray || len(n.items) == 0 {
		return nil, at.errorf("has to be a nonempty array")
	}
	l := &logic{op: op}
	for i, item := range n.items {
		if item.kind != nodeObject {
			return nil, at.item(i).errorf("has to be an object")
		}
		member, err := p.filter(item, at.item(i), depth)
		if err != nil {
			return nil, err
		}
		l.members = append(l.members, member)
	}
	return l, nil
}

func (p *parser) field(key string, n *node, at *place, depth int) (term, error) {
	path, err := parsePath(key, at)
	if err != nil {
		return nil, err
	}
	t := &fieldTerm{path: path}
	switch {
	case isOperators(n) && !isCanonicalPattern(n):
		t.tests, err = p.operators(n, at, depth)
	default:
		var only test
		only, err = p.equality(n, at)
		t.tests = []test{only}
	}
	return t, err
}

// isCanonicalPattern reports {"$regularExpression": …}, which is a value although
// its key begins with $.
func isCanonicalPattern(n *node) bool {
	return len(n.keys) == 1 && n.keys[0] == "$regularExpression"
}

// equality reads the implicit equality {path: value}, where a regular expression matches.
func (p *parser) equality(n *node, at *place) (test, error) {
	if err := p.count(at); err != nil {
		return test{}, err
	}
	return p.equals(n, at)
}

func (p *parser) equals(n *node, at *place) (test, error) {
	if n.kind == nodeObject && len(n.keys) > 0 && !strings.HasPrefix(n.keys[0], "$") {
		for _, key := range n.keys {
			if strings.HasPrefix(key, "$") {
				return test{}, at.errorf("operators and fields are mixed")
			}
		}
	}
	v, err := p.member(n, at)
	if v.kind == valuePattern {
		return test{op: "$regex", operand: v, at: at}, err
	}
	return test{op: "$eq", operand: v, at: at}, err
}

// operators reads an operator object such as {"$gte": 1, "$lt": 9}.
func (p *parser) operators(n *node, at *place, depth int) ([]test, error) {
	var all []test
	for i, key := range n.keys {
		if !strings.HasPrefix(key, "$") {
			return nil, at.errorf("operators and fields are mixed")
		}
		if key == "$options" {
			if n.child("$regex") == nil {
				return nil, at.at(key).errorf("needs a $regex beside it")
			}
			continue
		}
		t, err := p.operator(key, n, n.items[i], at, depth)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// operator reads one operator of the object whole, with its operand n.
func (p *parser) operator(op string, whole, n *node, parent *place, depth int) (test, error) {
	read, known := fieldOperators[op]
	at := parent.at(op)
	switch {
	case foreign[op]:
		return test{}, at.errorf("unsupported value type")
	case !known:
		return test{}, at.errorf("unknown or unsupported operator")
	}
	if op != "$not" {
		if err := p.count(at); err != nil {
			return test{}, err
		}
	}
	t := test{op: op, at: at}
	if op == "$regex" {
		v, err := p.pattern(whole, parent)
		t.operand = v
		return t, err
	}
	return t, read(p, &t, n, depth)
}

func (p *parser) count(at *place) error {
	if p.conditions++; p.conditions > MaxConditions {
		return at.errorf("more than %d conditions", MaxConditions)
	}
	return nil
}

func (p *parser) enter(at *place, depth int) error {
	if depth > MaxNesting {
		return at.errorf("is nested too deeply")
	}
	return nil
}
