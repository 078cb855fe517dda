-- +goose Up
-- Status pages and shared types. The schema is created before the first file is run.

-- The order of the values matters: max() returns the worst status.
create type status.component_status as enum
    ('operational', 'under_maintenance', 'degraded_performance', 'partial_outage', 'major_outage');
create type status.impact as enum ('none', 'maintenance', 'minor', 'major', 'critical');
create type status.incident_kind as enum ('realtime', 'scheduled');
create type status.incident_state as enum
    ('investigating', 'identified', 'monitoring', 'resolved', 'postmortem',
     'scheduled', 'in_progress', 'verifying', 'completed');
create type status.origin as enum ('operator', 'schedule', 'reminder', 'probe', 'sync');

-- Identifiers in documents and URLs. Lists are ordered by them, so they are always compared bytewise.
create domain status.code as text collate "C" check (value ~ '^[0-9A-Za-z_-]{1,64}$');

-- Pages. Every write increments the revision, by which readers detect outdated documents.
create table status.page (
    id            status.code     not null,
    slug          text            not null check (slug ~ '^[a-z0-9-]{1,63}$'),
    name          text            not null check (name <> ''),
    url           text            not null check (url ~ '^https?://[^/]+'),
    hosts         text[]          not null default '{}', -- further hosts, in lower case
    is_default    boolean         not null default false, -- shown for hosts without a page
    time_zone     text            not null default 'Etc/UTC' check (time_zone <> ''),
    locale        text            not null default 'en' check (locale <> ''),
    vocabulary    text            not null default 'documented' check (vocabulary in ('documented', 'statuspage')),
    mode          text            not null default 'own' check (mode in ('own', 'import', 'mirror')),
    auto_publish  boolean         not null default false, -- publish findings of probes without an editor
    texts         jsonb           not null default '{}' check (jsonb_typeof(texts) = 'object'), -- locale → event → text
    revision      bigint          not null default 0,
    created_at    timestamptz(3)  not null default now(),
    updated_at    timestamptz(3)  not null default now(),
    primary key (id),
    unique (slug)
);
create unique index page__default on status.page (is_default) where is_default;
