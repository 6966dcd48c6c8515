//go:build !nosandbox

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"marquee/platform/telemetry"
	"marquee/testutil/sandbox"
)

// Sandbox runs both gateways in miniature until ctx ends, with the public keys and secrets, for anyone's tests.
func Sandbox(ctx context.Context, o SandboxOptions) error {
	log, err := telemetry.NewLogFor(o.Err, "info")
	if err != nil {
		return err
	}
	gateways, err := sandbox.Start(sandbox.Options{ //nolint:contextcheck // they live until Close
		GWAAddr: o.GWAAddr, GWAWebhookURL: o.GWAWebhook, GWAWebhookToken: sandbox.GWAToken, GWAAPIKey: sandbox.GWAKey,
		GWBAddr: o.GWBAddr, GWBWebhookURL: o.GWBWebhook, GWBWebhookSecret: sandbox.GWBSecret,
		GWBSecretKey: sandbox.GWBKey,
		StateDir:     o.DataDir, Logger: log,
	})
	if err != nil {
		return err
	}
	err = greetSandbox(o, gateways)
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, gateways.Close()) //nolint:contextcheck // when ctx has ended it takes 2 s at most
}

// sandboxLine is what --json prints once both answer.
type sandboxLine struct {
	Sandbox  readySandbox  `json:"sandbox"`
	Keys     readyKeys     `json:"keys"`
	Webhooks readyWebhooks `json:"webhooks"`
}

type readyKeys struct {
	GWA string `json:"gwa"`
	GWB string `json:"gwb"`
}

// greetSandbox says where both gateways are, and what is set to reach them.
func greetSandbox(o SandboxOptions, gateways *sandbox.Sandbox) error {
	line := sandboxLine{
		Sandbox:  readySandbox{GWA: gateways.GWAURL(), GWB: gateways.GWBURL()},
		Keys:     readyKeys{GWA: sandbox.GWAKey, GWB: sandbox.GWBKey},
		Webhooks: readyWebhooks{GWAToken: sandbox.GWAToken, GWBSecret: sandbox.GWBSecret},
	}
	if o.JSON {
		if err := json.NewEncoder(o.Out).Encode(line); err != nil {
			return fmt.Errorf("ready line: %w", err)
		}
		return nil
	}
	_, err := fmt.Fprintf(o.Out, `
Both gateways run.

  gateway A  %[1]s          controls: %[2]s/_sandbox
  gateway B  %[3]s          controls: %[3]s/_sandbox

What calls them needs:

  GWA_URL=%[1]s GWA_API_KEY='%[4]s' GWA_WEBHOOK_TOKEN=%[5]s
  GWB_URL=%[3]s GWB_SECRET_KEY=%[6]s GWB_WEBHOOK_SECRET=%[7]s

Try:

  curl -s %[1]s/customers -H 'access_token: %[4]s' -H 'Content-Type: application/json' -d '{"name":"Ana Souza","cpfCnpj":"52998224725"}'
  curl -s %[3]s/v1/customers -u %[6]s: -d name='Ana Souza'

Ctrl-C stops both.
`,
		line.Sandbox.GWA, trimV3(line.Sandbox.GWA), line.Sandbox.GWB, line.Keys.GWA, line.Webhooks.GWAToken,
		line.Keys.GWB, line.Webhooks.GWBSecret)
	return err
}
