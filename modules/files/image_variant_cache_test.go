package files

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/image"
	"marquee/platform/objectid"
)

func TestVariantCacheIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	c := newVariantCache(100)
	key := func(width int) variant { return variant{id: "a", options: image.Options{Width: width}} }
	picture := func(bytes int) image.Picture { return image.Picture{Data: make([]byte, bytes)} }
	has := func(width int) bool { _, ok := c.get(key(width)); return ok }
	c.put(key(1), picture(40))
	c.put(key(2), picture(40))
	require.True(t, has(1)) // now 2 was used least recently
	c.put(key(3), picture(40))
	require.True(t, has(1))
	require.False(t, has(2))
	require.True(t, has(3))
	c.put(key(3), picture(40))
	require.Equal(t, 80, c.bytes, "what is there is not counted twice")
	c.put(key(4), picture(101))
	require.False(t, has(4), "what is larger than all is not kept")
	require.True(t, has(1))
	c.put(key(5), picture(100))
	require.Equal(t, 1, c.order.Len())
	require.Len(t, c.byKey, 1)
}

func TestVariantCacheInParallel(t *testing.T) {
	t.Parallel()
	c := newVariantCache(1000)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 500 {
				key := variant{id: objectid.ID(strconv.Itoa(i % 50)), options: image.Options{Width: worker % 2}}
				if _, ok := c.get(key); !ok {
					c.put(key, image.Picture{Data: make([]byte, 90)})
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, c.bytes, 1000)
	require.Len(t, c.byKey, c.order.Len())
	require.Equal(t, c.order.Len()*90, c.bytes)
}
