-- +goose Up
-- The view and the functions for readers and writers of the ledger.

-- Monthly partitions with their bounds in nanoseconds; the upper bound is exclusive. Excludes default partitions, which have no bounds, and hash partitions.
create view mirror_node_time_partitions as
select child.relname  as name,
       parent.relname as parent,
       bound.limits[1]::bigint as from_timestamp,
       bound.limits[2]::bigint as to_timestamp
from pg_inherits
join pg_class child  on child.oid = inhrelid and child.relispartition
join pg_class parent on parent.oid = inhparent and parent.relkind = 'p'
cross join lateral regexp_match(pg_get_expr(child.relpartbound, child.oid),
                                '^FOR VALUES FROM \(''?(-?\d+)''?\) TO \(''?(-?\d+)''?\)$') as bound (limits)
where bound.limits is not null;

-- Returns the transactions whose hash starts with the given 32 bytes, or no rows if the argument has another length. The full hash is returned, so that the
-- caller can compare the rest. The first byte determines the partition, which is addressed by name: planning a query on the partitioned table would lock all
-- 32 partitions.
-- +goose StatementBegin
create function get_transaction_info_by_hash(bytea)
    returns table (consensus_timestamp bigint, hash bytea, payer_account_id bigint)
    language plpgsql
    stable
    strict
    parallel safe
    rows 1
