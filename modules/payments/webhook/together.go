package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/batch"
	"marquee/platform/faultpoint"
	"marquee/platform/postgres"
)

const (
	// maxTogether bounds the deliveries of one transaction.
	maxTogether = 64
	// slowBatch is how long a transaction holds up the deliveries behind it, and waits for a lock.
	slowBatch = 100 * time.Millisecond
	// togetherTime bounds a transaction from when it has its connection, so that time is left to try its events again.
	togetherTime = time.Second
)

// shared is a delivery that shares a transaction with others.
type shared struct {
	delivery
	isOver   func() bool // who delivers it has left, or no time is left to apply it
	received bool        // logged, with result; else it is received alone
	result   gateway.Result
}

// receiveShared applies an event, and logs its delivery, together with those that come while others are being
// committed: one commit for all of them, and few statements. Received is false where that was not done, and is not
// known to stand: then it is received alone.
func (s *Webhooks) receiveShared(ctx context.Context, d delivery) (result gateway.Result, received bool) {
	if s.together == nil || d.event.Payload == nil || !s.together.MayShare(d.event) {
		return gateway.Result{}, false
	}
	one := &shared{delivery: d, isOver: func() bool { return ctx.Err() != nil }}
	if err := s.batchOf(d.event).Join(ctx, one); err != nil {
		return gateway.Result{}, false
	}
	return one.result, one.received
}

// batchOf has events of one recurrence, and so the repetitions of each, wait for each other instead of for their locks.
func (s *Webhooks) batchOf(e gateway.Event) *batch.Batcher[*shared] {
	return s.batches[maphash.String(recurrences, e.SubscriptionID)%uint64(len(s.batches))]
}

var recurrences = maphash.MakeSeed()

// receiveTogether is receiveShared for a batch. A transaction that fails is tried again in halves: they take less time
// each, one bad event keeps few others from sharing, and few are left to be received alone.
func (s *Webhooks) receiveTogether(ctx context.Context, all []*shared) {
	all = waitedFor(all)
	if len(all) == 0 {
		return
	}
	err := receiveOnce(ctx, s, all)
	if err == nil {
		return
	}
	if errors.Is(err, postgres.ErrBusy) { // nothing has begun, and fewer would wait for a connection as long
		s.receiveTogether(ctx, all)
		return
	}
	s.deps.Log.WarnContext(ctx, "a transaction of events failed", slog.Int("events", len(all)), slog.Any("error", err))
	if half := len(all) / 2; half > 0 {
		s.receiveTogether(ctx, all[:half])
		s.receiveTogether(ctx, all[half:])
	}
}

// receiveOnce receives those of a batch that are waited for once a connection is there, in a transaction that belongs
// to none of their calls.
func receiveOnce(ctx context.Context, s *Webhooks, all []*shared) error {
	ctx, cancel := context.WithTimeout(postgres.Detach(ctx), applyTime) // with the wait for a connection
	defer cancel()
	var received []*shared
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) (err error) {
		time.AfterFunc(togetherTime, cancel) // also for COMMIT
		if all = waitedFor(all); len(all) == 0 {
			return nil // nothing was begun either
		}
		received, err = s.receiveTogetherTx(ctx, tx, all[0].event.Gateway, all)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range received {
		d.received = true
	}
	return nil
}

// waitedFor are those of the deliveries that are not over.
func waitedFor(all []*shared) []*shared {
	return slices.DeleteFunc(slices.Clone(all), func(d *shared) bool { return d.isOver() })
}

