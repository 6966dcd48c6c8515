package archtest

import (
	"go/ast"
	"go/token"
	"slices"
)

// moneyMoved are the methods of gateway.Gateway by which money moves, or a code is made that
// may be paid, and the files whose intent.Operation (or Repeated) has them as a step: they are
// called there, between two committed phases, and nowhere else.
var moneyMoved = map[string][]string{
	"AuthorizePix":   {"modules/subscriptions/recovery/first_call.go"},
	"ChargeCard":     {"modules/subscriptions/recovery/first_call.go", "modules/tickets/orders/charge.go"},
	"CreatePix":      {"modules/subscriptions/charges/look.go", "modules/subscriptions/recovery/first_call.go", "modules/tickets/orders/charge.go"},
	"DebitPix":       {"modules/subscriptions/debits/order_job.go"},
	"PayOpenInvoice": {"modules/subscriptions/own/card.go"},
	"Refund":         {"modules/payments/refund/order.go"},
	"RetryPixOrder":  {"modules/subscriptions/retries/job.go"},
	"Subscribe":      {"modules/subscriptions/recovery/first_call.go"},
}

// commonWords among them are others' methods too.
var commonWords = map[string]bool{"Refund": true, "Subscribe": true}

// checkMoney reports where a file of a module, or a command, has a gateway move money outside
// the phases of an operation.
func (c *checker) checkMoney(file string, from pkg, positions *token.FileSet, parsed *ast.File) {
	if from.name == "payments" && slices.Contains(adapters, from.rest) {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		method, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		callers, moves := moneyMoved[method.Sel.Name]
		if moves && (isGateway(method.X) || !commonWords[method.Sel.Name]) && !slices.Contains(callers, file) {
			c.report(file, positions.Position(method.Pos()).Line, "money",
				"gateway.Gateway.%s is called outside an operation: have it be the step of an intent.Operation, and name its file in testutil/archtest/money.go", method.Sel.Name)
		}
		return true
	})
}

// isGateway reports whether an expression is a gateway, as variables of one are called here.
func isGateway(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && (name.Name == "gw" || name.Name == "gateway")
}
