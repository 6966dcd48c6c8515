package payments

import "marquee/modules/payments/webhook"

// Types of webhook.
type (
	Answer           = webhook.Answer
	Applier          = webhook.Applier
	ForgetPersonArgs = webhook.ForgetPersonArgs
	StrayMoneyTaker  = webhook.StrayMoneyTaker
	ToldArgs         = webhook.ToldArgs
)

// Constants of webhook.
const (
	NotAsIsTold = webhook.NotAsIsTold
)
