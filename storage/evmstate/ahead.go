package evmstate

import (
	"regexp"
	"strings"
)

var table = regexp.MustCompile(`\b(?:from|join) ([a-z_]+)\b`)

// keysOf contains columns of each distributed table, and the arguments with their values. A statement that has the argument only uses rows with these values.
var keysOf = map[string]string{
	"crypto_allowance": "owner=owners spender=spenders",
	"crypto_transfer":  "entity_id=owners payer_account_id=spenders",
	"custom_fee":       "entity_id=tokens",
	"entity":           "id=tokens id=accounts",
	"nft":              "token_id=tokens serial_number=serials account_id=accounts",
	"nft_allowance":    "owner=owners spender=spenders token_id=tokens",
	"token":            "token_id=tokens",
	"token_account":    "account_id=accounts token_id=tokens",
	"token_airdrop":    "sender_account_id=senders receiver_account_id=receivers token_id=tokens serial_number=serials",
	"token_allowance":  "owner=owners spender=spenders token_id=tokens",
	"token_transfer":   "account_id=owners account_id=accounts token_id=tokens payer_account_id=spenders",
}

// ahead returns the tables of a statement with the queries for [storage.DB.ReadAhead].
func ahead(sql string) (out [][2]string) {
	if strings.Contains(sql, newestShot) {
		out = append(out, [2]string{"shot", "select coalesce(max(at), 0) as at from " + newestShot})
	}
	shots, seen := len(out) > 0, map[string]bool{}
	for _, m := range table.FindAllStringSubmatch(sql, -1) {
		name := m[1]
		keys := keysOf[strings.TrimSuffix(name, "_history")]
		if keys == "" || seen[name] {
			continue
		}
		seen[name] = true
		columns, where, group := "*", []string{"true"}, ""
		for key := range strings.FieldsSeq(keys) {
			if column, arg, _ := strings.Cut(key, "="); strings.Contains(sql, "@"+arg) {
				where = append(where, column+" = any(@"+arg+"::bigint[])")
			}
		}
		switch {
		case name == "nft" && strings.Contains(sql, "max(serial_number)"):
			columns, group = "token_id, created_timestamp, max(serial_number) as serial_number", " group by token_id, created_timestamp"
		case strings.HasSuffix(name, "_transfer") && shots:
			columns, group = "account_id, token_id, @instant::bigint as consensus_timestamp, sum(amount)::bigint as amount", " group by account_id, token_id"
			where = append(where, "consensus_timestamp > (select at from shot_rows)", "consensus_timestamp <= @instant")
		case strings.HasSuffix(name, "_history"):
			where = append(where, "lower(timestamp_range) <= @instant")
		}
		out = append(out, [2]string{name, "select " + columns + " from " + name + " where " + strings.Join(where, " and ") + group})
	}
	return out
}
