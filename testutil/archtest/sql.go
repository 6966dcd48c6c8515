package archtest

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// name is a schema-qualified name in SQL.
type name struct {
	schema     string
	line       int
	references bool   // it is the target of a foreign key
	function   string // its name, where it is called as one
}

var (
	anySchema = strings.Join(schemas(), "|")
	// The left side of a dot, unless it is itself the right side of one.
	qualified = regexp.MustCompile(`(^|[^a-z0-9_$.])((?:references\s+)?)"?(` + anySchema +
		`)(?:_internal)?"?\s*\.\s*("[a-z0-9_]*"|[a-z_][a-z0-9_]*)(\s*\()?`)
	// In Go text with a dot may be anything: it is SQL where it has words of it in capitals, or
	// one before the name of a schema.
	capitals = regexp.MustCompile(`\b(?:SELECT|FROM|JOIN|INSERT|UPDATE|DELETE|WHERE|UNION|TABLE|REFERENCES|USING|LATERAL|EXISTS)\b`)
	embedded = regexp.MustCompile(`\b(?:from|join|into|update|table|only|using|references)\s+"?(?:` + anySchema +
		`)(?:_internal)?"?\s*\.`)
	// A module may have a second schema beside its own, for what no reader of the first has a right to.
	madeSchema = regexp.MustCompile(`\b(?:create|drop|alter)\s+schema\s+(?:if\s+(?:not\s+)?exists\s+)?"?([a-z_0-9]+)`)
	migration  = regexp.MustCompile(`^(\d{5})_([a-z]+)_[a-z0-9_]+\.sql$`)
)

func (c *checker) checkSQL(file string) error {
	top, rest, _ := strings.Cut(file, "/")
	if top != "sql" && top != "migrations" {
		c.report(file, 0, "place", "SQL lies in sql/<module>/ and migrations/")
		return nil
	}
	content, err := fs.ReadFile(c.root, file)
	if err != nil {
		return err
	}
	bare := strings.ToLower(blank(string(content)))
	switch dir := path.Dir(rest); {
	case file == "sql/schema.sql", file == "sql/leaving.sql": // a dump; what sqlc reads away
	case top == "migrations":
		c.checkMigration(file, bare)
	case path.Base(dir) == "views" || path.Base(dir) == "functions":
		c.checkMade(file, path.Dir(dir), bare)
	case path.Base(dir) == checks:
		c.checkInvariant(file, path.Dir(dir), bare)
	default:
		c.checkQueries(file, dir, bare)
	}
	return nil
}

// checkInvariant: an invariant may read the schemas below its own, which it reads in any case.
func (c *checker) checkInvariant(file, owner, bare string) {
	order, top := schemas(), -1
	for _, n := range qualifiedNames(bare) {
		top = max(top, slices.Index(order, n.schema))
	}
	if top < 0 || order[top] != owner {
		c.report(file, 0, "schema", "an invariant lies in sql/<module>/%s of the topmost module whose schema it names",
			checks)
	}
}

func (c *checker) checkQueries(file, owner, bare string) {
	if !isModule(owner) {
		c.report(file, 0, "place", "sql/%s is no module's folder", owner)
		return
	}
	for _, n := range qualifiedNames(bare) {
		if !mayRead(owner, n.schema) && !mayCall(owner, n) {
			c.report(file, n.line, "schema", "a query of %s names schema %s", owner, n.schema)
		}
	}
}

func (c *checker) checkMigration(file, bare string) {
	m := migration.FindStringSubmatch(path.Base(file))
	if m == nil || path.Dir(file) != "migrations" {
		c.report(file, 0, "migration", "migrations are named NNNNN_<module>_<what>.sql")
		return
	}
	number, owner := m[1], m[2]
	if other, taken := c.migrations[number]; taken {
		c.report(file, 0, "migration", "%s has the same number", path.Base(other))
	}
	c.migrations[number] = file
	c.checkMade(file, owner, bare)
}

// checkMade holds what a migration makes, or the source of a view or function, to the schemas
// of its module.
func (c *checker) checkMade(file, owner, bare string) {
	if !isModule(owner) && owner != "platform" && owner != "jobs" {
		c.report(file, 0, "migration", "%s is no module", owner)
		return
	}
	for _, n := range qualifiedNames(bare) {
		if mayRead(owner, n.schema) || below(n.schema, owner) && (n.references || slices.Contains(filled[n.schema], n.function)) {
			continue
		}
		c.report(file, n.line, "schema", "a migration of %s names schema %s", owner, n.schema)
	}
	for _, at := range madeSchema.FindAllStringSubmatchIndex(bare, -1) {
		if made := bare[at[2]:at[3]]; strings.TrimSuffix(made, "_internal") != owner {
			c.report(file, lineOf(bare, at[0]), "schema", "a migration of %s makes or changes schema %s", owner, made)
		}
	}
}

// filled are the tables of a lower module into which migrations insert: an order that is open gets its intent.
var filled = map[string][]string{"payments": {"intents", "intent_steps"}}

// mayRead: one's own schema and platform's; the reader all but River's.
func mayRead(owner, schema string) bool {
	return schema == owner || schema == "platform" || owner == reader && isModule(schema)
}

// mayCall says that a query of owner may call the function: a published one of a module that owner uses.
func mayCall(owner string, n name) bool {
	return moduleUses(owner, n.schema) && slices.Contains(published[n.schema], n.function)
}

// below says that a foreign key of owner may point to the schema.
func below(schema, owner string) bool {
	return isModule(schema) && isModule(owner) && place(schema) < place(owner)
}

func qualifiedNames(bare string) []name {
	var names []name
	for _, at := range qualified.FindAllStringSubmatchIndex(bare, -1) {
		n := name{schema: bare[at[6]:at[7]], line: lineOf(bare, at[6]), references: at[5] > at[4]}
		if at[10] >= 0 {
			n.function = strings.Trim(bare[at[8]:at[9]], `"`)
		}
		names = append(names, n)
	}
	return names
}

// embeddedNames are those in a text of Go. Where it shows no word of SQL, only what is called
// is taken for a name in it: it may be a part of a statement.
func embeddedNames(text string) []name {
	bare := blank(text)
	lower := strings.ToLower(bare)
	names := qualifiedNames(lower)
	if capitals.MatchString(bare) || embedded.MatchString(lower) {
		return names
	}
	return slices.DeleteFunc(names, func(n name) bool { return n.function == "" })
}

func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// blank replaces comments and string literals with spaces, keeping the lines. The bodies
// of functions, between dollar quotes, are SQL and stay.
func blank(sql string) string {
	out := []byte(sql)
	for i := 0; i < len(out); {
		end := i + 1
		switch {
		case strings.HasPrefix(sql[i:], "--"):
			end = i + lineLength(sql[i:])
		case strings.HasPrefix(sql[i:], "/*"):
			end = i + commentLength(sql[i:])
		case sql[i] == '\'':
			end = i + literalLength(sql[i:], i > 0 && (sql[i-1] == 'E' || sql[i-1] == 'e'))
		default:
			i = end
			continue
		}
		for ; i < end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return string(out)
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// commentLength counts in nested comments, which Postgres allows.
func commentLength(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s)
}

// literalLength includes both quotes; a doubled quote, or in an E” literal an escaped one,
// does not end it.
func literalLength(s string, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && escapes:
			i++
		case s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == '\'':
			return i + 1
		}
	}
	return len(s)
}
