package finance

import "marquee/platform/httpapi"

// Routes registers the module's operations.
func (s *Service) Routes(_ *httpapi.API) {}
