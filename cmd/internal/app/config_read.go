package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/caarlos0/env/v11"
)

// fromFile ends the name of the variable that names a file with a secret.
const fromFile = "_FILE"

// Environment is the configuration as it was read, variable by variable.
type Environment struct {
	Config    Config
	Variables []Variable
	Hints     []string // sentences about names that are not read, and look like one that is
}

// Variable is one key of the configuration: where its value comes from, and what is
// wrong with it. A secret is not in it.
type Variable struct {
	Key, Source, Value, Default string
	Problems                    []string
	unreadable                  bool
}

// ReadConfig reads the environment. The error names every variable that cannot be
// read; Validate tells what is missing or not enough to serve with.
func ReadConfig() (Config, error) {
	e := ReadEnvironment(os.Environ())
	return e.Config, e.err(func(v Variable) bool { return v.unreadable })
}

// CheckedConfig reads the environment and insists that it is complete.
func CheckedConfig() (Config, error) {
	e := ReadEnvironment(os.Environ())
	return e.Config, e.Err()
}

// ReadEnvironment reads variables of the form NAME=value, and the files that those
// named …_FILE point to.
func ReadEnvironment(environ []string) Environment {
	given := env.ToMap(environ)
	e := Environment{Hints: hints(given)}
	effective, found := withFiles(given)
	for _, g := range groups(&e.Config) { // an error of the library names the field, which is one of its group alone
		options := env.Options{Environment: effective, Prefix: g.prefix}
		found = append(found, g.unparsed(env.ParseWithOptions(g.fields.Addr().Interface(), options))...)
	}
	trimLists(&e.Config)
	wrong := e.Config.problems()
	for _, v := range variables(&e.Config) {
		printed := Variable{Key: v.key, Source: source(v, given), Default: v.def, Value: v.redact()}
		for _, p := range found {
			if p.Key == v.key {
				printed.Problems, printed.unreadable = append(printed.Problems, p.Sentence), true
			}
		}
		for _, p := range wrong {
			if p.Key == v.key && !printed.unreadable {
				printed.Problems = append(printed.Problems, p.Sentence)
			}
		}
		if printed.unreadable {
			printed.Value = ""
		}
		e.Variables = append(e.Variables, printed)
	}
	return e
}

// Wrong counts the variables with which something is wrong.
func (e Environment) Wrong() (n int) {
	for _, v := range e.Variables {
		if len(v.Problems) > 0 {
			n++
		}
	}
	return n
}

// Err holds a sentence for everything that is wrong, and hints at misspelled names.
func (e Environment) Err() error { return e.err(func(Variable) bool { return true }) }

