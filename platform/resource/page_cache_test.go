package resource_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/resource"
)

func TestMemoryKeepsTheNewestVersion(t *testing.T) {
	t.Parallel()
	m := resource.NewPageCache(1 << 20)
	_, ok := m.Get("a")
	require.False(t, ok)
	m.Put("a", resource.Page{Docs: []byte("old"), Version: 1})
	m.Put("a", resource.Page{Docs: []byte("new"), Version: 3})
	m.Put("a", resource.Page{Docs: []byte("late"), Version: 2})
	p, ok := m.Get("a")
	require.True(t, ok)
	require.Equal(t, "new", string(p.Docs))
	m.Put("", resource.Page{})
	_, ok = m.Get("")
	require.False(t, ok)
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := resource.NewPageCache(64 << 10)
	m.Put("large", resource.Page{Docs: make([]byte, 5<<10)})
	_, ok := m.Get("large")
	require.False(t, ok, "one page does not drive out many")
	size := func() (n int) {
		for i := range 200 {
			if _, ok := m.Get(strconv.Itoa(i)); ok {
				n++
			}
		}
		return n
	}
	for i := range 200 {
		m.Put(strconv.Itoa(i), resource.Page{Docs: []byte(strings.Repeat("x", 1000))})
		m.Get("0") // in use all the time
	}
	require.InDelta(t, 51, size(), 3)
	_, ok = m.Get("0")
	require.True(t, ok)
	_, ok = m.Get("1")
	require.False(t, ok)
	_, ok = m.Get("199")
	require.True(t, ok)
}
