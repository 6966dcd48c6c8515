package settings

import (
	"context"

	"marquee/modules/settings/internal/settingsdb"
	"marquee/platform/httpapi"
)

type handlers struct{ s *Service }

type gatewayBody struct {
	DefaultPaymentGateway string `json:"default_payment_gateway" enum:"gwa,gwb"`
	Message               string `json:"message,omitempty"`
}

type pixBillingBody struct {
	PixBillingMode string `json:"pix_billing_mode" enum:"monthly,quarterly,semiannually,yearly"`
	Message        string `json:"message,omitempty"`
}

type pixSubscriptionBody struct {
	PixSubscriptionMode string `json:"pix_subscription_mode" enum:"manual,recurring"`
	Message             string `json:"message,omitempty"`
}

type versionBody struct {
	ClientVersion string  `json:"client_version" doc:"Semver that goes with this service"`
	MinVersion    *string `json:"min_version" doc:"Clients below have to update; null: none has to"`
}

type putGatewayInput struct {
	Body struct {
		Gateway string `json:"gateway" enum:"gwa,gwb"`
	}
}

type putPixBillingInput struct {
	Body struct {
		Mode string `json:"mode" enum:"monthly,quarterly,semiannually,yearly"`
	}
}

type putPixSubscriptionInput struct {
	Body struct {
		Mode string `json:"mode" enum:"manual,recurring"`
	}
}

type putVersionInput struct {
	Body struct {
		ClientVersion string              `json:"client_version" maxLength:"64" pattern:"^(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$" patternDescription:"a semantic version such as 1.4.0"`
		MinVersion    httpapi.Opt[string] `json:"min_version,omitempty" required:"false" maxLength:"64" pattern:"^(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$" patternDescription:"a semantic version such as 1.4.0"`
	}
}

func (h handlers) getGateway(ctx context.Context, _ *struct{}) (*httpapi.Output[gatewayBody], error) {
	p, err := h.s.get(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(gatewayBody{DefaultPaymentGateway: p.DefaultPaymentGateway})
}

func (h handlers) putGateway(ctx context.Context, in *putGatewayInput) (*httpapi.Output[gatewayBody], error) {
	p, err := h.s.change(ctx, func(p *settingsdb.SettingsPlatform) { p.DefaultPaymentGateway = in.Body.Gateway })
	if err != nil {
		return nil, err
	}
	return httpapi.OK(gatewayBody{
		DefaultPaymentGateway: p.DefaultPaymentGateway, Message: "Default payment gateway updated.",
	})
}

func (h handlers) getPixBilling(ctx context.Context, _ *struct{}) (*httpapi.Output[pixBillingBody], error) {
	p, err := h.s.get(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(pixBillingBody{PixBillingMode: p.PixBillingMode})
}

func (h handlers) putPixBilling(ctx context.Context, in *putPixBillingInput) (*httpapi.Output[pixBillingBody], error) {
	p, err := h.s.change(ctx, func(p *settingsdb.SettingsPlatform) { p.PixBillingMode = in.Body.Mode })
	if err != nil {
		return nil, err
	}
	return httpapi.OK(pixBillingBody{
		PixBillingMode: p.PixBillingMode, Message: "PIX billing mode updated. It applies to new subscriptions.",
	})
}

func (h handlers) getPixSubscription(ctx context.Context, _ *struct{}) (*httpapi.Output[pixSubscriptionBody], error) {
	p, err := h.s.get(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(pixSubscriptionBody{PixSubscriptionMode: p.PixSubscriptionMode})
}

func (h handlers) putPixSubscription(ctx context.Context,
	in *putPixSubscriptionInput,
) (*httpapi.Output[pixSubscriptionBody], error) {
	p, err := h.s.change(ctx, func(p *settingsdb.SettingsPlatform) { p.PixSubscriptionMode = in.Body.Mode })
	if err != nil {
		return nil, err
	}
	return httpapi.OK(pixSubscriptionBody{
		PixSubscriptionMode: p.PixSubscriptionMode,
		Message:             "PIX subscription mode updated. It applies to new subscriptions.",
	})
}

func (h handlers) getVersion(ctx context.Context, _ *struct{}) (*httpapi.Output[versionBody], error) {
	p, err := h.s.get(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(versionBody{ClientVersion: p.ClientVersion, MinVersion: p.MinVersion})
}

func (h handlers) putVersion(ctx context.Context, in *putVersionInput) (*httpapi.Output[versionBody], error) {
	p, err := h.s.change(ctx, func(p *settingsdb.SettingsPlatform) {
		p.ClientVersion = in.Body.ClientVersion
		if least := in.Body.MinVersion; least.Set {
			p.MinVersion = nil
			if !least.Null {
				p.MinVersion = &least.Value
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(versionBody{ClientVersion: p.ClientVersion, MinVersion: p.MinVersion})
}
