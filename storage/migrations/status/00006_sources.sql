-- +goose Up
-- When pages elsewhere are read again. Who takes the turn moves the instant, so that of several gateways one reads.
alter table status.sync_source add column next_at timestamptz not null default '-infinity';
create index sync_source__url on status.sync_source (base_url);
