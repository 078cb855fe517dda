-- +goose Up
-- Documents of past revisions as served: names and bodies as compressed JSON.
create table status.edition (
    page_id   status.code  not null references status.page on delete cascade,
    revision  bigint       not null,
    made_at   timestamptz  not null,
    documents bytea        not null,
    primary key (page_id, revision)
);
