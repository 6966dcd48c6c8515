package app

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

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
