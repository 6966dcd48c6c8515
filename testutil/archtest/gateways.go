package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// gatewayRoutes are the files of modules whose routes are of one gateway, as the contract names
// them. Else the row's gateway, or gateway.Traits, says of which one something is.
var gatewayRoutes = []string{
	"modules/payments/routes.go",
	"modules/subscriptions/admin/http.go",
	"modules/subscriptions/checkout/card.go",
	"modules/subscriptions/checkout/subscribe.go",
	"modules/subscriptions/selfservice/http.go",
	"modules/tickets/checkout/guest.go",
	"modules/tickets/checkout/purchase.go",
}

// gateways are the rooms of payments that tell one gateway from the other: the words, with the
// table of what each does, and the adapters, which are a gateway each.
var gateways = []string{"gateway", "gwa", "gwb"}

// checkGateways reports where a file of a module asks which gateway it is.
func (c *checker) checkGateways(file string, from pkg, positions *token.FileSet, parsed *ast.File) {
	if from.top == "modules" && from.name == "payments" && slices.Contains(gateways, from.rest) ||
		strings.HasPrefix(from.rest, "internal/") {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if i := slices.IndexFunc(comparedNames(n), namesGateway); i >= 0 {
			c.report(file, positions.Position(comparedNames(n)[i].Pos()).Line, "gateway",
				"it is asked which gateway it is: ask gateway.Traits what it does, or gateway.Each what is its own")
			return false
		}
		if named, ok := n.(*ast.SelectorExpr); ok && !slices.Contains(gatewayRoutes, file) && isGateway(named) {
			c.report(file, positions.Position(named.Pos()).Line, "gateway",
				"a gateway is named: the row or gateway.Traits says which one; where routes are of one, name the file in testutil/archtest/gateways.go")
		}
		return true
	})
}

// comparedNames are the places of a piece of syntax where a gateway's name asks which one it is:
// what is compared, looked for or looked up, and what gives the name another.
func comparedNames(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return []ast.Expr{n.X, n.Y}
		}
	case *ast.CaseClause:
		return n.List
	case *ast.ValueSpec:
		return n.Values
	case *ast.AssignStmt:
		return n.Rhs
	case *ast.CallExpr:
		of, _ := n.Fun.(*ast.SelectorExpr)
		if of == nil {
			return nil
		}
		if in, ok := of.X.(*ast.Ident); ok && (in.Name == "slices" || in.Name == "strings") {
			return n.Args
		}
	case *ast.CompositeLit:
		return elements(n)
	}
	return nil
}

// elements are those of a list that does not name all gateways, and the keys of a map. Names
// of fields are none.
func elements(n *ast.CompositeLit) (all []ast.Expr) {
	_, isMap := n.Type.(*ast.MapType)
	_, isList := n.Type.(*ast.ArrayType)
	named := map[string]bool{}
	for _, e := range n.Elts {
		pair, paired := e.(*ast.KeyValueExpr)
		switch {
		case isList:
			if paired {
				e = pair.Value
			}
			all, named[nameOfGateway(e)] = append(all, e), true
		case paired:
			if _, bare := pair.Key.(*ast.Ident); isMap || !bare {
				all = append(all, pair.Key)
			}
		}
	}
	if named["gwa"] && named["gwb"] {
		return nil
	}
	return all
}

// isGateway reports whether an expression is gateway.GWA or gateway.GWB.
func isGateway(e *ast.SelectorExpr) bool {
	in, ok := e.X.(*ast.Ident)
	return ok && in.Name == "gateway" && namesGateway(e)
}

func namesGateway(e ast.Expr) bool { return nameOfGateway(e) != "" }

// nameOfGateway is the gateway whose name an expression is, also as a string.
func nameOfGateway(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.CallExpr: // string(gateway.GWA)
		if len(e.Args) == 1 && isConversion(e.Fun) {
			return nameOfGateway(e.Args[0])
		}
	case *ast.ParenExpr:
		return nameOfGateway(e.X)
	case *ast.SelectorExpr:
		return nameOfGateway(e.Sel)
	case *ast.Ident:
		if e.Name == "GWA" || e.Name == "GWB" {
			return strings.ToLower(e.Name)
		}
	case *ast.BasicLit:
		if e.Value == `"gwa"` || e.Value == `"gwb"` {
			return strings.Trim(e.Value, `"`)
		}
	}
	return ""
}

func isConversion(to ast.Expr) bool {
	switch to := to.(type) {
	case *ast.Ident:
		return to.Name == "string" || to.Name == "Name"
	case *ast.SelectorExpr:
		return to.Sel.Name == "Name"
	}
	return false
}
