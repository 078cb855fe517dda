-- balance history
with ends as materialized (select t, ord from unnest((select $1::bigint[])) with ordinality p(t, ord)),
stored as materialized (select account_id, consensus_timestamp, balance from account_balance where account_id in ($2, $3)
  and consensus_timestamp between (select min(t) from ends) - 5356800000000000 and (select max(t) from ends)),
found as materialized (select * from (
  select ord, t, max(snapshot) over w as at, max(held) over w as held,
    max(t) filter (where ord is not null) over (w rows between unbounded preceding and 1 preceding) as before from (
    select t, ord, null::bigint as snapshot, null::bigint as held from ends
    union all select consensus_timestamp, null, case account_id when $2 then consensus_timestamp end,
      case account_id when $3 then consensus_timestamp end from stored) e
  window w as (order by t, ord nulls first)) e where ord is not null)
select case when p.at is not null then coalesce(h.balance, 0) + coalesce(sum(m.amount) over w, 0)::bigint end,
  coalesce(sum(m.rows) over w, 0) > $4
from (select ord, t, before, held, case when at >= t - 5356800000000000 then at end as at from found) p
left join stored h on h.account_id = $3 and h.consensus_timestamp = p.held and p.held >=
  (extract(epoch from date_trunc('month', to_timestamp(p.at / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
left join lateral (
  select sum(amount) as amount, count(*) as rows from (
    select amount from crypto_transfer where entity_id = $3 and entity_id <> 98 and p.at is not null
      and consensus_timestamp > greatest(p.at, p.before) and consensus_timestamp <= p.t and errata is distinct from 'DELETE'
    limit $4 + 1) t) m on true
window w as (partition by p.at order by p.t)
order by p.ord;

-- balance history, distributed
with s as materialized (select consensus_timestamp as at from account_balance where account_id = $2
    and consensus_timestamp between $1::bigint - 5356800000000000 and $1::bigint order by consensus_timestamp desc limit 1),
h as materialized (select balance from account_balance where account_id = $3 and consensus_timestamp <= (select at from s) and consensus_timestamp >=
    (extract(epoch from date_trunc('month', to_timestamp((select at from s) / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
  order by consensus_timestamp desc limit 1),
m as materialized (select sum(amount) as amount, count(*) as rows from (
    select amount from crypto_transfer where entity_id = $3 and entity_id <> 98 and consensus_timestamp > (select at from s)
      and consensus_timestamp <= $1::bigint and errata is distinct from 'DELETE' limit $4 + 1) t)
select p.ord, case when s.at is not null then coalesce(h.balance, 0) + coalesce(m.amount, 0)::bigint end,
  coalesce(m.rows, 0) > $4
from (select $1::bigint as t, 1::bigint as ord) p left join s on true left join h on true left join m on true order by p.ord;

-- balances
with a as materialized (select id, ord from unnest((select $1::bigint[])) with ordinality a(id, ord)),
held as materialized (select a.ord, h.balance from a cross join lateral (
  select balance from account_balance where account_id = a.id and consensus_timestamp between $2 and $3
  order by consensus_timestamp desc limit 1) h),
moved as materialized (select entity_id, amount from crypto_transfer
  where entity_id = any($1) and entity_id <> 98 and consensus_timestamp > $3 and errata is distinct from 'DELETE' limit $4 + 1)
select coalesce(h.balance, 0) + coalesce(m.amount, 0)::bigint, (select count(*) from moved) > $4
from a left join held h on h.ord = a.ord
left join (select entity_id, sum(amount) as amount from moved group by entity_id) m on m.entity_id = a.id
order by a.ord;

-- balances of tokens
with a as materialized (
  select account, token, ord from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality a(account, token, ord)),
held as materialized (select a.ord, h.balance from a cross join lateral (
  select balance from token_balance where account_id = a.account and token_id = a.token and consensus_timestamp between $3 and $4
  order by consensus_timestamp desc limit 1) h),
moved as materialized (select account_id, token_id, amount from token_transfer
  where account_id = any((select array_agg(distinct account) from a)::bigint[]) and consensus_timestamp > $4 limit $5 + 1),
kinds as materialized (select token_id, type from token where token_id = any($2)),
owned as materialized (select account_id, token_id from nft
  where account_id = any((select array_agg(distinct account) from a)::bigint[]) and deleted is not true
    and token_id = any((select array_agg(distinct token) from a)::bigint[]) limit $6 + 1)
select case k.type when 'NON_FUNGIBLE_UNIQUE' then coalesce(n.serials, 0) else coalesce(h.balance, 0) + coalesce(t.amount, 0)::bigint end,
  case k.type when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from owned) > $6 else (select count(*) from moved) > $5 end
from a left join held h on h.ord = a.ord left join kinds k on k.token_id = a.token
left join (select account_id, token_id, sum(amount) as amount from moved group by account_id, token_id) t
  on t.account_id = a.account and t.token_id = a.token
left join (select account_id, token_id, count(*) as serials from owned group by account_id, token_id) n
  on n.account_id = a.account and n.token_id = a.token
order by a.ord;

-- balances of tokens, distributed
with a as materialized (
  select account, token, ord from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality a(account, token, ord)),
held as materialized (select a.ord, h.balance from a cross join lateral (
  select balance from token_balance where account_id = a.account and token_id = a.token and consensus_timestamp between $3 and $4
  order by consensus_timestamp desc limit 1) h),
moved as materialized (select account_id, token_id, amount from token_transfer
  where account_id = any((select array_agg(distinct account) from a)::bigint[]) and consensus_timestamp > $4 limit $5 + 1),
kinds as materialized (select token_id, type from token where token_id = any($2)),
owned as materialized (select account_id, token_id from nft
  where account_id = any((select array_agg(distinct account) from a)::bigint[]) and deleted is not true
    and token_id = any((select array_agg(distinct token) from a)::bigint[]) limit $6 + 1)
select case k.type when 'NON_FUNGIBLE_UNIQUE' then coalesce(n.serials, 0) else coalesce(h.balance, 0) + coalesce(t.amount, 0)::bigint end,
  case k.type when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from owned) > $6 else (select count(*) from moved) > $5 end
from a left join held h on h.ord = a.ord left join kinds k on k.token_id = a.token
left join (select account_id, token_id, sum(amount) as amount from moved group by account_id, token_id) t
  on t.account_id = a.account and t.token_id = a.token
left join (select account_id, token_id, count(*) as serials from owned group by account_id, token_id) n
  on n.account_id = a.account and n.token_id = a.token
order by a.ord;

-- balances, distributed
with a as materialized (select id, ord from unnest((select $1::bigint[])) with ordinality a(id, ord)),
held as materialized (select a.ord, h.balance from a cross join lateral (
  select balance from account_balance where account_id = a.id and consensus_timestamp between $2 and $3
  order by consensus_timestamp desc limit 1) h),
moved as materialized (select entity_id, amount from crypto_transfer
  where entity_id = any($1) and entity_id <> all (array[98, 800]) and consensus_timestamp > $3 and errata is distinct from 'DELETE' limit $4 + 1)
select coalesce(h.balance, 0) + coalesce(m.amount, 0)::bigint, (select count(*) from moved) > $4
from a left join held h on h.ord = a.ord
left join (select entity_id, sum(amount) as amount from moved group by entity_id) m on m.entity_id = a.id
order by a.ord;

-- hbars after transactions
select p.ord, case when s.at is not null and m.rows <= $4 then coalesce(h.balance, 0) + m.total end, m.amount,
  m.rows > $4
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(id, at, ord)
left join lateral (select consensus_timestamp as at from account_balance where account_id = $3
    and consensus_timestamp between p.at - 5356800000000000 and p.at order by consensus_timestamp desc limit 1) s on true
left join lateral (select balance from account_balance where account_id = p.id and consensus_timestamp <= s.at and consensus_timestamp >=
    (extract(epoch from date_trunc('month', to_timestamp(s.at / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
  order by consensus_timestamp desc limit 1) h on true
left join lateral (select coalesce(sum(amount) filter (where consensus_timestamp > s.at), 0)::bigint as total,
    coalesce(sum(amount) filter (where consensus_timestamp = p.at), 0)::bigint as amount, count(*) as rows from (
    (select consensus_timestamp, amount as amount from crypto_transfer where entity_id = p.id and entity_id not in (98) and errata is distinct from 'DELETE'
    and consensus_timestamp >= least(s.at + 1, p.at) and consensus_timestamp <= p.at order by consensus_timestamp desc limit $4 + 1)
    union all
    (select consensus_timestamp, case entity_id when p.id then amount else 0 end as amount from crypto_transfer where p.id in (98) and errata is distinct from 'DELETE'
    and consensus_timestamp >= least(s.at + 1, p.at) and consensus_timestamp <= p.at order by consensus_timestamp desc limit $4 + 1)) t) m on true order by p.ord;

-- hbars after transactions, distributed
with s as materialized (select consensus_timestamp as at from account_balance where account_id = $3
    and consensus_timestamp between $2::bigint - 5356800000000000 and $2::bigint order by consensus_timestamp desc limit 1),
h as materialized (select balance from account_balance where account_id = $1::bigint and consensus_timestamp <= (select at from s) and consensus_timestamp >=
    (extract(epoch from date_trunc('month', to_timestamp((select at from s) / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
  order by consensus_timestamp desc limit 1),
m as materialized (select coalesce(sum(amount) filter (where consensus_timestamp > (select at from s)), 0)::bigint as total,
    coalesce(sum(amount) filter (where consensus_timestamp = $2::bigint), 0)::bigint as amount, count(*) as rows from (
    (select consensus_timestamp, amount as amount from crypto_transfer where entity_id = $1::bigint and entity_id not in (98, 800) and errata is distinct from 'DELETE'
    and consensus_timestamp >= least((select at from s) + 1, $2::bigint) and consensus_timestamp <= $2::bigint order by consensus_timestamp desc limit $4 + 1)
    union all
    (select consensus_timestamp, case entity_id when $1::bigint then amount else 0 end as amount from crypto_transfer where $1::bigint in (98, 800) and errata is distinct from 'DELETE'
    and consensus_timestamp >= least((select at from s) + 1, $2::bigint) and consensus_timestamp <= $2::bigint order by consensus_timestamp desc limit $4 + 1)) t)
select p.ord, case when s.at is not null and m.rows <= $4 then coalesce(h.balance, 0) + m.total end, m.amount,
  m.rows > $4
from (select $1::bigint as id, $2::bigint as at, 1::bigint as ord) p left join s on true left join h on true left join m on true order by p.ord;

-- holders
with kind as materialized (select type, decimals from token where token_id = $1),
related as materialized (select account_id from token_account where token_id = $1 and associated limit $4 + 1),
held as materialized (select distinct on (account_id) account_id, balance from token_balance
  where token_id = $1 and consensus_timestamp between $2 and $3 order by account_id, consensus_timestamp desc),
passed as materialized (select 1 from token_transfer where consensus_timestamp > $3 limit $5 + 1),
moved as materialized (select account_id, sum(amount) as amount from token_transfer
  where token_id = $1 and consensus_timestamp > $3 and (select count(*) from passed) <= $5 group by account_id),
serials as materialized (select account_id from nft where token_id = $1 and deleted is not true limit $6 + 1),
owned as materialized (select account_id, count(*) as amount from serials group by account_id),
counted as materialized (select (select count(*) from related) > $4 as related,
  case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials) > $6 else (select count(*) from passed) > $5 end as rows)
, balances as materialized (select account_id, sum(amount)::bigint as balance from (
  select account_id, 0 as amount, true as related from related
  union all select account_id, balance, false from held where (select type from kind) is distinct from 'NON_FUNGIBLE_UNIQUE'
  union all select account_id, amount::bigint, false from moved
  union all select account_id, amount, false from owned) parts group by account_id having bool_or(related) and sum(amount) > 0),
page as materialized (select x.account_id, x.balance from balances x where true and (x.balance, x.account_id) < ($7, $8) order by x.balance asc, x.account_id asc limit 25)
select x.account_id, x.balance, (select decimals from kind), (select count(*) from balances), c.related, c.rows
from counted c left join page x on true order by x.balance asc, x.account_id asc;

-- holders, distributed
with kind as materialized (select type, decimals from token where token_id = $1),
related as materialized (select account_id from token_account where token_id = $1 and associated limit $4 + 1),
held as materialized (select distinct on (account_id) account_id, balance from token_balance
  where token_id = $1 and consensus_timestamp between $2 and $3 order by account_id, consensus_timestamp desc),
passed as materialized (select 1 from token_transfer where consensus_timestamp > $3 limit $5 + 1),
moved as materialized (select account_id, sum(amount) as amount from token_transfer
  where token_id = $1 and consensus_timestamp > $3 and (select count(*) from passed) <= $5 group by account_id),
serials as materialized (select account_id from nft where token_id = $1 and deleted is not true limit $6 + 1),
owned as materialized (select account_id, count(*) as amount from serials group by account_id),
counted as materialized (select (select count(*) from related) > $4 as related,
  case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials) > $6 else (select count(*) from passed) > $5 end as rows)
, balances as materialized (select account_id, sum(amount)::bigint as balance from (
  select account_id, 0 as amount, true as related from related
  union all select account_id, balance, false from held where (select type from kind) is distinct from 'NON_FUNGIBLE_UNIQUE'
  union all select account_id, amount::bigint, false from moved
  union all select account_id, amount, false from owned) parts group by account_id having bool_or(related) and sum(amount) > 0),
page as materialized (select x.account_id, x.balance from balances x where true and (x.balance, x.account_id) < ($7, $8) order by x.balance asc, x.account_id asc limit 25)
select x.account_id, x.balance, (select decimals from kind), (select count(*) from balances), c.related, c.rows
from counted c left join page x on true order by x.balance asc, x.account_id asc;

-- known stakes
select exists (select 1 from entity_stake where id = $1) or not exists (select 1 from network_stake);

-- known stakes, distributed
select exists (select 1 from entity_stake where id = $1) or not exists (select 1 from network_stake);

-- length of a history
select count(*) <= $1 from (select 1 from token_airdrop_history limit $1 + 1) h;

-- length of a history, distributed
select count(*) <= $1 from (select 1 from token_airdrop_history limit $1 + 1) h;

-- nearest snapshots
select min(consensus_timestamp) from account_balance where account_id = $1 and consensus_timestamp > $2;

-- nearest snapshots, distributed
select min(consensus_timestamp) from account_balance where account_id = $1 and consensus_timestamp > $2;

-- supplies
with kind as materialized (select type, decimals from token where token_id = $1),
related as materialized (select account_id from token_account where token_id = $1 and associated limit $4 + 1),
held as materialized (select distinct on (account_id) account_id, balance from token_balance
  where token_id = $1 and consensus_timestamp between $2 and $3 order by account_id, consensus_timestamp desc),
passed as materialized (select 1 from token_transfer where consensus_timestamp > $3 limit $5 + 1),
moved as materialized (select account_id, sum(amount) as amount from token_transfer
  where token_id = $1 and consensus_timestamp > $3 and (select count(*) from passed) <= $5 group by account_id),
serials as materialized (select account_id from nft where token_id = $1 and deleted is not true limit $6 + 1),
owned as materialized (select account_id, count(*) as amount from serials group by account_id),
counted as materialized (select (select count(*) from related) > $4 as related,
  case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials) > $6 else (select count(*) from passed) > $5 end as rows)
select case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials)
  else coalesce((select sum(balance) from held), 0)::bigint + coalesce((select sum(amount) from moved), 0)::bigint end, c.related or c.rows
from counted c;

-- supplies, distributed
with kind as materialized (select type, decimals from token where token_id = $1),
related as materialized (select account_id from token_account where token_id = $1 and associated limit $4 + 1),
held as materialized (select distinct on (account_id) account_id, balance from token_balance
  where token_id = $1 and consensus_timestamp between $2 and $3 order by account_id, consensus_timestamp desc),
passed as materialized (select 1 from token_transfer where consensus_timestamp > $3 limit $5 + 1),
moved as materialized (select account_id, sum(amount) as amount from token_transfer
  where token_id = $1 and consensus_timestamp > $3 and (select count(*) from passed) <= $5 group by account_id),
serials as materialized (select account_id from nft where token_id = $1 and deleted is not true limit $6 + 1),
owned as materialized (select account_id, count(*) as amount from serials group by account_id),
counted as materialized (select (select count(*) from related) > $4 as related,
  case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials) > $6 else (select count(*) from passed) > $5 end as rows)
select case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials)
  else coalesce((select sum(balance) from held), 0)::bigint + coalesce((select sum(amount) from moved), 0)::bigint end, c.related or c.rows
from counted c;

-- tokens after transactions
select p.ord, case when k.type = 'NON_FUNGIBLE_UNIQUE' and n.rows <= $5 then n.rows
  when k.type <> 'NON_FUNGIBLE_UNIQUE' and s.at is not null and m.rows <= $5 then coalesce(h.balance, 0) + m.total end, m.amount,
  case when k.type = 'NON_FUNGIBLE_UNIQUE' then n.rows > $5 else m.rows > $5 end
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[])) with ordinality p(id, token, at, ord)
left join lateral (select type from token where token_id = p.token) k on true
left join lateral (select consensus_timestamp as at from account_balance where account_id = $4
    and consensus_timestamp between p.at - 5356800000000000 and p.at order by consensus_timestamp desc limit 1) s on true
left join lateral (select balance from token_balance where account_id = p.id and token_id = p.token and consensus_timestamp <= s.at and consensus_timestamp >=
    (extract(epoch from date_trunc('month', to_timestamp(s.at / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
  order by consensus_timestamp desc limit 1) h on true
left join lateral (select coalesce(sum(amount) filter (where consensus_timestamp > s.at), 0)::bigint as total,
    coalesce(sum(amount) filter (where consensus_timestamp = p.at), 0)::bigint as amount, count(*) as rows from (
    (select consensus_timestamp, case token_id when p.token then amount else 0 end as amount from token_transfer where account_id = p.id
    and consensus_timestamp >= least(s.at + 1, p.at) and consensus_timestamp <= p.at order by consensus_timestamp desc limit $5 + 1)) t) m on true
left join lateral (select count(*) as rows from (
    select 1 from nft where k.type = 'NON_FUNGIBLE_UNIQUE' and account_id = p.id and token_id = p.token and deleted is not true and lower(timestamp_range) <= p.at
    union all select 1 from nft_history where k.type = 'NON_FUNGIBLE_UNIQUE' and account_id = p.id and token_id = p.token and deleted is not true and timestamp_range @> p.at limit $5 + 1) n) n on true order by p.ord;

-- tokens after transactions, distributed
with k as materialized (select type from token where token_id = $2::bigint),
s as materialized (select consensus_timestamp as at from account_balance where account_id = $4
    and consensus_timestamp between $3::bigint - 5356800000000000 and $3::bigint order by consensus_timestamp desc limit 1),
h as materialized (select balance from token_balance where account_id = $1::bigint and token_id = $2::bigint and consensus_timestamp <= (select at from s) and consensus_timestamp >=
    (extract(epoch from date_trunc('month', to_timestamp((select at from s) / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
  order by consensus_timestamp desc limit 1),
m as materialized (select coalesce(sum(amount) filter (where consensus_timestamp > (select at from s)), 0)::bigint as total,
    coalesce(sum(amount) filter (where consensus_timestamp = $3::bigint), 0)::bigint as amount, count(*) as rows from (
    (select consensus_timestamp, case token_id when $2::bigint then amount else 0 end as amount from token_transfer where account_id = $1::bigint
    and consensus_timestamp >= least((select at from s) + 1, $3::bigint) and consensus_timestamp <= $3::bigint order by consensus_timestamp desc limit $5 + 1)) t),
n as materialized (select count(*) as rows from (
    select 1 from nft where (select type from k) = 'NON_FUNGIBLE_UNIQUE' and account_id = $1::bigint and token_id = $2::bigint and deleted is not true and lower(timestamp_range) <= $3::bigint
    union all select 1 from nft_history where (select type from k) = 'NON_FUNGIBLE_UNIQUE' and account_id = $1::bigint and token_id = $2::bigint and deleted is not true and timestamp_range @> $3::bigint limit $5 + 1) n)
select p.ord, case when k.type = 'NON_FUNGIBLE_UNIQUE' and n.rows <= $5 then n.rows
  when k.type <> 'NON_FUNGIBLE_UNIQUE' and s.at is not null and m.rows <= $5 then coalesce(h.balance, 0) + m.total end, m.amount,
  case when k.type = 'NON_FUNGIBLE_UNIQUE' then n.rows > $5 else m.rows > $5 end
from (select $1::bigint as id, $2::bigint as token, $3::bigint as at, 1::bigint as ord) p left join k on true left join s on true left join h on true left join m on true left join n on true order by p.ord;

