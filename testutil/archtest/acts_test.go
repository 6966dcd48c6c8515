package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// place is a file that has a gateway do something.
type place struct{ file, why string }

const (
	step     = "a step of an intent.Operation: between two committed phases, and looked for when its answer is lost"
	repeated = "what intent.Repeat does: it has an intent, a resumption from its first failure on"
)

// acts are the methods and functions of package gateway by which a gateway does something, and the files
// that call them. Outside the steps of an operation stands what moves no money: to end, to
// stop, to make known. A further place needs a reason here.
var acts = map[string][]place{
	// Money moves, or a code is made that may be paid.
	"AuthorizePix": {{"modules/subscriptions/checkout/first_call.go", step}},
	"ChargeCard": {
		{"modules/subscriptions/checkout/first_call.go", step}, {"modules/tickets/orders/charge.go", step},
	},
	"CreatePix": {
		{"modules/subscriptions/charges/check.go", step},
		{"modules/subscriptions/checkout/first_call.go", step},
		{"modules/tickets/orders/charge.go", step},
	},
	"DebitPix":       {{"modules/subscriptions/debits/order_job.go", step}},
	"PayOpenInvoice": {{"modules/subscriptions/selfservice/card.go", step}},
	"Refund":         {{"modules/payments/refund/order.go", step}},
	"RetryPixOrder":  {{"modules/subscriptions/retries/job.go", repeated}},
	"Subscribe":      {{"modules/subscriptions/checkout/first_call.go", step}},

	// What a recurrence charges, and when.
	"ChangeCard": {
		{
			"modules/subscriptions/selfservice/card.go",
			"the customer is there and is told the answer; it charges nothing, and may be asked for again",
		},
	},
	"ChangePrice":          {{"modules/subscriptions/plans/move.go", step}},
	"MoveNextCharge":       {{"modules/subscriptions/extensions/move_job.go", repeated}},
	"ResumeCollection":     {{"modules/subscriptions/debits/pause_job.go", repeated}},
	"SetCancelAtPeriodEnd": {{"modules/subscriptions/calls/period_end.go", repeated}},
	"StopCollection":       {{"modules/subscriptions/debits/pause_job.go", repeated}},

	// What ends, or can be paid no more: asking again for it is harmless.
	"CancelPix": {
		{"modules/payments/gateway/withdraw.go", "WithdrawPix, whose callers are listed"},
		{"modules/subscriptions/calls/end.go", repeated},
	},
	"CancelPixAuthorization": {
		{"modules/subscriptions/calls/end.go", repeated},
		{
			"modules/subscriptions/recovery/drop.go",
			"what nobody has paid: the intent of kind end, which is committed before, has the checks repeat it",
		},
	},
	"CancelSubscription": {
		{"modules/subscriptions/calls/end.go", repeated},
		{
			"modules/subscriptions/recovery/drop.go",
			"likewise",
		},
		{
			"modules/subscriptions/recovery/live.go",
			"what is dead by a live read; the next read or event does it again",
		},
		{
			"modules/subscriptions/strays/end_job.go",
			"a recurrence that no row owns, so that no intent can be of it: the job repeats it",
		},
		{"modules/subscriptions/strays/recurrence.go", "likewise"},
	},
	"DropCharge": {
		{"modules/subscriptions/debits/pause_job.go", repeated},
		{"modules/subscriptions/extensions/move_job.go", repeated},
	},
	"WithdrawPix": {
		{"modules/subscriptions/charges/check.go", "the job of a code that ends repeats it"},
		{
			"modules/subscriptions/recovery/drop.go",
			"what nobody has paid: the intent of kind end, which is committed before, has the checks repeat it",
		},
		{"modules/tickets/orders/charge.go", "a code found after its order had ended: the check repeats it"},
		{"modules/tickets/reconcile/reconcile.go", "an order that nobody paid: the sweep repeats it"},
	},

	// What is made known before an order.
	"EnsureCustomer": {{"modules/payments/payments.go", "the payer, who is charged nothing by it; made once"}},
	"SyncPlan":       {{"modules/subscriptions/plans/plan.go", "product and price, found again by their names"}},
}

