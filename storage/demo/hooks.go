package demo

import "github.com/ethereum/go-ethereum/common"

func word(v int64) []byte { return common.LeftPadBytes(number(v), 32) }

// addHook gives an account a hook, which all are of the toll gate, by an update of the account.
func (w *world) addHook(owner, id int64, admin string) {
	t := w.tx(typeCryptoUpdate, owner)
	t.entity = owner
	w.hooks.put(key(owner, "/", id), t.ts, row{
		"contract_id": int64(Tollgate), "created_timestamp": t.ts, "hook_id": id, "owner_id": owner, "extension_point": "ACCOUNT_ALLOWANCE_HOOK",
		"deleted": false, "admin_key": edKeyOrNil(admin), "type": "EVM",
	})
	w.changeEntity(owner, t.ts, row{})
	w.commit(t)
}

func (w *world) removeHook(owner, id int64) {
	t := w.tx(typeCryptoUpdate, owner)
	t.entity = owner
	w.hooks.change(key(owner, "/", id), t.ts, row{"deleted": true})
	w.changeEntity(owner, t.ts, row{})
	w.commit(t)
}

// slot is one entry of a hook's storage; a nil value removes it.
type slot struct {
	key   []byte
	value []byte
}

// storeHook writes to the storage of a hook.
func (w *world) storeHook(owner, id int64, slots ...slot) {
	t := w.tx(typeHookStore, owner)
	t.entity = owner
	for _, s := range slots {
		k := key(owner, "/", id, "/", string(s.key))
		r := w.hookSlots[k]
		before := []byte{}
		if r == nil {
			r = row{"created_timestamp": t.ts, "hook_id": id, "owner_id": owner, "key": s.key}
			w.hookSlots[k] = r
			w.out.add("hook_storage", r)
		} else {
			before = r["value"].([]byte)
		}
		value := s.value
		if value == nil {
			value = []byte{}
		}
		r["modified_timestamp"], r["value"], r["deleted"] = t.ts, value, s.value == nil
		w.out.add("hook_storage_change", row{
			"consensus_timestamp": t.ts, "hook_id": id, "owner_id": owner, "key": s.key, "value_read": before, "value_written": value, "deleted": s.value == nil,
		})
	}
	w.commit(t)
}
