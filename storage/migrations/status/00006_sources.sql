-- +goose Up
-- Next time to read a mirrored page. The gateway that takes the turn advances it, so that only one of several gateways reads.
alter table status.sync_source add column next_at timestamptz not null default '-infinity';
create index sync_source__url on status.sync_source (base_url);