as $$
begin
    if length($1) <> 32 then
        return;
    end if;
    -- Old rows have all 48 bytes in hash and no suffix, hence the comparison by prefix.
    return query execute format(
        'select t.consensus_timestamp, t.hash || coalesce(t.hash_suffix, ''''), t.payer_account_id '
        'from public.%I t '
        'where substring(t.hash from 1 for 32) = $1',
        'transaction_hash_' || lpad(mod(get_byte($1, 0), 32)::text, 2, '0'))
    using $1;
end
$$;
-- +goose StatementEnd

-- Creates the missing monthly partitions of a range-partitioned table, from September 2019 to next month. Rows of such a month move from the default
-- partition into the new one. The current time is the setting heliograph.now (a timestamp), or else the clock.
-- +goose StatementBegin
create procedure create_time_partition_for_table(regclass)
    language plpgsql
as $$
declare
    schema_name   name;
    parent_name   name;
    key           name;
    default_table regclass;
    month         record;
    partition     text;
    today         constant timestamptz := coalesce(nullif(current_setting('heliograph.now', true), '')::timestamptz,
                                                   now());
begin
    select nspname, relname, attname, nullif(partdefid, 0)::regclass
    into schema_name, parent_name, key, default_table
    from pg_partitioned_table
    join pg_class on pg_class.oid = partrelid
    join pg_namespace on pg_namespace.oid = relnamespace
    join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
    where partrelid = $1 and partstrat = 'r' and partnatts = 1;
    if key is null then
        raise exception '% is not partitioned by the range of one column', $1
            using errcode = 'wrong_object_type';
    end if;
    -- Conflicts with itself only: of two that run at once the second waits and then finds the partitions, while
    -- readers and writers of the table go on.
    execute format('lock table only %s in share update exclusive mode', $1);
    for month in
        with taken as materialized (
            select from_timestamp, to_timestamp
            from pg_inherits
            join pg_class on pg_class.oid = inhrelid
            join mirror_node_time_partitions on name = relname and parent = parent_name
            where inhparent = $1
        ), due as (
            select to_char(start, 'YYYY_MM') as label,
                   extract(epoch from start)::bigint * 1000000000 as lower_bound,
                   extract(epoch from start + interval '1 month')::bigint * 1000000000 as upper_bound
            from generate_series(timestamp '2019-09-01',
                                 date_trunc('month', today at time zone 'UTC') + interval '1 month',
                                 interval '1 month') as start
        )
        select *
        from due
        where not exists (select from taken where from_timestamp < upper_bound and to_timestamp > lower_bound)
        order by lower_bound
    loop
        partition := format('%I.%I', schema_name, parent_name || '_p' || month.label);
        execute format('create table %s (like %s including all)', partition, $1);
        if default_table is not null then
            execute format('lock table %s in access exclusive mode', default_table);
            execute format('with moved as (delete from %s where %I >= %s and %I < %s returning *) '
                           'insert into %s select * from moved',
                           default_table, key, month.lower_bound, key, month.upper_bound, partition);
        end if;
        execute format('alter table %s attach partition %s for values from (%s) to (%s)',
                       $1, partition, month.lower_bound, month.upper_bound);
    end loop;
end
$$;
-- +goose StatementEnd

-- Creates the missing monthly partitions of all time-partitioned tables.
-- +goose StatementBegin
create procedure create_mirror_node_time_partitions()
    language plpgsql
as $$
begin
    call create_time_partition_for_table('public.account_balance');
    call create_time_partition_for_table('public.token_balance');
end
$$;
-- +goose StatementEnd

-- Copies all accounts of the former snapshot at the first timestamp into account_balance at the second timestamp. Returns the number of rows written.
-- +goose StatementBegin
create function create_full_account_balance_snapshot(bigint, bigint)
    returns integer
    language plpgsql
as $$
declare
    written integer;
begin
    insert into public.account_balance (consensus_timestamp, balance, account_id)
    select $2, balance, account_id
    from public.account_balance_old
    where consensus_timestamp = $1;
    get diagnostics written = row_count;
    return written;
end
$$;
-- +goose StatementEnd

-- Copies the changes between the former snapshot at the first timestamp and the one before it into account_balance at the second timestamp. Accounts that are
-- no longer in the snapshot get the balance 0. The treasury (account 2) is always written, because readers find a snapshot by its row. Returns the number of
-- rows written.
-- +goose StatementBegin
create function create_deduped_account_balance_snapshot(bigint, bigint)
    returns integer
    language plpgsql
as $$
declare
    previous constant bigint := (select max(consensus_timestamp)
                                 from public.account_balance_old
                                 where consensus_timestamp < $1);
    written integer;
begin
    insert into public.account_balance (consensus_timestamp, balance, account_id)
    select $2, coalesce(new.balance, 0), account_id
    from (select account_id, balance from public.account_balance_old where consensus_timestamp = $1) new
    full join (select account_id, balance from public.account_balance_old where consensus_timestamp = previous) old
        using (account_id)
    where old.balance is distinct from coalesce(new.balance, 0)
       or (new.balance is not null and account_id & 274877906943 = 2);
    get diagnostics written = row_count;
    return written;
end
$$;
-- +goose StatementEnd

-- Copies all relationships of the former snapshot at the first timestamp into token_balance at the second timestamp. Returns the number of rows written.
-- +goose StatementBegin
create function create_full_token_balance_snapshot(bigint, bigint)
    returns integer
    language plpgsql
as $$
declare
    written integer;
begin
    insert into public.token_balance (consensus_timestamp, account_id, balance, token_id)
    select $2, account_id, balance, token_id
    from public.token_balance_old
    where consensus_timestamp = $1;
    get diagnostics written = row_count;
    return written;
end
$$;
-- +goose StatementEnd

-- Copies the changes between the former snapshot at the first timestamp and the one before it into token_balance at the second timestamp. Relationships that
-- are no longer in the snapshot get the balance 0. Returns the number of rows written.
-- +goose StatementBegin
create function create_deduped_token_balance_snapshot(bigint, bigint)
    returns integer
    language plpgsql
as $$
declare
    previous constant bigint := (select max(consensus_timestamp)
                                 from public.token_balance_old
                                 where consensus_timestamp < $1);
    written integer;
begin
    insert into public.token_balance (consensus_timestamp, account_id, balance, token_id)
    select $2, account_id, coalesce(new.balance, 0), token_id
    from (select account_id, token_id, balance from public.token_balance_old where consensus_timestamp = $1) new
    full join (select account_id, token_id, balance
               from public.token_balance_old
               where consensus_timestamp = previous) old
        using (account_id, token_id)
    where old.balance is distinct from coalesce(new.balance, 0);
    get diagnostics written = row_count;
    return written;
end
$$;
-- +goose StatementEnd

-- Creates or replaces the empty staging table temporary.<table>_temp with the columns of public.<table>. The table is unlogged, because its rows need no
-- recovery. Columns are nullable, because an upsert need not set all of them. The columns given after the table become the primary key.
-- +goose StatementBegin
create procedure create_temp_table_safe(text, variadic text[])
    language plpgsql
as $$
declare
    staging constant text := format('temporary.%I', $1 || '_temp');
begin
    execute format('drop table if exists %s', staging);
    execute format('create unlogged table %s with (autovacuum_enabled = false) as table public.%I with no data',
                   staging, $1);
    if cardinality($2) > 0 then
        execute format('alter table %s add primary key (%s)', staging,
                       (select string_agg(quote_ident(key), ', ' order by ordinality)
                        from unnest($2) with ordinality as keys (key, ordinality)));
    end if;
end
$$;
-- +goose StatementEnd

-- Returns the entity type for a number of the former encoding. 0 and unknown numbers return UNKNOWN.
create function updateentitytypefromint(integer) returns entity_type
    language sql
    immutable
    parallel safe
as $$
    select coalesce((enum_range(null::public.entity_type))[$1 + 1], 'UNKNOWN')
$$;
