-- +goose Up
-- Contents of each write, so that subscribers can resume.

-- One row per write to a page. Writes to a page are serialized, so revisions become visible in order.
create table status.revision (
    page_id   status.code     not null references status.page on delete cascade,
    revision  bigint          not null,
    at        timestamptz(3)  not null,
    primary key (page_id, revision)
);
create index revision__at on status.revision (page_id, at);

-- Revision of the page that wrote the row: for changes the inserting write, for updates the last one. Each write sets it for all its rows. Null in rows that
-- are older than this column.
alter table status.component_change add column revision bigint null;
alter table status.component_change alter column revision set default nullif(current_setting('heliograph.status_revision', true), '')::bigint;
create index component_change__revision on status.component_change (revision) where revision is not null;

alter table status.incident_update add column revision bigint null;
alter table status.incident_update alter column revision set default nullif(current_setting('heliograph.status_revision', true), '')::bigint;
create index incident_update__revision on status.incident_update (revision) where revision is not null;
