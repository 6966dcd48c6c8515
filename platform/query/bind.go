package query

// binder turns a parsed filter into conditions over a collection.
type binder struct {
	collection *Collection
	unknown    int
	depth      int // of $elemMatch on jsonb, which names its rows by it
}

// resolver finds what a path leads to: in the collection, or below an element of a
// jsonb list.
type resolver func(path []string) target

func (b *binder) filter(p predicate, resolve resolver) (condition, error) {
	of := make([]condition, 0, len(p))
	for _, t := range p {
		var c condition
		var err error
		switch t := t.(type) {
		case *logic:
			c, err = b.logic(t, resolve)
		case *fieldTerm:
			c, err = b.tests(resolve(t.path), t.tests)
		}
		if err != nil {
			return nil, err
		}
		of = append(of, c)
	}
	return all(of...), nil
}

func (b *binder) logic(l *logic, resolve resolver) (condition, error) {
	of := make([]condition, 0, len(l.members))
	for _, m := range l.members {
		c, err := b.filter(m, resolve)
		if err != nil {
			return nil, err
		}
		of = append(of, c)
	}
	switch l.op {
	case "$and":
		return all(of...), nil
	case "$or":
		return some(of...), nil
	}
	return not(some(of...)), nil
}

// tests is the conjunction of tests on one target, each independent of the others.
func (b *binder) tests(on target, tests []test) (condition, error) {
	of := make([]condition, 0, len(tests))
	for _, t := range tests {
		c, err := b.test(on, t)
		if err != nil {
			return nil, err
		}
		of = append(of, c)
	}
	return all(of...), nil
}

func (b *binder) test(on target, t test) (condition, error) {
	switch t.op {
	case "$eq":
		return equal(on, t.operand)
	case "$ne":
		return negate(equal(on, t.operand))
	case "$in":
		return among(on, t.list)
	case "$nin":
		return negate(among(on, t.list))
	case "$gt", "$gte", "$lt", "$lte":
		if t.operand.kind == valueNull {
			return all(constant(t.op == "$gte" || t.op == "$lte"), on.null()), nil
		}
		return on.compare(t.op, t.operand)
	case "$exists":
		if t.exists {
			return on.exists(), nil
		}
		return not(on.exists()), nil
	case "$regex":
		return on.match(t.operand.text), nil
	case "$not":
		return negate(b.tests(on, t.inner))
	case "$all":
		return b.every(on, t.inner)
	case "$size":
		return on.size(t.operand.number), nil
	case "$mod":
		return on.modulo(t.mod), nil
	case "$type":
		var of []condition
		for _, bson := range t.types {
			of = append(of, on.ofType(bson))
		}
		return some(of...), nil
	}
	return on.element(b, t) // $elemMatch
}

func equal(on target, v value) (condition, error) {
	if v.kind == valueNull {
		return on.null(), nil
	}
	return on.equal(v)
}

// among is $in: any listed value equals, null or a pattern matches.
func among(on target, list []value) (condition, error) {
	var plain []value
	var others []condition
	for _, v := range list {
		switch v.kind {
		case valueNull:
			others = append(others, on.null())
		case valuePattern:
			others = append(others, on.match(v.text))
		default:
			plain = append(plain, v)
		}
	}
	c, err := on.among(plain)
	if err != nil {
		return nil, err
	}
	return some(append([]condition{c}, others...)...), nil
}

// every is $all: the conjunction of its members, and nothing when it has none.
func (b *binder) every(on target, members []test) (condition, error) {
	if len(members) == 0 {
		return constant(false), nil
	}
	list, isArray := on.(array)
	if !isArray {
		return b.tests(on, members)
	}
	// All scalars in one containment, which one pass over a GIN index answers.
	var scalars []value
	var rest []test
	for _, m := range members {
		if m.op == "$eq" && m.operand.kind != valueArray {
			scalars = append(scalars, m.operand)
		} else {
			rest = append(rest, m)
		}
	}
	bound, n, strangers, err := list.kind.operands(scalars)
	if err != nil || strangers > 0 {
		return constant(false), err
	}
	c, err := b.tests(on, rest)
	if err != nil || n == 0 {
		return c, err
	}
	return all(atom(fill("? @> ?", list.x, list.list(bound))), c), nil
}

func negate(c condition, err error) (condition, error) {
	if err != nil {
		return nil, err
	}
	return not(c), nil
}
