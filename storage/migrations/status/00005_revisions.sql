-- +goose Up
-- What each write did, so that who listens can go on where it stopped.

-- One row for each write to a page. Writes to a page wait for each other, so revisions become visible in their order.
create table status.revision (
    page_id   status.code     not null references status.page on delete cascade,
    revision  bigint          not null,
    at        timestamptz(3)  not null,
    primary key (page_id, revision)
);
create index revision__at on status.revision (page_id, at);

-- The revision of the page that wrote the row: of a change, and of what was said, the last time. A write says so itself, for all that it inserts.
-- Null in rows that are older than this column.
alter table status.component_change add column revision bigint null;
alter table status.component_change alter column revision set default nullif(current_setting('heliograph.status_revision', true), '')::bigint;
create index component_change__revision on status.component_change (revision) where revision is not null;

alter table status.incident_update add column revision bigint null;
alter table status.incident_update alter column revision set default nullif(current_setting('heliograph.status_revision', true), '')::bigint;
create index incident_update__revision on status.incident_update (revision) where revision is not null;
