package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/objectid"
)

// TestUntrailedRoutesLeaveNoEntry: the exceptions are what they say.
func TestUntrailedRoutesLeaveNoEntry(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	video := o.video()
	was := o.Count(`SELECT count(*) FROM accounts.audit_log`)
	o.root.Post("/auth/refresh-archive-token", nil).Expect(http.StatusOK)
	o.root.Put("/me/watch-history", obj{"video_id": video, "timeline": 1.5}).Expect(http.StatusOK)
	o.root.Delete("/me/watch-history", nil).Expect(http.StatusOK)
	play := o.root.Get("/videos/" + video + "/stream-url").Expect(http.StatusOK).Map()["play_id"].(string)
	o.root.Delete("/me/plays/"+play, nil).Expect(http.StatusOK)
	require.Equal(t, was, o.Count(`SELECT count(*) FROM accounts.audit_log`))
	o.root.Post("/me/passkeys/options", obj{"current_password": platformtest.Password}).Expect(http.StatusOK)
	o.root.Post("/admin/query/explain", obj{"path": "/videos"}).Expect(http.StatusOK)
	require.Equal(t, was, o.Count(`SELECT count(*) FROM accounts.audit_log`))
	require.Len(t, untrailed, 6)
}

// TestARefusedWriteLeavesNoEntry: the entry stands and falls with the write.
func TestARefusedWriteLeavesNoEntry(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.category()
	was := o.Count(`SELECT count(*) FROM accounts.audit_log`)
	o.root.Post("/videos", []obj{unique(o, aVideo), {"title": "no more"}}).Expect(http.StatusUnprocessableEntity)
	o.root.Delete("/tags?_id="+objectid.New().String(), nil).Expect(http.StatusNotFound)
	o.root.Put("/admin/config/payment-gateway", obj{"gateway": "none"}).Expect(http.StatusUnprocessableEntity)
	require.Equal(t, was, o.Count(`SELECT count(*) FROM accounts.audit_log`))
}
