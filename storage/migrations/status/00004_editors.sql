-- +goose Up
-- Tables for editors, probes and mirrored pages.

-- Templates of notices.
create table status.template (
    id       bigint                 generated always as identity,
    page_id  status.code            not null references status.page on delete cascade,
    name     text                   not null,
    kind     status.incident_kind   not null,
    state    status.incident_state  not null,
    title    text                   not null,
    body     text                   not null,
    primary key (id),
    unique (page_id, name)
);

-- Source URLs of mirrored pages.
create table status.sync_source (
    page_id        status.code  not null references status.page on delete cascade,
    base_url       text         not null,
    every_seconds  integer      not null default 60 check (every_seconds >= 15),
    etags          jsonb        not null default '{}',
    last_ok_at     timestamptz  null,
    last_error     text         null,
    failures       integer      not null default 0,
    primary key (page_id)
);

-- Probes that check components regularly.
create table status.probe (
    id             bigint                   generated always as identity,
    component_id   status.code              not null references status.component on delete cascade,
    kind           text                     not null check (kind in ('http', 'graphql', 'grpc', 'tcp', 'mirror_lag', 'heartbeat', 'node')),
    spec           jsonb                    not null,
    every_seconds  integer                  not null check (every_seconds >= 5),
    fail_after     integer                  not null default 3 check (fail_after > 0),
    pass_after     integer                  not null default 5 check (pass_after > 0),
    sets_status    status.component_status  not null default 'partial_outage',
    publish        text                     not null default 'draft' check (publish in ('component', 'draft', 'public')),
    enabled        boolean                  not null default true,
    primary key (id),
    unique (component_id, id)
);
alter table status.incident add foreign key (probe_id) references status.probe on delete set null;
create unique index incident__probe on status.incident (probe_id) where resolved_at is null and deleted_at is null;

create table status.probe_result (
    probe_id    bigint          not null references status.probe on delete cascade,
    at          timestamptz(3)  not null,
    ok          boolean         not null,
    latency_ms  integer         null,
    detail      text            null,
    primary key (probe_id, at)
);
create index probe_result__at on status.probe_result (at);

-- Subscribers to updates. Without components, the subscription is for the whole page.
create table status.subscriber (
    id             bigint       generated always as identity,
    page_id        status.code  not null references status.page on delete cascade,
    channel        text         not null check (channel in ('email', 'webhook')),
    target         text         not null,
    component_ids  text[]       not null default '{}',
    secret         bytea        null,
    confirmed_at   timestamptz  null,
    created_at     timestamptz  not null default now(),
    primary key (id),
    unique (page_id, channel, target)
);

create table status.outbox (
    id             bigint       generated always as identity,
    subscriber_id  bigint       not null references status.subscriber on delete cascade,
    update_id      status.code  null references status.incident_update on delete cascade,
    payload        jsonb        not null,
    attempts       integer      not null default 0,
    next_at        timestamptz  not null default now(),
    done_at        timestamptz  null,
    primary key (id)
);
create index outbox__due on status.outbox (next_at) where done_at is null;

-- API tokens with write access. Tokens are random, so an unsalted hash is sufficient. Without a page, the token is valid for all pages.
create table status.operator_token (
    id            bigint       generated always as identity,
    name          text         not null check (name <> ''),
    token_sha256  bytea        not null check (octet_length(token_sha256) = 32),
    role          text         not null check (role in ('viewer', 'reporter', 'operator', 'admin')),
    page_id       status.code  null references status.page on delete cascade,
    created_at    timestamptz  not null default now(),
    expires_at    timestamptz  null,
    last_used_at  timestamptz  null,
    primary key (id),
    unique (name),
    unique (token_sha256)
);

-- Audit log. Every write inserts a row in its transaction.
create table status.audit (
    id               bigint       generated always as identity,
    at               timestamptz  not null default now(),
    page_id          text         null, -- not deleted with the page
    actor            text         not null,
    action           text         not null,
    object_id        text         null,
    idempotency_key  text         null,
    before           jsonb        null,
    after            jsonb        null,
    primary key (id),
    unique (idempotency_key)
);
create index audit__object on status.audit (object_id, id);
