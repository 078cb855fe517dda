#!/usr/bin/env bash
# Measures the latency of the lists of the REST API on a database. Requests each list twenty times over loopback, without parameters and with common ones,
# for the busiest account, token, topic and contract in the database. Prints a table with the median and the maximum. Fails if a response is not a list or
# if a median misses the target.
#
#   HELIOGRAPH_DATABASE_URL=postgres://… scripts/measure-lists.sh [BINARY] [REGEXP]
#     BINARY   default: bin/heliograph, built by `make build`
#     REGEXP   measures matching requests only
#
# Requires psql, curl and python3. Open time ranges end at the current time; set HELIOGRAPH_FIXED_TIME to a time near the newest rows.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

target=10 # milliseconds
samples=20

binary=${1:-bin/heliograph}
only=${2:-}
[ -x "$binary" ] || { say "$binary does not exist: run make build."; exit 2; }
[ -n "${HELIOGRAPH_DATABASE_URL-}" ] || { say 'HELIOGRAPH_DATABASE_URL is not set. Set it to the database to measure.'; exit 2; }

tmp=$(mktemp -d)
pid=
cleanup() {
  [ -z "$pid" ] || { kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; }
  rm -rf "$tmp"
}
trap cleanup EXIT

# find_value NAME STATEMENT replaces <NAME> in the requests with the result of a statement.
find_value() {
  local value
  value=$(psql "$HELIOGRAPH_DATABASE_URL" -XAtqc "$2")
  printf 's|<%s>|%s|g\n' "$1" "${value:-0}" >>"$tmp/values.sed"
}
# busiest NAME TABLE COLUMN replaces <NAME> with the most frequent ID in a column.
busiest() { find_value "$1" "select $3 from $2 where $3 <> 0 group by 1 order by count(*) desc, 1 limit 1"; }
stamp() { echo "$1 / 1000000000 || '.' || lpad(($1 % 1000000000)::text, 9, '0')"; }

busiest payer transaction payer_account_id
busiest staker staking_reward_transfer account_id
busiest holder token_account account_id
busiest owner nft account_id
busiest nft nft token_id
busiest token token_account token_id
busiest granter crypto_allowance owner
busiest spender token_allowance owner
busiest collector nft_allowance owner
busiest sender token_airdrop sender_account_id
busiest receiver token_airdrop receiver_account_id
busiest hooked hook owner_id
busiest hook hook_storage owner_id
busiest topic topic_message topic_id
busiest called contract_result contract_id
busiest logger contract_log contract_id
busiest stateful contract_state contract_id
busiest creator schedule creator_account_id
busiest caller contract_result sender_id
find_value hookid "select hook_id from hook_storage where owner_id = (select owner_id from hook_storage group by 1 order by count(*) desc, 1 limit 1) group by 1 order by count(*) desc, 1 limit 1"
find_value serial "select serial_number from nft_history where token_id = (select token_id from nft group by 1 order by count(*) desc, 1 limit 1) group by 1 order by count(*) desc, 1 limit 1"
find_value key "select public_key from entity where public_key is not null group by 1 order by count(*) desc, 1 limit 1"
find_value name "select substr(name, 1, 5) from token order by token_id limit 1"
find_value middle "select $(stamp consensus_timestamp) from transaction order by consensus_timestamp offset (select count(*) / 2 from transaction) limit 1"
find_value message "select $(stamp consensus_timestamp) from topic_message where topic_id = (select topic_id from topic_message group by 1 order by count(*) desc, 1 limit 1) order by consensus_timestamp offset (select max(sequence_number) / 2 from topic_message where topic_id = (select topic_id from topic_message group by 1 order by count(*) desc, 1 limit 1)) limit 1"
find_value snapshot "select $(stamp 'max(consensus_timestamp)') from account_balance where account_id = (select min(account_id) from account_balance)"
find_value block "select index from record_file order by index desc offset 1000 limit 1"
find_value logged "select $(stamp consensus_timestamp) from contract_log order by consensus_timestamp offset (select count(*) / 2 from contract_log) limit 1"
find_value until "select $(stamp '(consensus_timestamp + 86400000000000)') from contract_log order by consensus_timestamp offset (select count(*) / 2 from contract_log) limit 1"
find_value topic0 "select encode(topic0, 'hex') from contract_log where topic0 is not null order by consensus_timestamp offset (select count(*) / 2 from contract_log) limit 1"
find_value hash "select '0x' || encode(hash, 'hex') from contract_transaction_hash where consensus_timestamp = (select consensus_timestamp from contract_action group by 1 order by count(*) desc limit 1) limit 1"
find_value changed "select $(stamp consensus_timestamp) from contract_state_change where contract_id = (select contract_id from contract_state group by 1 order by count(*) desc, 1 limit 1) order by consensus_timestamp desc limit 1"

