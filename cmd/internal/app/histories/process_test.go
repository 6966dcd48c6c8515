package histories_test

import (
	"context"
	"runtime"

	"github.com/jackc/pgx/v5"
)

// process is the running platform as far as a step is concerned: it may die at a
// point. Points are the beginning and the end of each commit and each answer of a
// gateway, counted from 1.
type process struct {
	dieAt  int // 0: never
	passed int
	died   bool
}

type processKey struct{}

// point is where the process may die. What is deferred still runs, as the
// database rolls back for a client that is gone; nothing else does.
func point(ctx context.Context) {
	p, _ := ctx.Value(processKey{}).(*process)
	if p == nil || p.dieAt == 0 || p.died {
		return
	}
	p.passed++
	if p.passed == p.dieAt {
		p.died = true
		runtime.Goexit()
	}
}

// run does one thing that the platform does, a request or a job, in the process;
// ended is false when the process died of it.
func (p *process) run(ctx context.Context, do func(ctx context.Context)) (ended bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(context.WithValue(ctx, processKey{}, p))
		ended = true
	}()
	<-done
	return ended
}

// commits lets the process die before and after each commit.
type commits struct{}

type commitKey struct{}

func (commits) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if q.SQL != "commit" {
		return ctx
	}
	point(ctx)
	return context.WithValue(ctx, commitKey{}, true)
}

func (commits) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if ctx.Value(commitKey{}) != nil {
		point(ctx)
	}
}
