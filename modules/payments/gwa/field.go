package gwa

import (
	"encoding/json"
	"time"
	_ "time/tzdata" // the gateway's zone has to be known on machines without zone files

	"marquee/platform/objectid"
)

// The gateway's forms of days and times (docs/gateway-facts.md, A10), day first with slashes.
var dateForms = []string{time.DateOnly, time.DateTime, "02/01/2006", "02/01/2006 15:04:05"}

// saoPaulo is the zone in which the gateway keeps its days.
func saoPaulo() *time.Location {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		return time.FixedZone("-03", -3*60*60) // never: tzdata is linked in
	}
	return zone
}

// parseDate reads any of the four forms; the result is UTC, of a bare day its
// 00:00 in the zone. Ok is false for anything else.
func parseDate(s string, zone *time.Location) (t time.Time, ok bool) {
	for _, form := range dateForms {
		if t, err := time.ParseInLocation(form, s, zone); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// date is a day or time as the gateway writes it. Anything that is no text is no
// date: a form that nobody knows must not fail an answer or an event.
type date string

// UnmarshalJSON never fails.
func (d *date) UnmarshalJSON(raw []byte) error {
	var s string
	_ = json.Unmarshal(raw, &s)
	*d = date(s)
	return nil
}

// in returns the instant, nil when there is none.
func (d date) in(zone *time.Location) *time.Time {
	t, ok := parseDate(string(d), zone)
	if !ok {
		return nil
	}
	return &t
}

func firstDate(zone *time.Location, dates ...date) *time.Time {
	for _, d := range dates {
		if t := d.in(zone); t != nil {
			return t
		}
	}
	return nil
}

// dueDay writes the day on which a charge falls due: that of the terms, in their
// zone, but none that is over where the gateway is, which it refuses.
func (g *client) dueDay(t time.Time) string {
	return max(day(t, g.cfg.Days), day(g.cfg.Clock.Now(), g.cfg.Zone))
}

// day writes the day of an instant in the zone.
func day(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateOnly) }

// ref is an id, or an object with an id.
type ref string

// UnmarshalJSON takes anything else as no reference.
func (r *ref) UnmarshalJSON(raw []byte) error {
	*r = ""
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*r = ref(s)
		return nil
	}
	var o struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &o) == nil {
		*r = ref(o.ID)
	}
	return nil
}

// reference is the local id that was told, "" when it is none of ours.
func reference(external *string) objectid.ID {
	if external == nil {
		return ""
	}
	id, err := objectid.Parse(*external)
	if err != nil {
		return ""
	}
	return id
}

func idOf(raw json.RawMessage) ref {
	var id ref
	if len(raw) > 0 {
		_ = id.UnmarshalJSON(raw)
	}
	return id
}

func firstID(ids ...ref) string {
	for _, id := range ids {
		if id != "" {
			return string(id)
		}
	}
	return ""
}
