package stage

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Names in the state file.
const (
	queueTable    = "webhook_queue"
	deliveryTable = "deliveries"
)

type webhookState struct {
	Seq      int64 `json:"seq"`
	Failures int   `json:"failures"`
	Paused   bool  `json:"paused"`
}

// changedDelivery notes that a delivery is to be saved.
func (w *Webhooks) changedDelivery(d *Delivery) {
	if w.touched != nil {
		w.touched[d.ID] = true
	}
}

// drain hands out the waiting deliveries only: addresses and secrets come from the options of the next start.
func (w *Webhooks) drain(put func(table, id string, n int64, value any)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	put(queueTable, "", 0, webhookState{Seq: w.seq, Failures: w.failures, Paused: w.paused})
	for _, d := range w.deliveries {
		if len(w.touched) == 0 {
			return
		}
		if w.touched[d.ID] && d.State == Waiting {
			delete(w.touched, d.ID)
			put(deliveryTable, strconv.FormatInt(d.ID, 10), d.order, d)
		}
	}
	for id := range w.touched {
		put(deliveryTable, strconv.FormatInt(id, 10), 0, nil)
	}
	clear(w.touched)
}

func (w *Webhooks) markAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.deliveries {
		w.changedDelivery(d)
	}
}

func (w *Webhooks) restore(r restored, saves bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if saves {
		w.touched = map[int64]bool{}
	}
	var s webhookState
	if err := r.value(queueTable, &s); err != nil {
		return err
	}
	w.seq, w.failures, w.paused = s.Seq, s.Failures, s.Paused
	for _, rec := range r.tables[deliveryTable] {
		d := &Delivery{order: rec.N}
		if err := json.Unmarshal(rec.Value, d); err != nil {
			return fmt.Errorf("%s %s: %w", deliveryTable, rec.ID, err)
		}
		w.deliveries = append(w.deliveries, d)
	}
	return nil
}
