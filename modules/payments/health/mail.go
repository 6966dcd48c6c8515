package health

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/platform/fault"
)

// listedLines is how many orders a mail lists one by one.
const listedLines = 20

// NotifyNotKnownTx writes to the operators what orders have been not known for a day, a line each.
func (h *Health) NotifyNotKnownTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, orders []string) error {
	if len(orders) == 0 {
		return nil
	}
	listed := strings.Join(orders[:min(listedLines, len(orders))], "\n")
	return h.deps.Operators.NotifyTx(ctx, tx,
		fmt.Sprintf("Gateway %s: %s not known for a day", gateway, fault.Count(len(orders), "order")), fmt.Sprintf(
			"Gateway %s has given no usable answer about %s for a day. It is asked about each of them every hour, after a week every day.\n\n%s\n\n"+
				"See docs/operations.md, \"Orders whose outcome is not known\".\n", gateway,
			fault.Count(len(orders), "order"), listed))
}
