package webhook

import "marquee/platform/lookup"

// mostOfObject is how many calls about one object of a gateway are found.
const mostOfObject = 5

// Finder is what staff find webhook calls by: ids of ours, of the gateways and of requests, and whatever object of a
// gateway a call that proved itself is about.
func Finder() lookup.Finder {
	return lookup.Finder{
		Kind: "webhook_log", Route: "webhook_log_list", From: logsFrom, Title: "t.event_type", Note: "t.event_id",
		By: []lookup.By{
			{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
			{
				Name: "event_id", Rank: lookup.Exact, Values: lookup.GatewayIDs, Where: "t.event_id = $1",
				OrderBy: newestFirst,
			},
			{
				Name: "request_id", Rank: lookup.Exact, Values: lookup.Tokens, Where: "t.request_id = $1",
				OrderBy: newestFirst,
			},
			{
				Name: "payload", Rank: lookup.Whole, Values: lookup.GatewayIDs, Limit: mostOfObject,
				Where: "t.signature_valid AND payments.event_object(t.payload) = $1", OrderBy: newestFirst,
			},
			{
				Name: "payload", Rank: lookup.Whole, Values: lookup.GatewayIDs, Limit: mostOfObject,
				Where: "t.signature_valid AND payments.event_charge(t.payload) = $1", OrderBy: newestFirst,
			},
		},
	}
}

// newestFirst is no order that an index has. With one of that order Postgres, which takes an object to have many calls,
// reads the log from its end until it has found as many, and all of it where there are none.
const newestFirst = "t.received_at + interval '0' DESC, t.id DESC"
