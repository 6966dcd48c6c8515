// Package replica answers reads that may lag from streaming replicas of the database, and from the database itself,
// the primary, whenever no replica can: a replica that is away or too far behind is given up, and taken back by itself.
//
//	set := replica.New(replica.Config{Primary: lists, Watch: watch, Replicas: pools, MaxLag: 10 * time.Second})
//	err := set.Read(ctx, func(ctx context.Context, db postgres.Pool) error { return list.Run(ctx, db) })
//
// # What is read
//
// The function is called once on a replica, and once more on the primary where that failed, so it has to begin anew
// each time. It does not know which it has, and changes nothing. Whatever decides who may do what, or about money, is
// not read through a Set at all (docs/operations.md, Replicas).
//
// # Which replica
//
// Every replica is asked twice a second how far it has replayed the write-ahead log, and the primary how far it has
// written it. A replica lags by the time since the primary was where the replica is now: no clock but this process'
// own counts, and a primary that writes nothing makes nobody lag. Of the replicas that lag less than MaxLag those near
// the least lag share the reads, the one with the fewest under way first.
//
// A caller who wrote a moment ago brings a place in the log (After): only replicas that have replayed it are asked.
package replica
