package app

import (
	"regexp"

	"marquee/platform/httpapi"
	"marquee/platform/pages"
	"marquee/web"
)

// publishableKey is the form of gateway B's own publishable keys; the sandbox's are shorter.
var publishableKey = regexp.MustCompile(`^pk_(live|test)_[0-9A-Za-z]{24,}$`)

// pages are what browsers are shown; nil, for nothing, with WEB=off.
func (c Config) pages() (httpapi.Pages, error) {
	if c.Web.Pages == "off" {
		return nil, nil //nolint:nilnil // no pages are no error
	}
	return pages.New(pages.Config{
		Dist: web.Dist(), Plain: web.Plain(), NoSite: c.Web.Site == "off",
		GatewayB: publishableKey.MatchString(c.GatewayB.PublishableKey),
	})
}