// receiveTogetherTx receives those of the deliveries that are of the gateway and whose events are applied together, or
// have come before, and returns them.
func (s *Webhooks) receiveTogetherTx(ctx context.Context, tx pgx.Tx, on gateway.Name,
	all []*shared,
) (received []*shared, err error) {
	all = slices.DeleteFunc(slices.Clone(all), func(d *shared) bool { return d.event.Gateway != on })
	if err := s.db.ProcessedEventSetLimits(ctx, postgres.Later(tx)); err != nil {
		return nil, err
	}
	results, queued, err := s.doneTx(ctx, tx, on, all)
	if err != nil {
		return nil, err
	}
	var fresh []gateway.Event
	first := map[string]bool{} // of each event the one delivery that is its first
	for _, d := range all {
		_, done := results[d.event.ID]
		if !done && !first[d.event.ID] {
			first[d.event.ID] = true
			fresh = append(fresh, d.event)
		}
	}
	applied, err := s.applyTogetherTx(ctx, tx, fresh)
	if err != nil {
		return nil, fmt.Errorf("apply %d events: %w", len(fresh), err)
	}
	params := paymentsdb.ProcessedEventReceiveManyParams{Gateway: on, At: s.deps.Clock.Now()}
	for _, d := range all {
		var isApplied bool
		if d.result, isApplied = applied[d.event.ID]; isApplied && first[d.event.ID] {
			first[d.event.ID] = false
			if err := addEvent(&params, d); err != nil {
				return nil, err
			}
		}
		if done, isDone := results[d.event.ID]; isDone {
			d.result = done
		} else if !isApplied {
			continue
		}
		if err := addLog(&params, d, !queued[d.event.ID]); err != nil {
			return nil, err
		}
		received = append(received, d)
	}
	if len(received) == 0 {
		return nil, nil
	}
	if err := s.db.ProcessedEventReceiveMany(ctx, postgres.Later(tx), params); err != nil {
		return nil, fmt.Errorf("log %d deliveries: %w", len(received), err)
	}
	faultpoint.Hit("webhook.applied")
	return received, nil
}

// applyTogetherTx asks the applier. After an error, also a panic, the transaction has to be rolled back.
func (s *Webhooks) applyTogetherTx(ctx context.Context, tx pgx.Tx,
	events []gateway.Event,
) (results map[string]gateway.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while applying: %v\n%s", p, debug.Stack())
		}
	}()
	return s.together.ApplyEventsTx(ctx, tx, events)
}

// doneTx tells which events have come before, with their results, and which of them a job is still to apply.
func (s *Webhooks) doneTx(ctx context.Context, tx pgx.Tx, on gateway.Name,
	all []*shared,
) (results map[string]gateway.Result, queued map[string]bool, err error) {
	params := paymentsdb.ProcessedEventListDoneParams{Gateway: on}
	for _, d := range all {
		params.EventIds = append(params.EventIds, d.event.ID)
	}
	rows, err := s.db.ProcessedEventListDone(ctx, tx, params)
	if err != nil {
		return nil, nil, fmt.Errorf("read which events have come: %w", err)
	}
	results, queued = map[string]gateway.Result{}, map[string]bool{}
	for _, row := range rows {
		var r gateway.Result
		if err := json.Unmarshal(row.Result, &r); err != nil {
			return nil, nil, fmt.Errorf("read result of event %s: %w", row.EventID, err)
		}
		results[row.EventID], queued[row.EventID] = r, row.State == state.EventQueued
	}
	return results, queued, nil
}

// addEvent adds an event that was applied.
func addEvent(p *paymentsdb.ProcessedEventReceiveManyParams, d *shared) error {
	result, err := json.Marshal(d.result)
	subjects, subjectsErr := json.Marshal(subjectsOf(d.event))
	if err := errors.Join(err, subjectsErr); err != nil {
		return err
	}
	p.EventIds, p.EventLogIds = append(p.EventIds, d.event.ID), append(p.EventLogIds, d.log.String())
	p.Subjects, p.EventResults = append(p.Subjects, string(subjects)), append(p.EventResults, string(result))
	p.EventAts = append(p.EventAts, d.event.CreatedAt)
	return nil
}

// addLog adds a delivery, with the result of its event, which may be that of waiting for a job.
func addLog(p *paymentsdb.ProcessedEventReceiveManyParams, d *shared, final bool) error {
	result, err := json.Marshal(d.result)
	if err != nil {
		return err
	}
	p.LogIds, p.LogEventIds = append(p.LogIds, d.log.String()), append(p.LogEventIds, d.event.ID)
	p.EventTypes, p.Payloads = append(p.EventTypes, d.event.Type), append(p.Payloads, string(d.body))
	p.Signatures, p.Finals = append(p.Signatures, d.proof), append(p.Finals, final)
	p.Results, p.ReceivedAts = append(p.Results, string(result)), append(p.ReceivedAts, d.at)
	p.RequestIds = append(p.RequestIds, d.request)
	return nil
}
