package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

const (
	maxRefusedBody = 4 << 10 // bytes kept of a refused call
	refusedPerHour = 20      // stored, by address
	refusedPerDay  = 1000    // stored, over all addresses
	// refusedNetworks is how many networks an hour are counted by name at a gateway.
	refusedNetworks = 100
	// refusedRetention is how long refused calls are stored; then they are counted.
	refusedRetention = 7 * 24 * time.Hour
	// maxUnwritten bounds what waits in memory while the database is away.
	maxUnwritten = 100
	// otherNetworks counts the calls from networks that are not counted by name.
	otherNetworks = "other"
	// refusedAgain is after how long what could not be written is tried again.
	refusedAgain = time.Second
)

// refusal is a call that is refused. Anybody can make many: nothing that it costs
// grows with their number, and it takes no more than one connection for all of them.
type refusal struct {
	gateway gateway.Name
	reason  state.Refusal
	proof   string
	at      time.Time
	body    func() []byte // asked only where the call is stored
	request string        // id of the HTTP request
}

// refuse stores a call or counts it. What goes wrong is logged and kept for KeepRefused:
// the gateway's answer is the same, and calls that come until that has written wait for
// nothing.
func (s *Refusals) refuse(ctx context.Context, r refusal) {
	address, network := networksOf(httpapi.ClientIP(ctx))
	r.request = httpapi.RequestID(ctx)
	key := refusedCount{hour: r.at.UTC().Truncate(time.Hour), gateway: r.gateway, network: network, reason: r.reason}
	if !s.unwritten.allow(r.at, address) {
		s.unwritten.count(key, 1, r.at)
	} else {
		log := r.log()
		log.Address, log.Network = address, network
		s.deps.Log.WarnContext(ctx, "webhook refused", slog.String("gateway", string(r.gateway)),
			slog.String("reason", string(r.reason)),
			slog.String("log_id", log.ID.String()), slog.String("address", address))
		if !s.unwritten.store(log) {
			s.unwritten.restore(address)
			s.unwritten.count(key, 1, r.at)
		}
	}
	if !s.unwritten.failed() {
		s.tryWriteRefused(ctx)
	}
}

