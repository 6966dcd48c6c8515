package board_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// TestParallelMovesAndEdits: 100 requests move and edit 20 cards, several in each
// body and in any order, while the columns are renamed. Nothing is lost: every
// change stands in the history of its card, each begins where the one before it
// ended, the last is what the card shows, and the dates rise in that order.
func TestParallelMovesAndEdits(t *testing.T) {
	t.Parallel()
	const requests, numCards, each = 100, 20, 3
	b := setup(t)
	cols := b.made("To do", "Doing", "Done")
	ids := make([]objectid.ID, numCards)
	for i := range ids {
		ids[i] = b.card(fmt.Sprintf("card %d", i), cols[0].ID).ID
	}

	responses := make([][]card, requests)
	var wg sync.WaitGroup
	for n := range requests {
		body := make([]map[string]any, each)
		for i := range body {
			body[i] = map[string]any{"_id": ids[(n*7+i*(n%5+3))%numCards], "priority": strconv.Itoa(n)}
			if n%2 == 0 {
				body[i]["status_id"] = cols[(n/2+i)%len(cols)].ID
			} else {
				body[i]["description"] = []string{fmt.Sprintf("by request %d", n)}
			}
		}
		wg.Go(func() {
			a := b.admin.Put(cards, body)
			if a.Status != http.StatusOK {
				t.Errorf("request %d: %d %s", n, a.Status, a.Body)
				return
			}
			responses[n] = docs[card](a)
		})
	}
	for n := range 10 {
		order := []int{0, 1, 2}
		if n%2 == 0 {
			slices.Reverse(order)
		}
		body := make([]map[string]any, len(order))
		for i, at := range order {
			body[i] = map[string]any{"_id": cols[at].ID, "name": fmt.Sprintf("%s %d", cols[at].Name, n)}
		}
		wg.Go(func() {
			if a := b.admin.Put("/admin/requisition-status", body); a.Status != http.StatusOK {
				t.Errorf("rename %d: %d %s", n, a.Status, a.Body)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for _, id := range ids {
		b.requireWholeHistory(id, responses)
	}
}

// requireWholeHistory replays a card's history against what the requests were
// answered. Their priority is the number of the request.
func (b *bundle) requireWholeHistory(id objectid.ID, responses [][]card) {
	b.t.Helper()
	dates := map[string]time.Time{}
	for n, all := range responses {
		for _, c := range all {
			if c.ID == id {
				dates[strconv.Itoa(n)] = c.UpdatedAt
			}
		}
	}
	entries := b.history(id)
	slices.Reverse(entries)
	require.Len(b.t, entries, len(dates)+1, "every change and nothing else")
	state, last := entries[0].After, time.Time{}
	for _, e := range entries[1:] {
		for _, field := range []string{"status_id", "priority", "description"} {
			if value, changed := e.Before[field]; changed {
				require.Equal(b.t, state[field], value, "a change begins where the one before it ended")
			}
			if value, changed := e.After[field]; changed {
				state[field] = value
			}
		}
		priority, _ := e.After["priority"].(string)
		at, recorded := dates[priority]
		require.True(b.t, recorded, "priority %q", priority)
		require.True(b.t, at.After(last), "%s is not after %s", at, last)
		delete(dates, priority)
		last = at
	}
	require.Empty(b.t, dates)
	now := b.read(id)
	require.Equal(b.t, state["status_id"], now.StatusID.String())
	require.Equal(b.t, state["priority"], now.Priority)
	require.Equal(b.t, last, now.UpdatedAt)
}

// TestDateRisesThoughAnOlderChangeComesLater: a change takes its instant before
// it waits for the card. Without the trigger the date goes back.
func TestDateRisesThoughAnOlderChangeComesLater(t *testing.T) {
	t.Parallel()
	for _, guarded := range []bool{true, false} {
		t.Run(fmt.Sprintf("guarded=%t", guarded), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if !guarded {
				_, err := b.db.Exec(t.Context(), "DROP TRIGGER requisitions_update_date ON board.requisitions")
				require.NoError(t, err)
			}
			target := b.card("held", b.made("To do")[0].ID)
			change := func(priority string, at time.Time) time.Time {
				require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
					_, err := b.svc.Cards().UpdateTx(t.Context(), tx, resource.Actor{Now: at},
						resource.RawJSON(`[{"_id":"`+target.ID.String()+`","priority":"`+priority+`"}]`))
					return err
				}))
				return b.read(target.ID).UpdatedAt
			}
			later := change("later", target.UpdatedAt.Add(time.Minute))
			older := change("older", target.UpdatedAt.Add(time.Second))
			require.Equal(t, guarded, older.After(later), "%s, then %s", later, older)
		})
	}
}