# Requests, one per line.
cat >"$tmp/requests" <<'REQUESTS'
/accounts
/accounts?limit=100
/accounts?order=desc
/accounts?account.id=gt:<payer>
/accounts?account.id=<payer>
/accounts?account.balance=gt:1000000
/accounts?account.publickey=<key>
/accounts?balance=false
/accounts/<payer>
/accounts/<payer>?transactiontype=CRYPTOTRANSFER
/accounts/<payer>?timestamp=lt:<middle>
/accounts/<payer>?transactions=false
/accounts/<owner>/nfts
/accounts/<owner>/nfts?token.id=<nft>
/accounts/<owner>/nfts?token.id=gte:<nft>&serialnumber=gte:1
/accounts/<staker>/rewards
/accounts/<holder>/tokens
/accounts/<holder>/tokens?token.id=gt:<token>
/accounts/<granter>/allowances/crypto
/accounts/<spender>/allowances/tokens
/accounts/<collector>/allowances/nfts
/accounts/<sender>/airdrops/outstanding
/accounts/<receiver>/airdrops/pending
/accounts/<hooked>/hooks
/accounts/<hook>/hooks/<hookid>/storage
/balances
/balances?limit=100
/balances?account.id=<payer>
/balances?account.balance=gt:1000000
/balances?timestamp=<snapshot>
/balances?timestamp=<snapshot>&account.id=<payer>
/tokens
/tokens?type=NON_FUNGIBLE_UNIQUE
/tokens?account.id=<holder>
/tokens?name=<name>
/tokens?publickey=<key>
/tokens?token.id=gt:<token>
/tokens/<token>/balances
/tokens/<token>/balances?order=asc
/tokens/<token>/balances?account.balance=gt:0
/tokens/<token>/balances?account.id=<payer>
/tokens/<token>/balances?timestamp=<snapshot>
/tokens/<nft>/nfts
/tokens/<nft>/nfts?account.id=<owner>
/tokens/<nft>/nfts?serialnumber=gt:1&order=asc
/tokens/<nft>/nfts/<serial>/transactions
/transactions
/transactions?limit=100
/transactions?order=asc
/transactions?timestamp=lt:<middle>
/transactions?timestamp=gte:<middle>&order=asc
/transactions?account.id=<payer>
/transactions?account.id=<payer>&timestamp=lt:<middle>
/transactions?account.id=<payer>&type=credit
/transactions?account.id=<payer>&type=debit
/transactions?account.id=<payer>&result=fail
/transactions?account.id=<payer>&transactiontype=CRYPTOTRANSFER
/transactions?type=credit
/transactions?transactiontype=CRYPTOTRANSFER
/transactions?transactiontype=TOKENMINT
/transactions?result=fail
/transactions?result=success
/blocks
/blocks?limit=100
/blocks?block.number=lt:<block>
/blocks?timestamp=gte:<middle>&order=asc
/contracts
/contracts?contract.id=gt:<called>&order=asc
/contracts/<called>/results
/contracts/<called>/results?timestamp=lt:<middle>
/contracts/<called>/results?from=<caller>
/contracts/<called>/results?internal=true
/contracts/<stateful>/state
/contracts/<stateful>/state?slot=gte:0x05
/contracts/<stateful>/state?timestamp=<changed>
/contracts/<logger>/results/logs
/contracts/<logger>/results/logs?timestamp=lt:<middle>
/contracts/<logger>/results/logs?timestamp=gte:<logged>&timestamp=lt:<until>&topic0=<topic0>
/contracts/results
/contracts/results?limit=100
/contracts/results?from=<caller>
/contracts/results?timestamp=lt:<middle>
/contracts/results?block.number=<block>
/contracts/results?internal=true
/contracts/results?hbar=false
/contracts/results/<hash>/actions
/contracts/results/logs
/contracts/results/logs?timestamp=lt:<middle>
/contracts/results/logs?timestamp=gte:<logged>&timestamp=lt:<until>&topic0=<topic0>
/contracts/results/logs?transaction.hash=<hash>
/schedules
/schedules?account.id=<creator>
/schedules?schedule.id=gt:<creator>&order=desc
/topics/<topic>/messages
/topics/<topic>/messages?order=desc
/topics/<topic>/messages?limit=100
/topics/<topic>/messages?sequencenumber=gt:1000
/topics/<topic>/messages?timestamp=gt:<message>
/topics/<topic>/messages?encoding=utf-8
/network/nodes
/network/registered-nodes
REQUESTS

