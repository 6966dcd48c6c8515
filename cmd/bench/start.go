package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// The goals of W9.
const (
	startGoal    = 100 * time.Millisecond
	residentGoal = 40.0 // MB
)

// idle is how long a server has been alone when its memory is read.
const idle = time.Second

// starts are those of a side, one a turn. Memory is what is its own alone (anonymous), and
// all with what it shares with its file.
type starts struct {
	Name     string    `json:"name"`
	First    []float64 `json:"first_answer_ms"`
	Memory   []float64 `json:"anonymous_mb"`
	Resident []float64 `json:"resident_mb"`
	Binary   float64   `json:"binary_mb"`
}

// benchStart is W9: how long a server takes from its start to its first answer, and what it
// holds when nobody asks.
func benchStart(ctx context.Context, b *bench) error {
	begin := [2]func(addr string) (side, error){}
	for i, s := range []side{b.ours, b.beside} {
		begin[i] = func(addr string) (side, error) { return s.platform.serve(ctx, addr, s.platform.databaseURL) }
	}
	if b.isLimit() {
		begin[1] = func(addr string) (side, error) { return startBare(ctx, b.ours.platform, addr) }
	}
	all := [2]starts{{Name: b.ours.name}, {Name: b.beside.name}}
	for range turns {
		for i := range all {
			if err := all[i].turn(begin[i]); err != nil {
				return err
			}
		}
	}
	fmt.Printf("\na server from its start to its first answer, and what it holds then\n%-5s %-10s %10s %14s %12s %10s\n", "", "",
		"first ms", "anonymous MB", "resident MB", "binary MB")
	for _, s := range all {
		fmt.Printf("%-5s %-10s %10.0f %14.0f %12.0f %10.0f\n", "W9", s.Name, median(s.First), median(s.Memory),
			median(s.Resident), s.Binary)
	}
	fmt.Printf("%-5s first answer <= %v: %s; resident <= %.0f MB: %s\n", "", startGoal,
		verdict(median(all[0].First) <= float64(startGoal.Milliseconds())), residentGoal,
		verdict(median(all[0].Resident) <= residentGoal))
	b.report.Starts = all[:]
	return nil
}

// turn starts a server, and ends it.
func (s *starts) turn(begin func(addr string) (side, error)) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	began := time.Now()
	server, err := begin(addr)
	if err != nil {
		return err
	}
	defer server.platform.endLast()
	s.First = append(s.First, micros(time.Since(began))/1000)
	time.Sleep(idle)
	anonymous, err := server.residentKB("RssAnon")
	if err != nil {
		return err
	}
	resident, err := server.residentKB("VmRSS")
	if err != nil {
		return err
	}
	s.Memory, s.Resident = append(s.Memory, float64(anonymous)/1000), append(s.Resident, float64(resident)/1000)
	file, err := os.Stat(fmt.Sprintf("/proc/%d/exe", server.process))
	if err != nil {
		return err
	}
	s.Binary = float64(file.Size()) / 1e6
	return nil
}