// TestColumnGoesOrTakesTheCard: of a column's deletion and a card's move into it
// one wins, and no card is left without a column.
func TestColumnGoesOrTakesTheCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	home := b.made("home")[0].ID
	parent := b.card("held", home)
	for n := range 10 {
		target := b.made("target " + strconv.Itoa(n))[0].ID
		var moved, deleted int
		var wg sync.WaitGroup
		wg.Go(func() {
			moved = b.admin.Put(cards, `[{"_id":"`+parent.ID.String()+`","status_id":"`+target.String()+`"}]`).Status
		})
		wg.Go(func() { deleted = b.admin.Delete("/admin/requisition-status?_id="+target.String(), nil).Status })
		wg.Wait()
		require.Contains(t, [][2]int{{200, 409}, {422, 200}}, [2]int{moved, deleted})
		docs[card](b.admin.Put(cards, `[{"_id":"`+parent.ID.String()+`","status_id":"`+home.String()+`"}]`))
	}
}

// TestDeletionHoldsItsCardBeforeItsFiles takes the steps of a deletion one by one
// while an upload comes in between. Without the lock the upload's file outlives
// the card.
func TestDeletionHoldsItsCardBeforeItsFiles(t *testing.T) {
	t.Parallel()
	for _, guarded := range []bool{true, false} {
		t.Run(fmt.Sprintf("guarded=%t", guarded), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			target := b.card("held", b.made("To do")[0].ID)
			formType, body := multipartFile(t, "note.txt", "text/plain", []byte("note"))
			status := make(chan int, 1)
			require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
				if guarded {
					if _, err := tx.Exec(t.Context(), "SELECT 1 FROM board.requisitions WHERE id = $1 FOR UPDATE",
						target.ID); err != nil {
						return err
					}
				}
				if err := b.files.DeleteOfRecordTx(t.Context(), tx, "requisition", target.ID); err != nil {
					return err
				}
				go func() {
					status <- b.admin.Send(http.MethodPost, cards+"/"+target.ID.String()+"/files", formType, body).Status
				}()
				require.Eventually(t, func() bool { return len(status) == 1 || b.waiting() }, time.Minute,
					5*time.Millisecond)
				_, err := tx.Exec(t.Context(), "DELETE FROM board.requisitions WHERE id = $1", target.ID)
				return err
			}))
			if guarded {
				require.Equal(t, http.StatusNotFound, <-status)
				require.Zero(t, b.count("SELECT count(*) FROM files.files"))
				return
			}
			require.Equal(t, http.StatusOK, <-status)
			require.Equal(t, 1, b.count("SELECT count(*) FROM files.files"))
		})
	}
}

// TestColumnsAreHeldInOrder lets a rename of two columns meet a move of two
// cards, each beginning at the other's end. Without the locks that both take
// first, in the order of the ids, they wait for each other and one is killed.
func TestColumnsAreHeldInOrder(t *testing.T) {
	t.Parallel()
	for _, guarded := range []bool{true, false} {
		t.Run(fmt.Sprintf("guarded=%t", guarded), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			cols := b.made("a", "b", "home")
			first, second := b.card("first", cols[2].ID), b.card("second", cols[2].ID)
			ids := []string{cols[0].ID.String(), cols[1].ID.String()}
			begun := make(chan struct{}, 2)
			run := func(hold string, steps ...[2]any) error {
				return postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
					if guarded {
						if _, err := tx.Exec(t.Context(), hold, ids); err != nil {
							return err
						}
					}
					for i, step := range steps {
						args, _ := step[1].([]any)
						if _, err := tx.Exec(t.Context(), step[0].(string), args...); err != nil {
							return err
						}
						if i == 0 {
							begun <- struct{}{}
							assert.Eventually(t, func() bool { return len(begun) == 2 || b.waiting() }, time.Minute,
								5*time.Millisecond)
						}
					}
					return nil
				})
			}
			const move, rename = "UPDATE board.requisitions SET status_id = $2 WHERE id = $1", "UPDATE board.requisition_status SET name = name || '2' WHERE id = $1"
			errs := make(chan error, 2)
			go func() {
				errs <- run("SELECT 1 FROM board.requisition_status WHERE id = ANY ($1::text[]) ORDER BY id FOR KEY SHARE",
					[2]any{move, []any{first.ID, cols[0].ID}}, [2]any{move, []any{second.ID, cols[1].ID}})
			}()
			go func() {
				errs <- run("SELECT 1 FROM board.requisition_status WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE",
					[2]any{rename, []any{cols[1].ID}}, [2]any{rename, []any{cols[0].ID}})
			}()
			killed := 0
			for range 2 {
				var pgErr *pgconn.PgError
				if err := <-errs; errors.As(err, &pgErr) && pgErr.Code == "40P01" {
					killed++
				} else {
					require.NoError(t, err)
				}
			}
			require.Equal(t, !guarded, killed == 1, "%d killed", killed)
		})
	}
}

// waiting reports whether a session of the test's database waits for a lock.
func (b *bundle) waiting() bool {
	var n int
	err := b.db.QueryRow(b.t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").
		Scan(&n)
	return err == nil && n > 0
}
