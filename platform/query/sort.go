package query

import "strings"

// sortKey is one key of a sort: a path and its direction.
type sortKey struct {
	path       []string
	descending bool
}

// parseSort reads {"path": 1 or -1, …}; the order of the keys is their significance.
func parseSort(text string) ([]sortKey, error) {
	at := root(ParamSort)
	n, err := readObject(text, at, MaxSortBytes)
	if err != nil {
		return nil, err
	}
	if len(n.keys) > MaxSortKeys {
		return nil, at.errorf("more than %d keys", MaxSortKeys)
	}
	keys := make([]sortKey, 0, len(n.keys))
	for i, name := range n.keys {
		at := at.at(name)
		if strings.HasPrefix(name, "$") {
			return nil, at.errorf("unknown or unsupported operator")
		}
		path, err := parsePath(name, at)
		if err != nil {
			return nil, err
		}
		direction, err := parseDirection(n.items[i], at)
		if err != nil {
			return nil, err
		}
		keys = append(keys, sortKey{path: path, descending: direction < 0})
	}
	return keys, nil
}

func parseDirection(n *node, at *place) (int64, error) {
	var v value
	var err error
	switch {
	case isExtended(n):
		v, err = extendedValue(n.keys[0], n.items[0], at)
	case n.kind == nodeNumber:
		v, err = number(n.text, at)
	}
	if err != nil {
		return 0, err
	}
	direction, whole := v.number.int64()
	if v.kind != valueNumber || !whole || direction != 1 && direction != -1 {
		return 0, at.errorf("has to be 1 or -1")
	}
	return direction, nil
}

// orderBy writes the keys up to and including _id, which is appended ascending when
// it is not among them: without it pages repeat and lose rows among equal keys.
func (c *Collection) orderBy(keys []sortKey, firstArg int) Sort {
	w, s := newWriter(firstArg), Sort{}
	for _, key := range append(keys, sortKey{path: []string{"_id"}}) {
		f, rest, known := c.find(key.path)
		if !known {
			s.Unknown++
			continue
		}
		for _, by := range f.sortTerms(rest, key.descending) {
			if w.sql.Len() > 0 {
				w.sql.WriteString(", ")
			}
			w.fragment(by)
		}
		if key.path[0] == "_id" && len(rest) == 0 {
			break
		}
	}
	s.SQL, s.Args = w.sql.String(), w.args
	return s
}

// sortTerms are the ORDER BY items of a field or of a path below it: none when all
// documents are equal there.
func (f Field) sortTerms(rest []string, descending bool) []fragment {
	x := f.sql()
	switch {
	case f.Kind == JSON:
		return jsonSort(x, rest, descending)
	case f.Array && len(rest) == 0:
		return []fragment{nullsLow(f.extreme(descending), descending)}
	case f.Array:
		if index, ok := position(rest); ok {
			return []fragment{nullsLow(f.collated(fill("(?)[?]", x, index)), descending)}
		}
		return nil
	case len(rest) > 0:
		return nil
	}
	x = f.collated(x)
	switch {
	case f.NullsEnd && descending:
		return []fragment{fill("? DESC NULLS LAST", x)}
	case f.NullsEnd:
		return []fragment{fill("? ASC NULLS LAST", x)}
	case f.mayBeNull():
		return []fragment{nullsLow(x, descending)}
	case descending:
		return []fragment{fill("? DESC", x)}
	}
	return []fragment{fill("? ASC", x)}
}

// nullsLow sorts null before everything ascending and after everything descending,
// the opposite of Postgres' defaults.
func nullsLow(x fragment, descending bool) fragment {
	if descending {
		return fill("? DESC NULLS LAST", x)
	}
	return fill("? ASC NULLS FIRST", x)
}

// collated makes strings sort by code point in databases of every locale. On a column
// that is declared so it changes nothing, and its indexes serve.
func (f Field) collated(x fragment) fragment {
	if f.Kind == String {
		return fill(`? COLLATE "C"`, x)
	}
	return x
}

// extreme is the element that an array sorts by; an empty array has none.
func (f Field) extreme(descending bool) fragment {
	element := f.collated(fill("e.v"))
	if descending {
		return fill("(SELECT max(?) FROM unnest(?) e(v))", element, f.sql())
	}
	return fill("(SELECT min(?) FROM unnest(?) e(v))", element, f.sql())
}

// jsonSort sorts by the literal value at the path: by MongoDB's order of types, then
// by the value of numbers, strings and booleans.
func jsonSort(x fragment, path []string, descending bool) []fragment {
	if len(path) > 0 {
		x = fill("(? #> ?)", x, arg(path, "text[]"))
	}
	direction := literal(" ASC")
	if descending {
		direction = " DESC"
	}
	return []fragment{
		fill("CASE jsonb_typeof(?) WHEN 'number' THEN 2 WHEN 'string' THEN 3 WHEN 'object' THEN 4"+
			" WHEN 'array' THEN 5 WHEN 'boolean' THEN 7 ELSE 1 END"+direction, x),
		fill("CASE WHEN jsonb_typeof(?) = 'number' THEN (? #>> '{}')::numeric END"+direction, x, x),
		fill("CASE WHEN jsonb_typeof(?) IN ('string', 'boolean') THEN ? #>> '{}' END COLLATE \"C\""+direction, x, x),
	}
}
