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
	want := answer.Told{Object: "payment", ID: "pay_1", Reference: "ours"}
	for name, tc := range map[string]struct {
		told, want answer.Told
		odd        bool
	}{
		"the same":                       {want, want, false},
		"nothing is wanted but an id":    {want, answer.Told{}, false},
		"another kind":                   {answer.Told{Object: "customer", ID: "pay_1", Reference: "ours"}, want, true},
		"another id":                     {answer.Told{Object: "payment", ID: "pay_2", Reference: "ours"}, want, true},
		"another id, without references": {answer.Told{Object: "payment", ID: "pay_2"}, answer.Told{Object: "payment", ID: "pay_1"}, true},
		"another reference":              {answer.Told{Object: "payment", ID: "pay_1", Reference: "theirs"}, want, true},
		"no reference":                   {answer.Told{Object: "payment", ID: "pay_1"}, want, true},
		"no id":                          {answer.Told{Object: "payment", Reference: "ours"}, answer.Told{Object: "payment", Reference: "ours"}, true},
		"nothing at all":                 {answer.Told{}, answer.Told{}, true},
	} {
		err := tc.told.Check(tc.want)
		if tc.odd {
			require.ErrorIs(t, err, answer.ErrOdd, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
