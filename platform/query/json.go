package query

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// node is a JSON value as the client wrote it: keys in order, numbers as text.
type node struct {
	kind  nodeKind
	text  string // of a string or number
	truth bool
	// An object's keys and values, or a list's values with nil keys.
	keys  []string
	items []*node
}

type nodeKind int

const (
	nodeNull nodeKind = iota
	nodeBool
	nodeNumber
	nodeString
	nodeArray
	nodeObject
)

// absent reports a parameter that counts as not given.
func absent(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text == "null"
}

// readObject reads the text of a parameter as one JSON object. The limits on size,
// depth and numbers are checked while reading, duplicate keys and U+0000 as well.
func readObject(text string, at *place, maxBytes int) (*node, error) {
	if len(text) > maxBytes {
		return nil, at.errorf("is too long")
	}
	if !utf8.ValidString(text) {
		return nil, at.errorf("is not valid UTF-8")
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	r := &reader{decoder: decoder, size: len(text), whole: at}
	n, err := r.next(at, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, r.malformed(nil)
	}
	if n.kind != nodeObject {
		return nil, at.errorf("has to be an object")
	}
	return n, nil
}

type reader struct {
	decoder *json.Decoder
	size    int
	whole   *place
}

func (r *reader) malformed(err error) error {
	offset := r.decoder.InputOffset()
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = syntax.Offset
	} else if err != nil {
		offset = int64(r.size) // the text ended early
	}
	return r.whole.errorf("is not valid JSON (offset %d)", offset)
}

// next reads one value; depth containers are open around it.
func (r *reader) next(at *place, depth int) (*node, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, r.malformed(err)
	}
	switch t := token.(type) {
	case nil:
		return &node{kind: nodeNull}, nil
	case bool:
		return &node{kind: nodeBool, truth: t}, nil
	case json.Number:
		if len(t) > MaxNumberLength {
			return nil, at.errorf("number is out of range")
		}
		return &node{kind: nodeNumber, text: string(t)}, nil
	case string:
		return &node{kind: nodeString, text: t}, noNull(t, at)
	}
	if depth++; depth > MaxContainers {
		return nil, at.errorf("is nested too deeply")
	}
	if token == json.Delim('[') {
		return r.list(at, depth)
	}
	return r.object(at, depth)
}

func (r *reader) list(at *place, depth int) (*node, error) {
	n := &node{kind: nodeArray}
	for r.decoder.More() {
		item, err := r.next(at.item(len(n.items)), depth)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	return n, r.close()
}

func (r *reader) object(at *place, depth int) (*node, error) {
	n := &node{kind: nodeObject}
	seen := map[string]bool{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, r.malformed(err)
		}
		key, ok := token.(string)
		if !ok {
			return nil, r.malformed(nil)
		}
		if err := noNull(key, at); err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, at.errorf("has the key %s twice", echo(key))
		}
		seen[key] = true
		value, err := r.next(at.at(key), depth)
		if err != nil {
			return nil, err
		}
		n.keys, n.items = append(n.keys, key), append(n.items, value)
	}
	return n, r.close()
}

func (r *reader) close() error {
	if _, err := r.decoder.Token(); err != nil {
		return r.malformed(err)
	}
	return nil
}

// noNull refuses U+0000, which Postgres' text cannot hold.
func noNull(s string, at *place) error {
	if strings.ContainsRune(s, 0) {
		return at.errorf("holds a null character")
	}
	return nil
}
