package main

import (
	"errors"
	"testing"
)

// TestEveryFaultHasItsPlace: each can still be planted, and its tests are there.
func TestEveryFaultHasItsPlace(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	code, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	all, err := choose("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := code.placesOf(all); err != nil {
		t.Error(err)
	}
	for _, f := range all {
		if f.breaks == "" || f.where == "" || f.old == f.new {
			t.Errorf("%s does not say what it breaks, and where", f.name)
		}
	}
}

func TestTheCompilersErrorIsNoCatch(t *testing.T) {
	red := errors.New("exit status 1")
	for log, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tmarquee/a\t0.1s\n":          caught,
		"panic: nil map\n\ngoroutine 1\nFAIL\tmarquee/a\t0.1s\n":          caught,
		"a.go:1: declared and not used\nFAIL\tmarquee/a [build failed]\n": noBuild,
		"panic: test timed out after 10m0s\nFAIL\tmarquee/a\t600s\n":      timedOut,
		"FAIL\tmarquee/a\t0.1s\n":                                         noTest,
	} {
		if got, _ := judge(log, red); got != want {
			t.Errorf("%q is judged %s, not %s", log, got, want)
		}
	}
	for log, want := range map[string]string{
		"ok\tmarquee/a\t0.1s\n": notCaught, "ok\tmarquee/a\t0.1s [no tests to run]\n": noTest,
	} {
		if got, _ := judge(log, nil); got != want {
			t.Errorf("%q is judged %s, not %s", log, got, want)
		}
	}
}