// KeepRefused writes what the calls themselves could not write, until ctx ends, and what
// waits then, tried again for as long as grace. A process that serves calls runs it, and
// ends it once none is under way.
func (s *Refusals) KeepRefused(ctx context.Context, grace time.Duration) {
	tick := time.NewTicker(refusedAgain)
	defer tick.Stop()
	writing := postgres.As(context.WithoutCancel(ctx), postgres.Request,
		"refused webhooks") // leaves the calls their connections
	write := func() {
		writing, cancel := context.WithTimeout(writing, grace)
		defer cancel()
		s.tryWriteRefused(writing)
	}
	for ctx.Err() == nil {
		write()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	for end := time.Now().Add(grace); s.unwritten.waiting(); <-tick.C {
		if time.Now().After(end) {
			s.deps.Log.ErrorContext(writing, "refused webhooks could not be written and are not counted")
			return
		}
		write()
	}
}

func (s *Refusals) tryWriteRefused(ctx context.Context) {
	if err := s.writeRefused(ctx); err != nil {
		s.deps.Log.WarnContext(ctx, "refused webhooks not written yet", slog.Any("error", err))
	}
}

func (r refusal) log() paymentsdb.RefusedWebhookInsertParams {
	raw := r.body()
	id, kind := claimedIdentity(raw)
	log := paymentsdb.RefusedWebhookInsertParams{
		ID: objectid.At(r.at), Gateway: r.gateway, EventID: nullable.Ptr(id), EventType: nullable.Ptr(kind),
		Payload:   storableRefused(raw),
		Signature: nullable.Ptr(r.proof), ReceivedAt: r.at, RequestID: nullable.Ptr(r.request), Reason: r.reason,
		MaxDay:  refusedPerDay,
		MaxHour: refusedPerHour,
		Day:     r.at.UTC().Truncate(24 * time.Hour), Hour: r.at.UTC().Truncate(time.Hour),
	}
	if r.reason == state.ClockSkew {
		log.Result, _ = json.Marshal(gateway.Result{
			Status: gateway.ResultIgnored, Reason: gateway.ReasonClockSkew,
		}) // it always marshals
	}
	return log
}

// storableRefused is at most 4 kB of a body: its JSON, else its text.
func storableRefused(body []byte) json.RawMessage {
	text := strings.ToValidUTF8(string(body[:min(len(body), maxRefusedBody)]), "?") // no longer than what it stands for
	if text = strings.ReplaceAll(text, "\x00", "?"); len(body) <= maxRefusedBody {
		return storable([]byte(text), maxRefusedBody)
	}
	raw, _ := json.Marshal(text) // a valid string always marshals
	return raw
}

// writeRefused writes the refused calls that are not written yet: one caller those of all that come meanwhile.
func (s *Refusals) writeRefused(ctx context.Context) error {
	for {
		logs, counts, taken := s.unwritten.take()
		if !taken {
			return nil
		}
		err := s.writeRefusedNow(ctx, logs, counts)
		if s.unwritten.done(err); err != nil {
			return err
		}
	}
}

// writeRefusedNow writes all or nothing: a statement alone that is given up here may still
// be carried out once its lock is free, and what is put back would be counted twice.
func (s *Refusals) writeRefusedNow(ctx context.Context, logs []paymentsdb.RefusedWebhookInsertParams,
	counts map[refusedCount]tally,
) error {
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.db.RefusedWebhookLockWait(ctx, tx); err != nil {
			return fmt.Errorf("bound the wait for a lock: %w", err)
		}
		counts := maps.Clone(counts)
		for _, log := range logs {
			stored, err := s.db.RefusedWebhookInsert(ctx, tx, log)
			if err != nil {
				return fmt.Errorf("store refused webhook: %w", err)
			}
			if stored == 0 { // other processes have stored enough
				key := keyOf(log)
				counts[key] = counts[key].plus(1, log.ReceivedAt)
			}
		}
		if len(counts) == 0 {
			return nil
		}
		if err := s.db.RefusedWebhookCount(ctx, tx, countParams(counts)); err != nil {
			return fmt.Errorf("count refused webhooks: %w", err)
		}
		return nil
	})
	if err != nil {
		s.unwritten.putBack(logs, counts)
	}
	return err
}

func countParams(counts map[refusedCount]tally) (p paymentsdb.RefusedWebhookCountParams) {
	for _, key := range slices.SortedFunc(maps.Keys(counts), refusedCount.compare) {
		p.Hours, p.Gateways, p.Networks = append(p.Hours, key.hour), append(p.Gateways, string(key.gateway)),
			append(p.Networks, key.network)
		p.Reasons, p.Calls, p.LastAt = append(p.Reasons, string(key.reason)), append(p.Calls, counts[key].calls),
			append(p.LastAt, counts[key].last)
	}
	return p
}

// refusedCount is what calls are counted by.
type refusedCount struct {
	hour    time.Time
	gateway gateway.Name
	network string
	reason  state.Refusal
}

func keyOf(log paymentsdb.RefusedWebhookInsertParams) refusedCount {
	return refusedCount{hour: log.Hour, gateway: log.Gateway, network: log.Network, reason: log.Reason}
}

func (k refusedCount) compare(other refusedCount) int {
	return cmp.Or(k.hour.Compare(other.hour), cmp.Compare(k.gateway, other.gateway),
		cmp.Compare(k.network, other.network), cmp.Compare(k.reason, other.reason))
}

type tally struct {
	calls int64
	last  time.Time
}

func (t tally) plus(calls int64, at time.Time) tally {
	if at.After(t.last) {
		t.last = at
	}
	t.calls += calls
	return t
}

// refusals is what a process knows of the calls that it refused lately: what may
// still be stored of the hour and day, and what is not written yet.
type refusals struct {
	mu        sync.Mutex
	hour, day time.Time
	byAddress map[string]int // allowed in the hour
	today     int            // allowed in the day
	networks  map[refusedCount]bool
	logs      []paymentsdb.RefusedWebhookInsertParams
	counts    map[refusedCount]tally
	writing   bool
	failing   bool // the last write failed
}

