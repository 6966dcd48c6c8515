package gwa

import (
	"encoding/json"

	"marquee/platform/objectid"
)

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
