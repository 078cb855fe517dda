-- +goose Up
-- Hash of the content of a write with an idempotency key: the key cannot be used for other content.
alter table status.audit add column idempotency_content bytea null;