"$binary" serve --listen 127.0.0.1:0 --admin-listen '' --log-level error >"$tmp/out" 2>"$tmp/log" &
pid=$!
base=
until [ -n "$base" ] && curl -fs -o /dev/null "$base/api/v1/blocks?limit=1"; do
  kill -0 "$pid" 2>/dev/null || { say 'The gateway terminated. Its log:'; tail -n 5 "$tmp/log" >&2; exit 1; }
  base=$(sed -n 's|^ *GraphQL *\(http://.*\)/graphql$|\1|p' "$tmp/out")
  sleep 0.05
done

failed=0
slow=0
printf '| request | rows | median ms | maximum ms |\n|---|--:|--:|--:|\n'
while IFS= read -r request; do
  case $request in *$only*) ;; *) [[ $request =~ $only ]] || continue ;; esac
  path=$(printf '%s' "$request" | sed -f "$tmp/values.sed")
  code=$(curl -s -o "$tmp/answer" -w '%{http_code}' "$base/api/v1$path")
  if [ "$code" != 200 ] && [ "$code" != 206 ]; then
    say "$path: status $code: $(head -c 300 "$tmp/answer")"
    failed=1
    continue
  fi
  # The number of rows is the length of the last list in the body.
  rows=$(python3 -c 'import json, sys
body = json.load(open(sys.argv[1]))
lists = [v for v in body.values() if isinstance(v, list)]
print(len(lists[-1]) if lists else 0)' "$tmp/answer" 2>/dev/null || echo '?')
  : >"$tmp/config"
  for _ in $(seq "$samples"); do
    printf 'url = "%s/api/v1%s"\noutput = "/dev/null"\nwrite-out = "%%{time_total}\\n"\n' "$base" "$path" >>"$tmp/config"
  done
  curl -sgK "$tmp/config" | sort -n >"$tmp/times"
  read -r median slowest <<<"$(awk '{ t[NR] = $1 * 1000 } END { printf "%.1f %.1f", (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2, t[NR] }' "$tmp/times")"
  printf "| \`%s\` | %s | %s | %s |\n" "$request" "$rows" "$median" "$slowest"
  if awk "BEGIN { exit !($median >= $target) }"; then slow=$((slow + 1)); fi
done <"$tmp/requests"
say "$slow medians are not below $target ms."
[ "$failed" = 0 ] && [ "$slow" = 0 ]
