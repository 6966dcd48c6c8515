package histories_test

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
	{"what an admin cancels while nobody knows what the gateway made of it is ended there once that is known", story{Steps: []step{
		{Do: "gwa pix", Who: 1, Pick: 3, Trouble: "lost answer"},
		{Do: "admin puts", Who: 1, Pick: 5},
	}}},
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
}

// TestFound plays what random stories have found before.
func TestFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range found {
		if problem, h := w.play(t, f.story); problem != "" {
			t.Errorf("%s: %s\n%s", f.name, problem, strings.Join(h.trace, "\n"))
		}
	}
}