func (e Environment) err(of func(Variable) bool) error {
	var all []error
	for _, v := range e.Variables {
		for _, p := range v.Problems {
			if of(v) {
				all = append(all, errors.New(p))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	for _, hint := range e.Hints {
		all = append(all, errors.New(hint))
	}
	return fmt.Errorf("configuration:\n%w", errors.Join(all...))
}

// group is a struct of Config, and what the names of its variables begin with.
type group struct {
	prefix string
	fields reflect.Value
}

func groups(c *Config) []group {
	v := reflect.ValueOf(c).Elem()
	all := make([]group, v.NumField())
	for i := range all {
		all[i] = group{v.Type().Field(i).Tag.Get("envPrefix"), v.Field(i)}
	}
	return all
}

// variable is a field of a group with what its tags say.
type variable struct {
	key, doc, def, name string
	secret, zero        bool
	field               reflect.Value
}

func (g group) variables() []variable {
	all := make([]variable, g.fields.NumField())
	for i := range all {
		f := g.fields.Type().Field(i)
		all[i] = variable{
			key: g.prefix + f.Tag.Get("env"), doc: f.Tag.Get("doc"), def: f.Tag.Get("envDefault"), name: f.Name,
			secret: f.Tag.Get("secret") != "", zero: f.Tag.Get("zero") != "", field: g.fields.Field(i),
		}
	}
	return all
}

// variables lists those of a configuration in their order.
func variables(c *Config) (all []variable) {
	for _, g := range groups(c) {
		all = append(all, g.variables()...)
	}
	return all
}

// withFiles adds to the environment what stands in the files of secrets.
func withFiles(given map[string]string) (effective map[string]string, found problems) {
	effective = map[string]string{}
	for _, v := range variables(&Config{}) {
		effective[v.key] = given[v.key]
		path := given[v.key+fromFile]
		if !v.secret || path == "" {
			continue
		}
		if given[v.key] != "" {
			found = append(found, Problem{v.key, fmt.Sprintf("%s and %s%s are both set: leave one away.", v.key, v.key, fromFile)})
			continue
		}
		content, err := readSecret(path)
		text := strings.TrimRight(string(content), "\r\n")
		switch {
		case err != nil:
			found = append(found, Problem{v.key, fmt.Sprintf("%s%s names a file that cannot be read: %v.", v.key, fromFile, err)})
		case text == "":
			found = append(found, Problem{v.key, fmt.Sprintf("%s%s names %s, which is empty.", v.key, fromFile, path)})
		}
		effective[v.key] = text
	}
	return effective, found
}

// readSecret reads a regular file, and opens nothing else: a pipe nobody writes to would keep
// it waiting for ever, and a device may have no end.
func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() { // of a directory reading tells
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.ReadFile(path)
}

// unparsed names the variables whose text is not of their kind.
func (g group) unparsed(err error) (found problems) {
	var all env.AggregateError
	if err != nil && !errors.As(err, &all) {
		panic(err) // a tag of Config is wrong
	}
	for _, one := range all.Errors {
		var parse env.ParseError
		if !errors.As(one, &parse) {
			panic(one)
		}
		for _, v := range g.variables() {
			if v.name == parse.Name {
				found.need(false, v.key, "has to be %s.", kindOf(parse.Type))
			}
		}
	}
	return found
}

func kindOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a span of time such as 90s, 15m or 12h"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Slice:
		return "whole numbers, comma-separated"
	}
	return "a whole number"
}

// trimLists takes away the spaces that people write behind commas.
func trimLists(c *Config) {
	for _, v := range variables(c) {
		list, ok := v.field.Interface().([]string)
		if !ok {
			continue
		}
		for i, text := range list {
			list[i] = strings.TrimSpace(text)
		}
		v.field.Set(reflect.ValueOf(slices.DeleteFunc(list, func(text string) bool { return text == "" })))
	}
}

func source(v variable, given map[string]string) string {
	switch {
	case v.secret && given[v.key+fromFile] != "":
		return "file " + given[v.key+fromFile]
	case given[v.key] != "":
		return "environment"
	case v.def != "":
		return "default"
	}
	return "not set"
}

// redact is the value as it may be printed.
func (v variable) redact() string {
	if v.secret {
		if v.field.IsZero() || v.field.Kind() == reflect.Slice && v.field.Len() == 0 {
			return ""
		}
		return "(secret)"
	}
	if list := v.field; list.Kind() == reflect.Slice {
		texts := make([]string, list.Len())
		for i := range texts {
			texts[i] = fmt.Sprint(list.Index(i))
		}
		return redact(strings.Join(texts, ","))
	}
	return redact(fmt.Sprint(v.field))
}

// redact hides what may be a password in an address that should have none.
func redact(text string) string {
	_, rest, found := strings.Cut(text, "://")
	if found && strings.Contains(rest, "@") {
		return "(an address with a password)"
	}
	return text
}

// hints are sentences about variables that are set and not read, and are named nearly
// like one that is.
func hints(given map[string]string) (sentences []string) {
	var known []string
	for _, v := range variables(&Config{}) {
		known = append(known, v.key)
		if v.secret {
			known = append(known, v.key+fromFile)
		}
	}
	for name := range given {
		if slices.Contains(known, name) {
			continue
		}
		if key, ok := strings.CutSuffix(name, fromFile); ok && slices.Contains(known, key) {
			sentences = append(sentences, fmt.Sprintf("%s is not read: %s is no secret, set it itself.", name, key))
			continue
		}
		nearest, least := "", 0
		for _, key := range known {
			most := max(1, len(key)/5)
			if len(name) > len(key)+most || len(key) > len(name)+most {
				continue // as many edits at least
			}
			if d := edits(strings.ToUpper(name), key); d <= most && (nearest == "" || d < least) {
				nearest, least = key, d
			}
		}
		if nearest != "" {
			sentences = append(sentences, fmt.Sprintf("%s is set and not read: is %s meant?", name, nearest))
		}
	}
	slices.Sort(sentences)
	return sentences
}

// edits counts the letters to add, leave away, change or swap with their neighbour to
// make b of a.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// DescribeConfig lists every key with its meaning and default, for --help.
func DescribeConfig() string {
	var out strings.Builder
	for _, v := range variables(&Config{}) {
		fmt.Fprintf(&out, "  %-22s %s", v.key, v.doc)
		if v.secret {
			fmt.Fprintf(&out, " Or %s%s.", v.key, fromFile)
		}
		if v.def != "" {
			fmt.Fprintf(&out, " Default: %s.", v.def)
		}
		out.WriteString("\n")
	}
	out.WriteString("\nNAME_FILE names a file whose content is the secret NAME. `marquee config check` shows what is read and what is wrong.\n")
	return out.String()
}

// describeConfigTable is DescribeConfig as a Markdown table, for the docs.
func describeConfigTable() string {
	var out strings.Builder
	out.WriteString("| key | meaning | default |\n|---|---|---|\n")
	for _, v := range variables(&Config{}) {
		key, def := "`"+v.key+"`", v.def
		if v.secret {
			key += ", `" + v.key + fromFile + "`"
		}
		if def != "" {
			def = "`" + def + "`"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", key, v.doc, def)
	}
	return out.String()
}

// Print writes a line a variable, and under the table what is wrong and what looks
// misspelled. Secrets are not shown.
func (e Environment) Print(to io.Writer) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VARIABLE\tSOURCE\tVALUE\tDEFAULT\tERROR")
	for _, v := range e.Variables {
		// A tab or line end in a value would make another column or line.
		row := []string{v.Key, v.Source, v.Value, v.Default, strings.Join(v.Problems, " ")}
		for i, cell := range row {
			if cell = strings.Join(strings.Fields(cell), " "); cell == "" && i < len(row)-1 {
				cell = "-"
			}
			row[i] = cell
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	for _, hint := range e.Hints {
		if _, err := fmt.Fprintln(to, hint); err != nil {
			return fmt.Errorf("print the configuration: %w", err)
		}
	}
	return nil
}
