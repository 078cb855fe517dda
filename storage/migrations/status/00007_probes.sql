-- +goose Up
-- What probes have found so far, and what they have done about it. Good is better than slow, and slow than bad.
create domain status.level as text not null default 'good' check (value in ('good', 'slow', 'bad'));

alter table status.probe
    add column level        status.level,                                                          -- what its results say, once enough of them agree
    add column streak       integer                  not null default 0 check (streak >= 0),       -- results in a row that say otherwise
    add column toward       status.level,                                                          -- what they agree on
    add column acted        status.level,                                                          -- the level that the page was told
    add column incident_id  status.code              null references status.incident on delete set null, -- the last incident that it opened or joined
    add column set_status   status.component_status  null,                                         -- what it said of its component, where it says so itself
    add column next_at      timestamptz              not null default '-infinity',
    add column beat_at      timestamptz              null,                                         -- of heartbeats: the last one
    alter column publish set default 'public';

-- The version that probes have left an incident at: another one tells that people have taken it over.
alter table status.incident add column probe_version bigint null;

alter table status.probe_result add column level text null check (level in ('good', 'slow', 'bad'));
