package mail

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// Templates are parsed by the parser of text/template and not executed by it: that finds methods by their names, for
// which the linker keeps every method of every type, two thirds of the binary (docs/decisions/linked-methods.md).

type (
	// step writes a part of a message.
	step func(out *strings.Builder, s scope) error
	// value is an expression.
	value func(s scope) (reflect.Value, error)
	// scope is what $ and the dot are, and .Brand wherever it stands.
	scope struct{ root, dot, brand reflect.Value }
	// function is what a template may call, with so many arguments.
	function struct {
		arguments int
		call      func(arguments []reflect.Value) (any, error)
	}
)

func newScope(data any, brand brandData) scope {
	return scope{root: reflect.ValueOf(data), dot: reflect.ValueOf(data), brand: reflect.ValueOf(brand)}
}

// at is the scope with another dot.
func (s scope) at(dot reflect.Value) scope { return scope{root: s.root, dot: dot, brand: s.brand} }

// brandField is the field of any data that says what the platform is called and looks like.
const brandField = "Brand"

// functions are those of text/template by these names. Values of function are not nil, which the parser asks for.
var functions = map[string]any{
	"and": function{2, func(a []reflect.Value) (any, error) {
		if !truth(a[0]) {
			return a[0].Interface(), nil
		}
		return a[1].Interface(), nil
	}},
	"not": function{1, func(a []reflect.Value) (any, error) { return !truth(a[0]), nil }},
	"eq": function{2, func(a []reflect.Value) (any, error) {
		if !a[0].CanInt() || !a[1].CanInt() {
			return nil, errors.New("eq compares whole numbers")
		}
		return a[0].Int() == a[1].Int(), nil
	}},
	"len": function{1, func(a []reflect.Value) (any, error) {
		if a[0].Kind() != reflect.Slice {
			return nil, errNoList
		}
		return a[0].Len(), nil
	}},
}

var errNoList = errors.New("not a list")

func truth(v reflect.Value) bool {
	is, _ := template.IsTrue(v.Interface())
	return is
}

// compiler makes steps of the nodes of one file.
type compiler struct {
	html *htmlContext // nil in plain text
	errs []error
}

// compile makes one step of a file; those whose names end in .html.tmpl escape.
func compile(name, text string) (step, error) {
	trees, err := parse.Parse(name, text, "", "", functions)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names file and line
	}
	tree, c := trees[name], &compiler{}
	if strings.HasSuffix(name, ".html.tmpl") {
		c.html = &htmlContext{}
	}
	if len(trees) > 1 {
		return nil, fmt.Errorf("template: %s: define is not known here", name)
	}
	whole := c.list(tree.Root)
	if !c.html.betweenTags() {
		c.errs = append(c.errs, errors.New("a tag is not closed"))
	}
	if err := errors.Join(c.errs...); err != nil {
		return nil, fmt.Errorf("template: %s: %w", name, err)
	}
	return whole, nil
}

func (c *compiler) refuse(n parse.Node, why string) {
	c.errs = append(c.errs, fmt.Errorf("%s: %s", n, why))
}

