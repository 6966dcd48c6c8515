package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// How long a quiet machine is waited for, and how often it is looked at.
const (
	quietWait     = 10 * time.Minute
	quietInterval = 5 * time.Second
)

// awaitQuiet waits until nobody else uses the machine, and returns its load. A machine that
// stays busy is refused: what is measured on it says nothing.
func awaitQuiet(ctx context.Context, most float64) (load float64, err error) {
	for until := time.Now().Add(quietWait); ; {
		if load, err = machineLoad(); err != nil || load < most {
			return load, err
		}
		if time.Now().After(until) {
			return load, fmt.Errorf("the machine's load is %.2f, not under %.2f: -load %.0f measures all the same",
				load, most, load+1)
		}
		fmt.Fprintf(os.Stderr, "the machine's load is %.2f: waiting until it is under %.2f\n", load, most)
		select {
		case <-ctx.Done():
			return load, ctx.Err()
		case <-time.After(quietInterval):
		}
	}
}

// machineLoad is the load of the last minute.
func machineLoad() (load float64, err error) {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("the machine's load: %w", err)
	}
	_, err = fmt.Sscan(strings.Fields(string(raw))[0], &load)
	return load, err
}
