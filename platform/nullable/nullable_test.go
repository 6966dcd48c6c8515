package nullable

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestZeroIsNullBothWays(t *testing.T) {
	t.Parallel()
	require.Nil(t, Ptr(""))
	require.Nil(t, Ptr(0))
	require.Equal(t, "a", *Ptr("a"))
	require.Equal(t, "a", Value(Ptr("a")))
	require.Zero(t, Value[int](nil))
}