func (c *compiler) list(l *parse.ListNode) step {
	if l == nil {
		return func(*strings.Builder, scope) error { return nil }
	}
	steps := make([]step, len(l.Nodes))
	for i, n := range l.Nodes {
		steps[i] = c.node(n)
	}
	return func(out *strings.Builder, s scope) error {
		for _, write := range steps {
			if err := write(out, s); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *compiler) node(n parse.Node) step {
	switch n := n.(type) {
	case *parse.TextNode:
		text := string(n.Text)
		if err := c.html.read(text); err != nil {
			c.errs = append(c.errs, err)
		}
		return func(out *strings.Builder, _ scope) error { out.WriteString(text); return nil }
	case *parse.ActionNode:
		return c.action(n)
	case *parse.IfNode:
		return c.branch(&n.BranchNode, func(v reflect.Value, s scope) ([]scope, error) { return keep(truth(v), s) })
	case *parse.WithNode:
		return c.branch(&n.BranchNode, func(v reflect.Value, s scope) ([]scope, error) {
			return keep(truth(v), s.at(v))
		})
	case *parse.RangeNode:
		return c.branch(&n.BranchNode, func(v reflect.Value, s scope) (each []scope, err error) {
			if v.Kind() != reflect.Slice {
				return nil, errNoList
			}
			for i := range v.Len() {
				each = append(each, s.at(v.Index(i)))
			}
			return each, nil
		})
	default:
		c.refuse(n, "not known here")
		return nil
	}
}

func keep(is bool, s scope) ([]scope, error) {
	if is {
		return []scope{s}, nil
	}
	return nil, nil
}

// action writes what a value is, as the place where it stands needs it.
func (c *compiler) action(n *parse.ActionNode) step {
	of := c.pipe(n.Pipe)
	escape, err := c.html.escaper()
	if err != nil {
		c.refuse(n, err.Error())
	}
	return func(out *strings.Builder, s scope) error {
		v, err := of(s)
		if err != nil {
			return err
		}
		text, err := printed(v)
		if err == nil {
			text, err = escape(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
		out.WriteString(text)
		return nil
	}
}

func printed(v reflect.Value) (string, error) {
	switch {
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	}
	return "", errors.New("neither text nor a whole number")
}

// branch writes its list once for each scope, or what stands after else where there is none.
func (c *compiler) branch(b *parse.BranchNode, scopes func(reflect.Value, scope) ([]scope, error)) step {
	of, whole := c.pipe(b.Pipe), c.html.betweenTags()
	list := c.list(b.List)
	whole = whole && c.html.betweenTags()
	otherwise := c.list(b.ElseList)
	if !whole || !c.html.betweenTags() {
		c.refuse(b.Pipe, "if, with and range stand between tags and hold whole ones")
	}
	return func(out *strings.Builder, s scope) error {
		v, err := of(s)
		if err != nil {
			return err
		}
		each, err := scopes(v, s)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Pipe, err)
		}
		if len(each) == 0 {
			return otherwise(out, s)
		}
		for _, s := range each {
			if err := list(out, s); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *compiler) pipe(p *parse.PipeNode) value {
	if len(p.Decl) > 0 || len(p.Cmds) != 1 {
		c.refuse(p, "variables and pipes are not known here")
		return nil
	}
	arguments := p.Cmds[0].Args
	name, ok := arguments[0].(*parse.IdentifierNode)
	if !ok {
		if len(arguments) > 1 {
			c.refuse(p, "methods are not known here")
		}
		return c.operand(arguments[0])
	}
	f, values := functions[name.Ident].(function), make([]value, len(arguments)-1)
	if len(values) != f.arguments {
		c.refuse(p, fmt.Sprintf("%s takes %d", name, f.arguments))
	}
	for i := range values {
		values[i] = c.operand(arguments[i+1])
	}
	return func(s scope) (reflect.Value, error) {
		got := make([]reflect.Value, len(values))
		for i, of := range values {
			var err error
			if got[i], err = of(s); err != nil {
				return reflect.Value{}, err
			}
		}
		result, err := f.call(got)
		return reflect.ValueOf(result), err
	}
}

func (c *compiler) operand(n parse.Node) value {
	switch n := n.(type) {
	case *parse.DotNode:
		return func(s scope) (reflect.Value, error) { return s.dot, nil }
	case *parse.FieldNode:
		if n.Ident[0] == brandField {
			return func(s scope) (reflect.Value, error) { return field(s.brand, n.Ident[1:]) }
		}
		return func(s scope) (reflect.Value, error) { return field(s.dot, n.Ident) }
	case *parse.VariableNode: // $ alone: others would be declared in a pipe
		return func(s scope) (reflect.Value, error) { return field(s.root, n.Ident[1:]) }
	case *parse.NumberNode:
		number := reflect.ValueOf(n.Int64)
		return func(scope) (reflect.Value, error) { return number, nil }
	case *parse.PipeNode:
		return c.pipe(n)
	default:
		c.refuse(n, "not known here")
		return nil
	}
}

// field follows names through structs, pointers to them, and maps.
func field(v reflect.Value, names []string) (reflect.Value, error) {
	for _, name := range names {
		v = reflect.Indirect(v)
		switch v.Kind() {
		case reflect.Struct:
			v = v.FieldByName(name)
		case reflect.Map:
			v = v.MapIndex(reflect.ValueOf(name))
		default:
			v = reflect.Value{}
		}
		if v.IsValid() && v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() || !v.CanInterface() {
			return v, fmt.Errorf("there is no .%s", strings.Join(names, "."))
		}
	}
	return v, nil
}
