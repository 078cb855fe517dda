package v1

import (
	"slices"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// hookEndpoints returns the descriptions of the endpoints of hooks and of their storage.
func hookEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/accounts/{ownerId}/hooks", Family: rest.Modern, PathParams: hookOwner, Params: hooksParams,
			Document: "hooks.graphql",
			Desc:     true, Next: []rest.Cursor{rest.NumberCursor("hook.id")},
			NotFound: missingOwner,
			MaxAge:   shortAge,
		},
		{
			Path: "/accounts/{ownerId}/hooks/{hookId}/storage", Family: rest.Modern, Params: hookStorageParams,
			Document: "hook_storage.graphql",
			PathParams: append(hookOwner[:1:1], rest.Param{
				Name: "hookId", Kind: rest.Int64,
				Check: rest.AtLeast("hookId", 0), Bind: rest.Texts("hookId"),
			}),
			Finish: finishHookStorage, Next: []rest.Cursor{byHookSlot},
			NotFound: missingOwner, MaxAge: shortAge,
		},
	}
}

var hookOwner = []rest.Param{{Name: "ownerId", Kind: rest.PathAccount, Bind: rest.Texts("owner")}}

// maxHookValues is the maximum number of hooks or keys per request.
const maxHookValues = 100

var hooksParams = []rest.Param{
	{
		Name: "hook.id", Kind: rest.ModernLong, MaxValues: maxHookValues, ListName: "hookId",
		Bind: rest.Numbers("filter.hookId"), Doc: "Filters by hook ID.",
	},
	rest.Limit(),
	rest.ModernOrder(),
}

var hookStorageParams = []rest.Param{
	{Name: "key", Kind: rest.Slot, MaxValues: maxHookValues, ListName: "keys", Doc: "Filters by storage slot."},
	{
		Name: "timestamp", Kind: rest.ModernTimestamp, MaxValues: maxBounds, ListName: "timestamps",
		Bind: rest.Windows("at"),
		Doc:  "Returns the storage at this time instead of the current storage.",
	},
	rest.Limit(),
	rest.ModernOrder(),
}

// byHookSlot is a key of 32 bytes. A bound after the last key would wrap around to the first, so the last key has no
// next link.
var byHookSlot = rest.Cursor{
	Param: "key",
	Print: func(dst []byte, v any) []byte { return ledger.AppendHex(dst, v.([]byte)) },
	Final: func(v any, desc bool) bool {
		text := string(ledger.AppendHex(nil, v.([]byte)))
		return text == lowestSlot && desc || text == highestSlot && !desc
	},
}

// finishHookStorage sets the filter of keys of GET /accounts/{ownerId}/hooks/{hookId}/storage from all conditions on
// them. Keys with eq must be within the bounds. For historical storage, all of them are returned if one of them is. If
// none is, the filter matches no row. A lt of the first key and a gt of the last one wrap around and restrict nothing.
// It never fails. Without conditions it sets nothing.
func finishHookStorage(r *rest.Request) error {
	lower, upper := lowestSlot, highestSlot
	var named, within []any
	values := r.Values("key")
	for _, v := range values {
		switch v.Op {
		case rest.Gt:
			lower = max(lower, nextSlot(v.Text, 1))
		case rest.Gte:
			lower = max(lower, v.Text)
		case rest.Lt:
			upper = min(upper, nextSlot(v.Text, -1))
		case rest.Lte:
			upper = min(upper, v.Text)
		case rest.Eq:
			if !slices.Contains(named, any(v.Text)) {
				named = append(named, v.Text)
			}
		case rest.Ne: // Convert rejects it
		}
	}
	if named == nil {
		if len(values) > 0 {
			r.Set("filter.key", map[string]any{"gte": lower, "lte": upper})
		}
		return nil
	}
	within = []any{}
	for _, key := range named {
		if text, ok := key.(string); ok && text >= lower && text <= upper {
			within = append(within, key)
		}
	}
	if len(within) > 0 && len(r.Values("timestamp")) > 0 {
		within = named
	}
	r.Set("filter.key", map[string]any{"in": within})
	return nil
}

// The first and the last slot. All slots have the same number of digits, so text order is numeric order.
var lowestSlot, highestSlot = "0x" + strings.Repeat("0", slotDigits), "0x" + strings.Repeat("f", slotDigits)

const slotDigits = 64

// nextSlot returns the slot that is by, 1 or -1, after another, as lower-case hex with "0x", which slot must be too.
// It wraps around.
func nextSlot(slot string, by int) string {
	const digits = "0123456789abcdef"
	b := []byte(slot)
	for i := len(b) - 1; i >= len("0x"); i-- {
		d := strings.IndexByte(digits, b[i]) + by
		b[i] = digits[(d+len(digits))%len(digits)]
		if d >= 0 && d < len(digits) {
			break
		}
	}
	return string(b)
}
