package modeltest_test

import (
	"strings"
	"testing"
)

// found are stories that broke something once, each with what is right.
var found = []struct {
	name string
	story
}{
	{"an intent that an admin disputes and the gateway never saw ends as any other", story{Steps: []step{
		{Do: "gwb card", Pick: 8, Die: 8},
		{Do: "admin chargeback"},
	}}},
	{"a code of what an admin opened unpaid cannot be paid once that has ended", story{Steps: []step{
		{Do: "gwa pix", Pick: 7},
		{Do: "admin activates"},
		{Do: "admin puts a date"},
	}}},
	{
		"what an admin cancels while nobody knows what the gateway made of it is ended there once that is known",
		story{Steps: []step{
			{Do: "gwa pix", Who: 1, Pick: 3, Trouble: "lost answer"},
			{Do: "admin puts", Who: 1, Pick: 5},
		}},
	},
	{"also a recurrence, which would go on charging", story{Steps: []step{
		{Do: "gwa card", Trouble: "lost answer"},
		{Do: "admin cancels"},
		{Do: "month"},
	}}},
	{"what an admin opens while nobody knows what the gateway made of it is known to run there", story{Steps: []step{
		{Do: "gwa card", Trouble: "lost answer"},
		{Do: "admin activates"},
		{Do: "month"},
		{Do: "customer cancels"},
	}}},
	{"nothing opens for a customer who has deleted the account", story{Steps: []step{
		{Do: "gwb card", Who: 1},
		{Do: "deletes account", Who: 1},
		{Do: "admin activates"},
	}}},
	{
		"a first month that is disputed before its recurrence is made ends the intent, and nothing more is charged",
		story{Steps: []step{
			{Do: "gwa card", Pick: 3},
			{Do: "gwa card", Pick: 2, Trouble: "lost answer", During: "dispute opened"},
		}},
	},
	{"and when the dispute is won, the month that was paid is the last", story{Steps: []step{
		{Do: "gwa card", Pick: 3},
		{Do: "gwa card", Pick: 2, Trouble: "lost answer", During: "dispute opened"},
		{Do: "hours", Pick: 1},
		{Do: "dispute won", Pick: 2},
	}}},
	{"the first period of an automatic PIX begins with its payment, however late that is heard of", story{Steps: []step{
		{Do: "gwa automatic"},
		{Do: "pix paid", Mail: "later"},
		{Do: "month", Mail: "later"},
		{Do: "gwa automatic"},
	}}},
	{"the date of the next charge stays when a login reads what a promo code began", story{Steps: []step{
		{Do: "gwa card", Who: 1, Pick: 2},
		{Do: "month", Pick: 10},
		{Do: "sync", Who: 1, Pick: 5},
	}}},
	{
		"what is left of a payment after parts went back, at the panel and by an admin, is still to be decided",
		story{Steps: []step{
			{Do: "gwa automatic"},
			{Do: "pix paid"},
			{Do: "gwa card", Who: 1, Pick: 9},
			{Do: "authorization cancelled", Who: 1, Pick: 2, Tries: 2, During: "renewal paid", Mail: "unheard"},
			{Do: "gateway refunds", Pick: 1},
			{Do: "gwa card", Pick: 1, Trouble: "overloaded", Mail: "turned"},
			{Do: "admin refunds", Who: 1, Pick: 8, Tries: 1, During: "webhooks"},
		}},
	},
	{"a refund of tickets that fails after it was believed done is made again", story{Steps: []step{
		{Do: "gwb ticket"},
		{Do: "gateway refunds", Who: 1},
		{Do: "refund fails", Pick: 1},
	}}},
	{"a first month that is given back before its recurrence is known goes on, and that is found", story{Steps: []step{
		{Do: "gwb card", Pick: 3},
		{Do: "days", Pick: 5},
		{Do: "gwa card", Pick: 2, Tries: 1, Die: 8},
		{Do: "admin refunds"},
	}}},
	{
		"a move to another plan whose process died is not given up because the gateway is overloaded when it is asked again",
		story{Steps: []step{
			{Do: "gwa card", Who: 1},
			{Do: "hours", Pick: 9},
			{Do: "admin moves plan", Pick: 3, During: "dispute opened", Die: 3, Mail: "unheard"},
			{Do: "hours", Who: 1, Pick: 4, Trouble: "overloaded", Tries: 1, During: "dispute opened", Mail: "unheard"},
		}},
	},
	{"tickets go with an account that is deleted in the instant in which they were paid", story{Steps: []step{
		{Do: "pix ticket", Who: 1},
		{Do: "pix paid", Who: 1},
		{Do: "deletes account", Who: 1, Pick: 1},
	}}},
	{
		"what a payer's bank took of a PIX is with us again when the refund by which it took it fails",
		story{Steps: []step{
			{Do: "gwb pix", Who: 1},
			{Do: "pix paid", Who: 1},
			{Do: "gateway refunds", Who: 1, Pick: 9},
			{Do: "refund fails", Who: 1, Pick: 5},
		}},
	},
	{
		"a move to another plan of what an admin opened again ends, once the gateway shows that it has ended there",
		story{Steps: []step{
			{Do: "gwb card", Pick: 3},
			{Do: "hours", Pick: 8},
			{Do: "admin activates", Pick: 3},
			{Do: "admin moves plan", Who: 1, Pick: 7, Tries: 1, During: "webhooks", Die: 3},
			{Do: "hours", Pick: 3},
		}},
	},
	{"a PIX that is taken back after an admin told of its dispute is lost", story{Steps: []step{
		{Do: "gwb pix", Who: 1},
		{Do: "pix paid", Who: 1},
		{Do: "admin chargeback", Who: 1},
		{Do: "gateway refunds", Who: 1, Pick: 6},
	}}},
	{
		"what a gateway gives back of itself while nobody knows what became of a request leaves that one standing",
		story{Steps: []step{
			{Do: "gwa automatic", Who: 1},
			{Do: "pix paid", Who: 1},
			{Do: "admin refunds", Pick: 2, Trouble: "broken", Tries: 3},
			{Do: "hours", Who: 1, Pick: 11, Trouble: "list with 500 after", Die: 5, Mail: "later"},
			{Do: "gateway refunds", Pick: 8},
		}},
	},
	{"a login does not open what an admin suspended", story{Steps: []step{
		{Do: "gwb card"},
		{Do: "admin puts", Who: 1},
		{Do: "sync"},
	}}},
}

// TestFound plays what random stories have found before.
func TestFound(t *testing.T) {
	t.Parallel()
	w := newTestPlatform(t)
	for _, f := range found {
		if problem, h := w.play(t, f.story); problem != "" {
			t.Errorf("%s: %s\n%s", f.name, problem, strings.Join(h.trace, "\n"))
		}
	}
}
