package stage

import (
	"sync"
	"time"
)

// journalSize bounds the journal: the newest entries are kept.
const journalSize = 4000

// Kinds of journal entries.
const (
	EntryCall     = "call"     // one request of the client
	EntryEvent    = "event"    // an event entered the webhook queue
	EntryDelivery = "delivery" // one attempt to deliver it
	EntryControl  = "control"  // a control was used
)

// Entry is one line of "what happened". It has no body, no query and no header, so it can't hold card data, tokens or
// e-mail addresses.
type Entry struct {
	Seq            int64     `json:"seq"`
	At             time.Time `json:"at"` // virtual time, UTC
	Kind           string    `json:"kind"`
	Method         string    `json:"method,omitempty"`
	Path           string    `json:"path,omitempty"`
	Status         int       `json:"status,omitempty"` // what was answered; 0: nothing was
	IdempotencyKey string    `json:"idempotency_key,omitempty"`
	Fault          string    `json:"fault,omitempty"` // kind of the injected fault
	EventID        string    `json:"event_id,omitempty"`
	EventType      string    `json:"event_type,omitempty"`
	Note           string    `json:"note,omitempty"`
}

// Journal lists what happened, oldest first, bounded.
type Journal struct {
	now func() time.Time

	mu      sync.Mutex
	seq     int64
	entries []Entry
}

// Record appends an entry; Seq and At are set here.
func (j *Journal) Record(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	e.Seq, e.At = j.seq, j.now()
	if len(j.entries) >= journalSize {
		j.entries = append(j.entries[:0], j.entries[journalSize/4:]...)
	}
	j.entries = append(j.entries, e)
}

// Entries returns a copy, oldest first. A kind other than "" selects.
func (j *Journal) Entries(kind string) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Entry, 0, len(j.entries))
	for _, e := range j.entries {
		if kind == "" || e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// Clear forgets all entries; numbers go on.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = nil
}
