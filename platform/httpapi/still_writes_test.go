package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/secrettest"
)

// TestARequestThatWritesForLongIsNotedAgain: every few seconds as long as it takes, and no longer; who reads is not.
func TestARequestThatWritesForLongIsNotedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var recorded []objectid.ID
		api := httpapi.New(httpapi.Config{
			Auth: everybody, Log: secrettest.Logger(t),
			StillWrites: func(_ context.Context, user objectid.ID) error {
				recorded = append(recorded, user)
				return nil
			},
		})
		slow := func(context.Context, *struct{}) (*httpapi.Output[said], error) {
			time.Sleep(11 * time.Second)
			return httpapi.OK(said{"at last"})
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			httpapi.Route(api, method, "/slow", "slow_"+method, httpapi.Optional, slow)
		}
		api.Mount(http.MethodPost, httpapi.Prefix+"/slow-file", "slow_file", httpapi.Admin,
			func(_ http.ResponseWriter, r *http.Request) {
				if _, err := api.Authenticate(r); err != nil {
					t.Error(err)
				}
				time.Sleep(11 * time.Second)
			})
		admin := everybody["admin"].ID
		for _, request := range []struct {
			method, path, token string
			recorded            []objectid.ID
		}{
			{http.MethodPost, "/slow", "admin", []objectid.ID{admin, admin}},
			{http.MethodDelete, "/slow", "admin", []objectid.ID{admin, admin}},
			{http.MethodPost, "/slow-file", "admin", []objectid.ID{admin, admin}},
			{http.MethodGet, "/slow", "admin", nil},
			{http.MethodPost, "/slow", "", nil},
		} {
			recorded = nil
			ctx, end := context.WithCancel(t.Context())
			r := httptest.NewRequest(request.method, httpapi.Prefix+request.path, http.NoBody).WithContext(ctx)
			if request.token != "" {
				r.Header.Set("Authorization", "Bearer "+request.token)
			}
			w := httptest.NewRecorder()
			api.Handler().ServeHTTP(w, r)
			end()
			require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, request.recorded, recorded, "%s %s by %q", request.method, request.path, request.token)
		}
	})
}
