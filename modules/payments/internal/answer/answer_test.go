package answer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/internal/answer"
)

// TestAnAnswerIsOfWhatWasAskedFor: kind, id and reference each are compared, also where
// the others are right.
func TestAnAnswerIsOfWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	want := answer.Identity{Object: "payment", ID: "pay_1", Reference: "ours"}
	for name, tc := range map[string]struct {
		told, want answer.Identity
		odd        bool
	}{
		"the same":                    {told: want, want: want, odd: false},
		"nothing is wanted but an id": {told: want, want: answer.Identity{}, odd: false},
		"another kind": {
			told: answer.Identity{Object: "customer", ID: "pay_1", Reference: "ours"}, want: want, odd: true,
		},
		"another id": {
			told: answer.Identity{Object: "payment", ID: "pay_2", Reference: "ours"}, want: want, odd: true,
		},
		"another id, without references": {
			told: answer.Identity{Object: "payment", ID: "pay_2"},
			want: answer.Identity{Object: "payment", ID: "pay_1"},
			odd:  true,
		},
		"another reference": {told: answer.Identity{Object: "payment", ID: "pay_1", Reference: "theirs"}, want: want, odd: true},
		"no reference":      {told: answer.Identity{Object: "payment", ID: "pay_1"}, want: want, odd: true},
		"no id": {
			told: answer.Identity{Object: "payment", Reference: "ours"},
			want: answer.Identity{Object: "payment", Reference: "ours"},
			odd:  true,
		},
		"nothing at all": {told: answer.Identity{}, want: answer.Identity{}, odd: true},
	} {
		err := tc.told.Check(tc.want)
		if tc.odd {
			require.ErrorIs(t, err, answer.ErrOdd, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