// reads are the others, which change nothing at a gateway.
var reads = []string{
	"Authenticate", "Authenticates", "Confirm", "CreatedSince", "EventsSince", "FindCardCharge", "FindPix",
	"FindPixAuthorization", "FindPixDebit", "FindPixOrder",
	"FindRefund", "FindSubscription", "InvoiceOf", "ListDisputes", "ListPayments", "ListRefunds", "Name", "OnReply",
	"OpenCharges", "Probe", "ReadEvent",
	"ReadPayment", "ReadPix", "ReadPixAuthorization", "ReadSubscription",
}

// TestGatewaysActWhereItIsListed: what a gateway does is asked for in the steps of operations,
// and elsewhere in the files that are listed alone, by whatever name the gateway goes there.
func TestGatewaysActWhereItIsListed(t *testing.T) {
	t.Parallel()
	b := readBuild(t)
	t.Run("the tree", func(t *testing.T) {
		called := map[string]bool{}
		for _, p := range b.ours {
			if skipsActs(p.ImportPath) {
				continue
			}
			files := make([]*ast.File, 0, len(p.GoFiles))
			for _, name := range p.GoFiles {
				files = append(files, b.parse(t, filepath.Join(p.Dir, name), nil))
			}
			for _, a := range b.actsOf(t, p.ImportPath, files) {
				file, err := filepath.Rel(b.root, b.files.Position(a.at).Filename)
				require.NoError(t, err)
				called[a.name+" "+file] = true
				if !slices.ContainsFunc(acts[a.name], func(p place) bool { return p.file == file }) {
					t.Errorf("%s: a gateway's %s is called outside an operation: have it be a step of an intent.Operation, and name its file in testutil/archtest/acts_test.go",
						b.files.Position(a.at), a.name)
				}
			}
		}
		for name, places := range acts {
			for _, p := range places {
				require.NotEmpty(t, p.why, "%s in %s", name, p.file)
				require.True(t, called[name+" "+p.file], "%s is not called in %s any more: take it from the list", name,
					p.file)
			}
		}
	})
	t.Run("each method is listed", func(t *testing.T) {
		for name := range b.gatewayMethods(t) {
			_, act := acts[name]
			require.NotEqual(t, act, slices.Contains(reads, name),
				"say in testutil/archtest/acts_test.go whether %s acts or reads", name)
		}
	})
	for _, planted := range []struct{ body, want string }{
		{"var r gateway.Refunder = gw; r.Refund(ctx, gateway.RefundTerms{})", "Refund"},
		{"gwb := gw; gwb.Subscribe(ctx, gateway.SubscriptionTerms{})", "Subscribe"},
		{"gw.ChangePrice(ctx, gateway.PriceChange{})", "ChangePrice"},
		{"gw.MoveNextCharge(ctx, gateway.Collection{}, time.Time{})", "MoveNextCharge"},
		{`gw.CancelSubscription(ctx, "sub", "")`, "CancelSubscription"},
		{`gw.DropCharge(ctx, "pay", "")`, "DropCharge"},
		{"later := gw.CreatePix; later(ctx, gateway.PixTerms{})", "CreatePix"},
		{"later := gateway.Gateway.ChargeCard; later(gw, ctx, gateway.CardTerms{})", "ChargeCard"},
		{
			"type mine interface { Refund(context.Context, gateway.RefundTerms) (gateway.RemoteRefund, error) }; mine(gw).Refund(ctx, gateway.RefundTerms{})", "Refund",
		},
		{"type mine struct { gateway.PixDebiter }; mine{gw}.DebitPix(ctx, gateway.DebitTerms{})", "DebitPix"},
		{`gateway.WithdrawPix(ctx, gw, "pay", "")`, "WithdrawPix"},
		{"gateway.Set{}[gateway.GWA].PayOpenInvoice(ctx, gateway.InvoicePayment{})", "PayOpenInvoice"},
		{`gw.ReadPayment(ctx, "pay", "")`, ""},
		{"var s refunds; s.Refund()", ""},
	} {
		t.Run(planted.body, func(t *testing.T) {
			file := b.parse(t, "modules/subscriptions/selfservice/planted.go", []byte(`package selfservice

import (
	"context"
	"time"

	"marquee/modules/payments/gateway"
)

type refunds struct{}

func (refunds) Refund() {}

var _ time.Time

func planted(ctx context.Context, gw gateway.Gateway) { `+planted.body+` }
`))
			var found []string
			for _, a := range b.actsOf(t, "marquee/modules/subscriptions/selfservice", []*ast.File{file}) {
				found = append(found, a.name)
			}
			require.Equal(t, planted.want, strings.Join(found, " "))
		})
	}
}

