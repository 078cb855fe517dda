-- +goose Up
-- State of probes: results so far and actions taken. Levels from best to worst: good, slow, bad.
create domain status.level as text not null default 'good' check (value in ('good', 'slow', 'bad'));

alter table status.probe
    add column level        status.level,                                                          -- level after enough results agree
    add column streak       integer                  not null default 0 check (streak >= 0),       -- consecutive results that differ from level
    add column toward       status.level,                                                          -- level of these results
    add column acted        status.level,                                                          -- level that was last applied to the page
    add column incident_id  status.code              null references status.incident on delete set null, -- last incident that the probe opened or joined
    add column set_status   status.component_status  null,                                         -- status that the probe set directly on its component
    add column next_at      timestamptz              not null default '-infinity',
    add column beat_at      timestamptz              null,                                         -- last heartbeat
    alter column publish set default 'public';

-- Version of the incident after the last write by a probe. A different version means that people have edited the incident.
alter table status.incident add column probe_version bigint null;

alter table status.probe_result add column level text null check (level in ('good', 'slow', 'bad'));
