-- +goose Up
-- Webhooks: URLs to which the updates of a page are sent. They replace the subscribers, which nothing used.
drop table status.outbox;
drop table status.subscriber;

create table status.webhook (
    id           status.code     not null,
    page_id      status.code     not null references status.page on delete cascade,
    url          text            not null check (url ~ '^https?://'),
    components   text[]          not null default '{}', -- without components, the webhook is for the whole page
    secret       bytea           not null,
    old_secret   bytea           null, -- messages are also signed with it until old_until
    old_until    timestamptz     null,
    created_at   timestamptz(3)  not null,
    next_at      timestamptz     not null default '-infinity', -- of the next attempt; the gateway that sends advances it
    failures     integer         not null default 0, -- since the last success
    last_error   text            null,
    disabled_at  timestamptz     null,
    primary key (id),
    unique (page_id, url)
);
create index webhook__next on status.webhook (next_at, id) where disabled_at is null;

-- Messages. The ID is that of the header.
create table status.message (
    id          status.code  not null,
    page_id     status.code  not null references status.page on delete cascade,
    created_at  timestamptz  not null,
    body        text         not null,
    primary key (id)
);

-- Messages to send. Each webhook gets its messages in order. Rows are deleted when they have been sent.
create table status.outbox (
    id          bigint       generated always as identity,
    webhook_id  status.code  not null references status.webhook on delete cascade,
    message_id  status.code  not null references status.message on delete cascade,
    primary key (id)
);
create index outbox__webhook on status.outbox (webhook_id, id);
create index outbox__message on status.outbox (message_id);
