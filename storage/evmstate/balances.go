package evmstate

import "time"

// snapshotSpan is the maximum age of a usable balance snapshot.
const snapshotSpan = 31 * 24 * time.Hour

// evmBalanceThen is the balance of the entity v.id at $4, in tinybars. $5 is the treasury; $6 and $7 are one and two spans before $4. The treasury's row
// identifies the newest full snapshot.
const evmBalanceThen = `(select coalesce(own.balance, 0) + coalesce((select sum(amount)::bigint from crypto_transfer
      where entity_id = v.id and consensus_timestamp > coalesce(shot.at, 0) and consensus_timestamp <= $4 and errata is distinct from 'DELETE'), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $5 and consensus_timestamp > $6 and consensus_timestamp <= $4) shot
    left join lateral (select balance from account_balance where account_id = v.id and consensus_timestamp > greatest(shot.at - 2678400000000000, $7)
      and consensus_timestamp <= shot.at order by consensus_timestamp desc limit 1) own on true)`
