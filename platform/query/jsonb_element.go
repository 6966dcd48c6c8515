package query

// memberRows names the rows of $elemMatch on jsonb by its depth, so that an inner one
// can look at the outer one's element.
var memberRows = [MaxNesting + 1]struct{ owner, member literal }{
	{"o0", "m0"},
	{"o1", "m1"},
	{"o2", "m2"},
	{"o3", "m3"},
	{"o4", "m4"},
	{"o5", "m5"},
	{"o6", "m6"},
	{"o7", "m7"},
	{"o8", "m8"},
	{"o9", "m9"},
	{"o10", "m10"},
}

func (d document) element(b *binder, t test) (condition, error) {
	owner, member := memberRows[b.depth].owner, memberRows[b.depth].member
	b.depth++
	defer func() { b.depth-- }()

	x := fill(member + ".v")
	where, err := d.elementTests(b, t, x)
	if err != nil {
		return nil, err
	}
	// Only lists are unpacked: the path asks for the type before jsonb_array_elements runs.
	lists, unpack := jsonPath("strict $").where(is("array")), fill(owner+".v")
	if len(d.path) > 0 {
		last := len(d.path) - 1
		lists, unpack = arrayAt(d.path, ""), fill(owner+".v -> ?", arg(d.path[last], "text"))
	}
	from := fill("jsonb_path_query(?, ?) "+owner+"(v), jsonb_array_elements(?) "+member+"(v)",
		d.x, lists.arg(), unpack)
	return exists(from, where), nil
}

// elementTests is the condition on one element x of the list.
func (d document) elementTests(b *binder, t test, x fragment) (condition, error) {
	if t.inner != nil {
		return b.tests(document{
			x: x, alone: true, isNull: constant(false), there: constant(true), ids: d.ids, name: d.name,
		}, t.inner)
	}
	where, err := b.filter(t.object, func(path []string) target { return d.memberOf(x, path) })
	return all(atom(fill("jsonb_typeof(?) IN ('object', 'array')", x)), where), err
}

// memberOf is a path below an element of a list. A list among the elements has
// positions and no keys, and is not stepped through.
func (d document) memberOf(x fragment, path []string) target {
	member := document{x: x, ids: d.ids, name: d.name}
	if !isPosition(path[0]) {
		member.x = fill("(CASE jsonb_typeof(?) WHEN 'object' THEN ? END)", x, x)
	}
	member.isNull = atom(fill("? IS NULL", member.x))
	return member.below(path)
}
