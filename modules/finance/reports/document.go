package reports

import (
	"context"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// document is an answer whose JSON Postgres has built.
type document struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// document answers with what one statement builds, as of the service's clock;
// thing is what it is about. 404 when it gives no row, 503 when it runs too long.
func (h Handlers) document(ctx context.Context, thing string,
	build func(ctx context.Context, tx pgx.Tx) ([]byte, error),
) (*document, error) {
	out := &document{ContentType: "application/json"}
	err := h.Snapshot(ctx, reportTimeout, func(ctx context.Context, tx pgx.Tx) (err error) {
		out.Body, err = build(ctx, tx)
		return err
	})
	if postgres.IsNoRows(err) {
		return nil, fault.NotFound(thing)
	}
	if err != nil {
		return nil, reported(fmt.Errorf("report %q: %w", thing, err))
	}
	return out, nil
}

// reported is the error of a report: 503 when it ran too long.
func reported(err error) error {
	if postgres.IsTimeout(err) {
		return (&fault.Error{Kind: fault.KindUnavailable, Message: "The report took too long."}).WithCause(err)
	}
	return err
}

// SchemaOf states the schema of a document as that of a Go type, which lives for
// that alone.
func SchemaOf[T any](api *httpapi.API) httpapi.Option {
	return httpapi.ResponseSchema(huma.SchemaFromType(api.OpenAPI().Components.Schemas, reflect.TypeFor[T]()))
}

// reais is money of the events dashboard: a JSON number with two decimals.
type reais struct{ money.Reais }

// Schema is a number.
func (reais) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Description: "Reais, with two decimals"}
}

// output wraps a body; 503 when it took too long.
func output[T any](body T, err error) (*httpapi.Output[T], error) {
	if err != nil {
		return nil, reported(err)
	}
	return httpapi.OK(body)
}
