// Package querytest holds the examples of the query contract (docs/contract/filters.md), which run
// against compiled statements, collections and the routes of the catalogue alike.
package querytest

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed vectors.json
var vectors []byte

// Contract is the examples with their sample rows.
type Contract struct {
	Videos      json.RawMessage `json:"videos"`
	WebhookLogs json.RawMessage `json:"webhook_logs"`
	Cases       []Case          `json:"cases"`
}

// Case is a filter and a sort with what they find: ids in their order, or the status of a refusal.
type Case struct {
	N          int             `json:"n"`
	Collection string          `json:"collection"`
	Query      json.RawMessage `json:"query"`
	Sort       json.RawMessage `json:"sort"`
	Raw        string          `json:"raw"` // in place of Query, when that is no JSON
	IDs        []string        `json:"ids"`
	Status     int             `json:"status"`
}

// Vectors reads the examples.
func Vectors() Contract {
	var c Contract
	if err := json.Unmarshal(vectors, &c); err != nil {
		panic(err)
	}
	return c
}

// Of are the cases of one collection.
func (c Contract) Of(collection string) (of []Case) {
	for _, v := range c.Cases {
		if v.Collection == collection {
			of = append(of, v)
		}
	}
	return of
}

// Text is the filter as a client writes it.
func (c Case) Text() string {
	if c.Query == nil {
		return c.Raw
	}
	return string(c.Query)
}

// Name tells it from the others in a test's output.
func (c Case) Name() string { return fmt.Sprintf("%d %s%s%s", c.N, c.Query, c.Sort, c.Raw) }