const gatewayPackage = "marquee/modules/payments/gateway"

// skipsActs: the adapters are the gateways, and fixtures are tests.
func skipsActs(importPath string) bool {
	return slices.Contains([]string{"marquee/modules/payments/gwa", "marquee/modules/payments/gwb"}, importPath) ||
		path.Base(importPath) == path.Base(path.Dir(importPath))+"test"
}

// built is the tree as the compiler knows it: sources of ours, and what it exports of each
// package.
type built struct {
	root  string
	files *token.FileSet
	ours  []listedPackage
	types types.Importer
}

type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

func readBuild(t *testing.T) *built {
	t.Helper()
	b := &built{root: root(t), files: token.NewFileSet()}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly",
		"./modules/...", "./cmd/...")
	cmd.Dir = b.root
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	require.NoError(t, err, failed.String())
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			b.ours = append(b.ours, p)
		}
	}
	b.types = importer.ForCompiler(b.files, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("nothing is known of %s", path)
		}
		return os.Open(exports[path])
	})
	return b
}

func (b *built) parse(t *testing.T, file string, source []byte) *ast.File {
	t.Helper()
	var src any
	if source != nil {
		src = source
	}
	parsed, err := parser.ParseFile(b.files, file, src, parser.SkipObjectResolution)
	require.NoError(t, err)
	return parsed
}

// act is a place where a gateway is asked to do something.
type act struct {
	name string
	at   token.Pos
}

// actsOf finds where files of one package name a method of a gateway, or of what has one of
// its signature, that is listed as an act.
func (b *built) actsOf(t *testing.T, importPath string, files []*ast.File) (found []act) {
	t.Helper()
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: b.types}
	_, err := config.Check(importPath, b.files, files, info)
	require.NoError(t, err)
	methods := b.gatewayMethods(t)
	for id, used := range info.Uses {
		f, ok := used.(*types.Func)
		if !ok || acts[f.Name()] == nil {
			continue
		}
		sig := f.Signature()
		isFunc := sig.Recv() == nil && f.Pkg().Path() == gatewayPackage
		if m := methods[f.Name()]; isFunc || m != nil && sig.Recv() != nil && shape(sig) == shape(m.Signature()) {
			found = append(found, act{f.Name(), id.Pos()})
		}
	}
	slices.SortFunc(found, func(a, b act) int { return int(a.at - b.at) })
	return found
}

// shape is a signature by its types alone; the words of package gateway are the same whether
// they were read from its source or from what it exports.
func shape(sig *types.Signature) string {
	var b strings.Builder
	for _, vars := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range vars.Variables() {
			b.WriteString(v.Type().String() + ",")
		}
		b.WriteString(";")
	}
	return b.String()
}

// gatewayMethods are all that a gateway and its adapter have.
func (b *built) gatewayMethods(t *testing.T) map[string]*types.Func {
	t.Helper()
	words, err := b.types.Import(gatewayPackage)
	require.NoError(t, err)
	all := map[string]*types.Func{}
	for m := range words.Scope().Lookup("Adapter").Type().Underlying().(*types.Interface).Methods() {
		all[m.Name()] = m
	}
	require.Subset(t, slices.Collect(maps.Keys(all)), reads)
	return all
}