// allow reports whether the call is one of the first of its hour and address, and of
// the day.
func (r *refusals) allow(at time.Time, address string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hour := at.UTC().Truncate(time.Hour); !hour.Equal(r.hour) {
		r.hour, r.byAddress, r.networks = hour, map[string]int{}, map[refusedCount]bool{}
	}
	if day := at.UTC().Truncate(24 * time.Hour); !day.Equal(r.day) {
		r.day, r.today = day, 0
	}
	if r.today >= refusedPerDay || r.byAddress[address] >= refusedPerHour {
		return false
	}
	r.today++
	r.byAddress[address]++
	return true
}

// restore gives back the place of an allowed call that is not stored after all, to the
// next one.
func (r *refusals) restore(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.today--
	r.byAddress[address]--
}

// store keeps a call until it is written; false when too many wait.
func (r *refusals) store(log paymentsdb.RefusedWebhookInsertParams) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.logs) >= maxUnwritten {
		return false
	}
	r.logs = append(r.logs, log)
	return true
}

// count counts calls until they are written; those of networks beyond the first of
// an hour together.
func (r *refusals) count(key refusedCount, calls int64, last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := refusedCount{gateway: key.gateway, network: key.network}
	if !r.networks[named] {
		if len(r.networks) >= 2*refusedNetworks {
			key.network = otherNetworks
		} else {
			r.networks[named] = true
		}
	}
	r.add(key, calls, last)
}

func (r *refusals) add(key refusedCount, calls int64, last time.Time) {
	if r.counts == nil {
		r.counts = map[refusedCount]tally{}
	}
	r.counts[key] = r.counts[key].plus(calls, last)
}

// take gives the caller what is to be written; false: there is nothing, or somebody
// is writing, who will take it.
func (r *refusals) take() (logs []paymentsdb.RefusedWebhookInsertParams, counts map[refusedCount]tally, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing || len(r.logs)+len(r.counts) == 0 {
		return nil, nil, false
	}
	logs, counts = r.logs, r.counts
	if counts == nil {
		counts = map[refusedCount]tally{}
	}
	r.logs, r.counts, r.writing = nil, nil, true
	return logs, counts, true
}

// waiting reports whether anything is not written yet, or is being written.
func (r *refusals) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writing || len(r.logs)+len(r.counts) > 0
}

// failed reports whether the last write failed, so that the next would wait as well.
func (r *refusals) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failing
}

func (r *refusals) done(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing, r.failing = false, err != nil
}

// putBack keeps what could not be written: calls beyond what waits are counted.
func (r *refusals) putBack(logs []paymentsdb.RefusedWebhookInsertParams, counts map[refusedCount]tally) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, t := range counts {
		r.add(key, t.calls, t.last)
	}
	for _, log := range logs {
		if len(r.logs) < maxUnwritten {
			r.logs = append(r.logs, log)
		} else {
			r.add(keyOf(log), 1, log.ReceivedAt)
		}
	}
}

// networksOf tells by which address a call is limited (an IPv4 address, the /64 of an
// IPv6 address, which one subscriber has), and by which network it is counted (/24, /48).
func networksOf(ip string) (address, network string) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return otherNetworks, otherNetworks
	}
	bits, wide := 64, 48
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits, wide = 32, 24
	}
	near, _ := addr.Prefix(bits) // both lengths fit the address
	far, _ := addr.Prefix(wide)
	if addr.Is4() {
		return addr.String(), far.String()
	}
	return near.String(), far.String()
}

// tidyRefused counts what has been stored long enough, also what stands in the log
// itself from before refused calls had a table of their own.
func (s *Refusals) tidyRefused(ctx context.Context) error {
	before := s.deps.Clock.Now().Add(-refusedRetention)
	gone, err := s.db.RefusedWebhookDeleteBefore(ctx, s.deps.Pool, before)
	if err != nil {
		return fmt.Errorf("delete refused webhooks: %w", err)
	}
	for {
		n, err := s.db.RefusedWebhookLeaveLog(ctx, s.deps.Pool,
			paymentsdb.RefusedWebhookLeaveLogParams{Before: before, PageSize: deletePage})
		if err != nil {
			return fmt.Errorf("delete refused webhooks from the log: %w", err)
		}
		if gone += n; n == 0 {
			break
		}
	}
	if gone > 0 {
		s.deps.Log.InfoContext(ctx, "refused webhooks deleted and counted", slog.Int64("counts", gone))
	}
	return nil
}
