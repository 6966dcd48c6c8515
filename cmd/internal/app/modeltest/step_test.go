package modeltest_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// step is one thing that happens. Numbers that point at something (a customer, a
// payment, a kind of card) are taken modulo what there is, so that every list of
// steps is a history, also after steps were left out; what does not apply does
// nothing.
type step struct {
	Do      string // name of an action
	Who     int    // customer
	Pick    int    // which of what there is
	Trouble string // on the wire, at the first calls that change something, or of an odd answer at the first calls
	Tries   int    // how many calls the trouble lasts beyond the first
	During  string // what others do while the gateway is called: name of a quick action
	Die     int    // the process dies at this point; 0: it lives
	Mail    string // how the webhooks of the step travel
}

// How webhooks travel.
const (
	inOrder = ""        // at once, in order
	later   = "later"   // they wait for a later step
	twice   = "twice"   // each is delivered twice
	reverse = "turned"  // the newest first
	unheard = "unheard" // the platform takes them, but its answer is lost: they come again
)

// GoString prints the step as it is written in regression_test.go.
func (s step) GoString() string {
	fields := []string{fmt.Sprintf("Do: %q", s.Do)}
	add := func(name string, value any, isZero bool) {
		if !isZero {
			fields = append(fields, fmt.Sprintf("%s: %#v", name, value))
		}
	}
	add("Who", s.Who, s.Who == 0)
	add("Pick", s.Pick, s.Pick == 0)
	add("Trouble", s.Trouble, s.Trouble == "")
	add("Tries", s.Tries, s.Tries == 0)
	add("During", s.During, s.During == "")
	add("Die", s.Die, s.Die == 0)
	add("Mail", s.Mail, s.Mail == "")
	return "{" + strings.Join(fields, ", ") + "}"
}

// story is a history's beginning and its steps.
type story struct {
	Start int // which of the starts
	Steps []step
}

// GoString prints the story as it is written in regression_test.go.
func (s story) GoString() string {
	var b strings.Builder
	fmt.Fprintf(&b, "story{Start: %d, Steps: []step{\n", s.Start)
	for _, one := range s.Steps {
		fmt.Fprintf(&b, "\t%#v,\n", one)
	}
	b.WriteString("}}")
	return b.String()
}

// openings are what a customer may have done when a story begins: much happens
// only to those who have paid.
var openings = [][]step{
	nil,
	{{Do: "gwb card"}},
	{{Do: "gwa card"}},
	{{Do: "gwb card", Pick: 3}},
	{{Do: "gwa automatic"}, {Do: "pix paid"}},
	{{Do: "gwa pix"}, {Do: "pix paid"}},
	{{Do: "gwb pix"}, {Do: "pix paid"}},
	{{Do: "gwa card", Pick: 2}},
	{{Do: "pix ticket"}, {Do: "pix paid"}},
}

// stories generates stories of some twenty steps after their openings. The
// simplest of everything stands first, since shrinking goes there.
func stories() *rapid.Generator[story] {
	return rapid.Custom(func(t *rapid.T) story {
		s := story{Start: rapid.IntRange(0, len(starts)-1).Draw(t, "start")}
		for who := range people {
			for _, one := range rapid.SampledFrom(openings).Draw(t, "opening") {
				one.Who = who
				s.Steps = append(s.Steps, one)
			}
		}
		for range 4 { // the generator's slices have five elements on average
			s.Steps = append(s.Steps, rapid.SliceOfN(steps(), 0, 20).Draw(t, "steps")...)
		}
		return s
	})
}

// steps generates steps, half of them without any trouble, since most of what has
// trouble comes to nothing.
func steps() *rapid.Generator[step] {
	do := rapid.SampledFrom(weighted())
	plain := rapid.SampledFrom([]string{
		"", "", "", "", "", "", "", lostResponse, lostResponse, lostRequest, noRoute, overloaded, broken,
	})
	odd := rapid.Map(rapid.SampledFrom(slices.Concat(oddAfter, oddBefore)), func(f fault) string { return string(f) })
	trouble := rapid.OneOf(plain, plain, odd)
	during := rapid.SampledFrom([]string{
		"", "", "", "", "", "webhooks", "jobs", "pix paid", "renewal paid", "customer cancels", "reads",
		"dispute opened",
	})
	mail := rapid.SampledFrom([]string{inOrder, inOrder, inOrder, inOrder, later, twice, reverse, unheard})
	die := rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 8, 11})
	return rapid.Custom(func(t *rapid.T) step {
		s := step{
			Do: do.Draw(t, "do"), Who: rapid.IntRange(0, people-1).Draw(t, "who"),
			Pick: rapid.IntRange(0, 11).Draw(t, "pick"),
		}
		if rapid.Bool().Draw(t, "disturbed") {
			s.Trouble, s.Tries, s.During = trouble.Draw(t, "trouble"), rapid.IntRange(0, 3).Draw(t, "tries"),
				during.Draw(t, "during")
			s.Die, s.Mail = die.Draw(t, "die"), mail.Draw(t, "mail")
		}
		return s
	})
}

// weighted names each action as often as its weight.
func weighted() []string {
	var names []string
	for _, a := range actions {
		for range a.weight {
			names = append(names, a.name)
		}
	}
	return names
}
