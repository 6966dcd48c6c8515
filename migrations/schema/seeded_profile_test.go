package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestTheSeededProfileGetsTheRightToBrand: 01231 gives it to the profile that the migrations made, and not to one whose
// lists root has changed. Taken back and applied again it is the same.
func TestTheSeededProfileGetsTheRightToBrand(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	conn := connect(t, url)
	const rights = `SELECT array_to_string(p."update", ' ') FROM accounts.users_type p ORDER BY 1`
	for range 2 {
		_, err := files.DownTo(t.Context(), 1230)
		require.NoError(t, err)
		require.Equal(t, []string{"requisition_put requisition_status_put"}, column(t, conn, rights))
		_, err = files.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"requisition_put requisition_status_put config_branding_put"}, column(t, conn, rights))
	}
	_, err := files.DownTo(t.Context(), 1230)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `UPDATE accounts.users_type SET "update" = '{requisition_put}'`)
	require.NoError(t, err)
	_, err = files.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"requisition_put"}, column(t, conn, rights), "root has made it their own")
}
