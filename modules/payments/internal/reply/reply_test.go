package reply_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/internal/reply"
)

// TestAnAnswerIsOfWhatWasAskedFor: kind, id and reference each are compared, also where
// the others are right.
func TestAnAnswerIsOfWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	want := reply.Identity{Object: "payment", ID: "pay_1", Reference: "ours"}
	for name, tc := range map[string]struct {
		got, want reply.Identity
		odd       bool
	}{
		"the same":                    {got: want, want: want, odd: false},
		"nothing is wanted but an id": {got: want, want: reply.Identity{}, odd: false},
		"another kind": {
			got: reply.Identity{Object: "customer", ID: "pay_1", Reference: "ours"}, want: want, odd: true,
		},
		"another id": {
			got: reply.Identity{Object: "payment", ID: "pay_2", Reference: "ours"}, want: want, odd: true,
		},
		"another id, without references": {
			got:  reply.Identity{Object: "payment", ID: "pay_2"},
			want: reply.Identity{Object: "payment", ID: "pay_1"},
			odd:  true,
		},
		"another reference": {
			got: reply.Identity{Object: "payment", ID: "pay_1", Reference: "theirs"}, want: want, odd: true,
		},
		"no reference": {got: reply.Identity{Object: "payment", ID: "pay_1"}, want: want, odd: true},
		"no id": {
			got:  reply.Identity{Object: "payment", Reference: "ours"},
			want: reply.Identity{Object: "payment", Reference: "ours"},
			odd:  true,
		},
		"nothing at all": {got: reply.Identity{}, want: reply.Identity{}, odd: true},
	} {
		err := tc.got.Check(tc.want)
		if tc.odd {
			require.ErrorIs(t, err, reply.ErrOdd, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
