package stage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

type thing struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// keeping is a stage with one table and one value.
type keeping struct {
	t      *testing.T
	s      *stage.Stage
	things stage.Table[thing]
	count  struct {
		N int `json:"n"`
	}
}

func keep(t *testing.T, file string) *keeping {
	t.Helper()
	k := &keeping{t: t}
	s, err := stage.New(stage.Options{
		Name: "test", StateFile: file,
		Logger: slog.New(slog.NewTextHandler(failing{t}, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	require.NoError(t, err)
	k.s = s
	s.Clock.Handle("effect", func(string) {})
	require.NoError(t, s.Keep("things", &k.things))
	require.NoError(t, s.KeepValue("count", &k.count))
	require.NoError(t, s.Start())
	return k
}

// failing is a log in which nothing may stand.
type failing struct{ t *testing.T }

func (f failing) Write(line []byte) (int, error) {
	f.t.Errorf("logged: %s", line)
	return len(line), nil
}

// saved is everything that is kept, as JSON.
func (k *keeping) saved() string {
	k.s.Lock()
	defer k.s.Unlock()
	all := []any{k.count}
	for id, v := range k.things.All() {
		all = append(all, id, *v)
	}
	for _, d := range k.s.Webhooks.Deliveries() {
		if d.State == stage.Waiting {
			all = append(all, d.ID, d.EventID, d.Body)
		}
	}
	due, _ := k.s.Clock.Next()
	raw, err := json.Marshal(append(all, due))
	require.NoError(k.t, err)
	return string(raw)
}

// step does something at random and saves it, as a call does.
func (k *keeping) step(r *rand.Rand, i int) {
	k.s.Lock()
	id := strconv.Itoa(r.Intn(30))
	switch r.Intn(8) {
	case 0:
		k.things.Remove(id)
	case 1:
		k.things.Remove(id)
		k.things.Put(id, &thing{Name: "again"})
	case 2:
		k.things.DropOldest(20)
	case 3:
		for _, v := range k.things.Newest(func(v *thing) bool { return v.Size%2 == 0 }) {
			v.Size++
		}
	case 4:
		k.s.Clock.At(k.s.Clock.Now().Add(time.Duration(i)*time.Hour), "effect", id)
	case 5:
		k.s.Clock.Cancel("effect", id)
	case 6:
		k.s.Emit(context.Background(), stage.Event{ID: "evt_" + id, Type: "t", Body: []byte(`"body"`)})
	}
	if v, found := k.things.Find(id); found {
		v.Size += i
	} else {
		k.things.Put(id, &thing{Name: id})
	}
	k.count.N++
	k.s.Unlock()
	k.s.Changed()
	require.NoError(k.t, k.s.Flush())
}

// TestEachChangeIsReadBack: the file of a process that never closed it, after each change and also once it was cut
// off in the middle of its last line, holds what was there after the last whole one.
func TestEachChangeIsReadBack(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	k, r := keep(t, file), rand.New(rand.NewSource(1))
	before, last := "", []byte{}
	for i := range 60 {
		k.step(r, i)
		saved := k.saved()
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, saved, readBack(t, raw))
		if i > 0 {
			require.True(t, bytes.HasPrefix(raw, last), "a change is appended")
			cut := len(last) + r.Intn(len(raw)-len(last))
			require.Equal(t, before, readBack(t, raw[:cut]), "cut off after %d of %d bytes", cut-len(last),
				len(raw)-len(last))
		}
		before, last = saved, raw
	}
	for cut := bytes.LastIndexByte(last[:len(last)-1], '\n') + 1; cut < len(last); cut++ {
		readBack(t, last[:cut])
	}
	require.NoError(t, k.s.Close())
}

// readBack is what a new process sees, which also goes on to write.
func readBack(t *testing.T, raw []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	k := keep(t, file)
	saved := k.saved()
	k.step(rand.New(rand.NewSource(2)), 7)
	further := k.saved()
	require.NoError(t, k.s.Close())
	again := keep(t, file)
	require.Equal(t, further, again.saved())
	require.NoError(t, again.s.Close())
	return saved
}

// TestStateFileIsWrittenAfresh: it stays within a few times what it holds, and what it holds stays the same.
func TestStateFileIsWrittenAfresh(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	k := keep(t, file)
	text := string(bytes.Repeat([]byte("x"), 1<<20))
	for i := range 30 {
		k.s.Lock()
		k.things.Put(strconv.Itoa(i%3), &thing{Name: text, Size: i})
		k.s.Unlock()
		k.s.Changed()
		require.NoError(t, k.s.Flush())
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(10<<20))
	}
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, k.saved(), readBack(t, raw))
	require.NoError(t, k.s.Close())
	require.NoFileExists(t, file+".new")
}

// TestBrokenStateFileIsNamedNotOverwritten: also one whose middle is broken, or that is another gateway's.
func TestBrokenStateFileIsNamedNotOverwritten(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/state.json"
	for _, content := range []string{
		"", "{", `{"version":99}`, "{\"version\":2,\"sandbox\":\"test\"}", "{\"version\":2,\"sandbox\":\"gwb\"}\n",
		"{\"version\":2,\"sandbox\":\"test\"}\n{\"c\":\n{\"c\":[]}\n",
	} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		_, err := stage.New(stage.Options{Name: "test", StateFile: file})
		require.ErrorContains(t, err, file)
		require.ErrorContains(t, err, "delete it to start afresh")
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, content, string(raw))
	}
}
