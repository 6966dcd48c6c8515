// Replay records what one binary answers to a long story, and asks another one the same.
//
// It owns the story (story_*.go, matrix.go), the recording in testdata, and the list of what may differ
// (testdata/exceptions.txt). It knows a binary by its addresses alone: `marquee dev` with a fresh data directory, the
// clock set to one instant for all runs. It imports nothing of the product, so that no move of code changes it.
//
//	make record                  plays the story and writes the recording anew
//	make replay [BINARY=path]    asks the tree's binary, or another, what was recorded
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	binary := flag.String("binary", "", "the binary to ask")
	record := flag.Bool("record", false, "play the story and write the recording anew")
	file := flag.String("file", "testutil/replay/testdata/recorded.jsonl.gz", "the recording")
	exceptions := flag.String("exceptions", "testutil/replay/testdata/exceptions.txt", "what may differ")
	show := flag.Int("show", 40, "how many differences are shown")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := replay
	if *record {
		run = recordStory
	}
	err := run(ctx, options{binary: *binary, file: *file, exceptions: *exceptions, show: *show})
	if err != nil {
		if !errors.Is(err, errDifferent) {
			fmt.Fprintln(os.Stderr, "replay:", err)
		}
		stop()
		os.Exit(1)
	}
}

type options struct {
	binary, file, exceptions string
	show                     int
}
