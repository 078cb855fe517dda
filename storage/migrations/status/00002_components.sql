-- +goose Up
-- Components and groups of components. A group has no status of its own; it is the worst of its components.
create table status.component (
    id                     status.code              not null,
    page_id                status.code              not null references status.page on delete cascade,
    is_group               boolean                  not null default false,
    group_id               status.code              null,
    parent_is_group        boolean                  generated always as (case when group_id is null then null else true end) stored,
    name                   text                     not null check (name <> ''),
    description            text                     null check (description <> ''),
    base_status            status.component_status  null, -- set by editors and probes; open notices can make the current status worse
    position               integer                  not null check (position >= 0),
    list_index             integer                  not null default 0, -- position in an imported list, if positions are equal
    showcase               boolean                  not null default false,
    only_show_if_degraded  boolean                  not null default false,
    start_date             date                     null,
    node_id                bigint                   null check (node_id >= 0), -- node in the ledger's address book
    origin                 status.origin            not null default 'operator',
    version                bigint                   not null default 1,
    created_at             timestamptz(3)           not null default now(),
    updated_at             timestamptz(3)           not null default now(),
    deleted_at             timestamptz(3)           null,
    primary key (id),
    unique (page_id, id),
    unique (page_id, id, is_group),
    foreign key (page_id, group_id, parent_is_group) references status.component (page_id, id, is_group),
    check (is_group = (base_status is null)),
    check (not is_group or (group_id is null and start_date is null and node_id is null
                            and not showcase and not only_show_if_degraded))
);
create index component__list on status.component (page_id, position, list_index, created_at, id) where deleted_at is null;
create index component__group on status.component (group_id) where group_id is not null;
create unique index component__node on status.component (page_id, node_id) where node_id is not null and deleted_at is null;
