package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// gatewayAsked are the files of modules, beside the adapters, that tell one gateway from the
// other by its name, with why. Else what a gateway does otherwise is asked of gateway.Traits.
var gatewayAsked = map[string]string{
	"modules/accounts/identity/customer.go":        "the columns of a customer's ids, one a gateway; accounts stands below payments",
	"modules/subscriptions/lifecycle/gateway.go":   "the columns of a subscription's ids, one a gateway",
	"modules/subscriptions/webhooks/locate.go":     "the queries by those columns, one a gateway",
	"modules/subscriptions/withdrawal/withdraw.go": "the body of a purchase tells reais at /gwa, and cents at /gwb",
}

// adapters are the packages that are a gateway.
var adapters = []string{"gwa", "gwb"}

// checkGateways reports where a file of a module asks which gateway it is.
func (c *checker) checkGateways(file string, from pkg, positions *token.FileSet, parsed *ast.File) {
	if gatewayAsked[file] != "" || from.name == "payments" && slices.Contains(adapters, from.rest) || strings.HasPrefix(from.rest, "internal/") {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		var asked []ast.Expr
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				asked = []ast.Expr{n.X, n.Y}
			}
		case *ast.CaseClause:
			asked = n.List
		}
		if i := slices.IndexFunc(asked, namesGateway); i >= 0 {
			c.report(file, positions.Position(asked[i].Pos()).Line, "gateway", "it is asked which gateway it is: ask gateway.Traits what it does, or name the file in testutil/archtest/gateways.go, with why")
		}
		return true
	})
}

// namesGateway reports whether an expression is the name of one gateway, also as a string.
func namesGateway(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr: // string(gateway.GWA)
		return len(e.Args) == 1 && namesGateway(e.Args[0])
	case *ast.ParenExpr:
		return namesGateway(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name == "GWA" || e.Sel.Name == "GWB"
	case *ast.Ident:
		return e.Name == "GWA" || e.Name == "GWB"
	case *ast.BasicLit:
		return e.Value == `"gwa"` || e.Value == `"gwb"`
	}
	return false
}
