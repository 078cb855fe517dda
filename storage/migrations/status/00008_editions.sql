-- +goose Up
-- The documents of past revisions, as they were served: names and bodies as JSON, compressed.
create table status.edition (
    page_id   status.code  not null references status.page on delete cascade,
    revision  bigint       not null,
    made_at   timestamptz  not null,
    documents bytea        not null,
    primary key (page_id, revision)
);
