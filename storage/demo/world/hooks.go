package world

import (
	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// Word returns a number as a 32-byte word.
func Word(v int64) []byte { return common.LeftPadBytes(number(v), 32) }

// AddHook adds a hook to an account with an account update. All hooks use the same contract.
func (w *World) AddHook(owner, id int64, admin string) {
	t := w.tx(codes.TypeCryptoUpdate, owner, owner)
	w.hooks.put(key(owner, "/", id), t.ts, Row{
		"contract_id": int64(demo.Tollgate), "created_timestamp": t.ts, "hook_id": id, "owner_id": owner, "extension_point": "ACCOUNT_ALLOWANCE_HOOK",
		"deleted": false, "admin_key": nullableKey(admin), "type": "EVM",
	})
	w.changeEntity(owner, t.ts, Row{})
	w.commit(t)
}

// RemoveHook deletes a hook with an account update.
func (w *World) RemoveHook(owner, id int64) {
	t := w.tx(codes.TypeCryptoUpdate, owner, owner)
	w.hooks.change(key(owner, "/", id), t.ts, Row{"deleted": true})
	w.changeEntity(owner, t.ts, Row{})
	w.commit(t)
}

// HookSlot is a storage slot of a hook. A nil value removes it.
type HookSlot struct {
	Key   []byte
	Value []byte
}

// StoreHook writes storage slots of a hook.
func (w *World) StoreHook(owner, id int64, slots ...HookSlot) {
	t := w.tx(codes.TypeHookStore, owner, owner)
	for _, s := range slots {
		k := key(owner, "/", id, "/", string(s.Key))
		r := w.hookSlots[k]
		before := []byte{}
		if r == nil {
			r = Row{"created_timestamp": t.ts, "hook_id": id, "owner_id": owner, "key": s.Key}
			w.hookSlots[k] = r
			w.rows.add("hook_storage", r)
		} else {
			before = r["value"].([]byte)
		}
		value := s.Value
		if value == nil {
			value = []byte{}
		}
		r["modified_timestamp"], r["value"], r["deleted"] = t.ts, value, s.Value == nil
		w.rows.add("hook_storage_change", Row{
			"consensus_timestamp": t.ts, "hook_id": id, "owner_id": owner, "key": s.Key, "value_read": before, "value_written": value, "deleted": s.Value == nil,
		})
	}
	w.commit(t)
}
