-- +goose Up
-- Notices: incidents (realtime) and maintenances (scheduled). They share one id space.
create table status.incident (
    id                      status.code            not null,
    seq                     bigint                 generated always as identity, -- identifies feed entries
    page_id                 status.code            not null references status.page on delete cascade,
    kind                    status.incident_kind   not null,
    name                    text                   not null check (name <> ''),
    state                   status.incident_state  not null,
    impact                  status.impact          not null default 'none', -- effective impact, including the override
    impact_override         status.impact          null,
    shortlink               text                   not null,
    started_at              timestamptz(3)         not null,
    created_at              timestamptz(3)         not null,
    updated_at              timestamptz(3)         not null,
    monitoring_at           timestamptz(3)         null,
    resolved_at             timestamptz(3)         null,
    reminder_intervals      text                   null,
    scheduled_for           timestamptz(3)         null,
    scheduled_until         timestamptz(3)         null,
    auto_in_progress        boolean                not null default false,
    auto_completed          boolean                not null default false,
    auto_maintenance_state  boolean                not null default false,
    auto_operational_state  boolean                not null default false,
    notify_at_start         boolean                not null default true,
    notify_at_end           boolean                not null default true,
    remind_minutes          integer                null check (remind_minutes > 0),
    reminded_at             timestamptz(3)         null,
    backfilled              boolean                not null default false,
    draft                   boolean                not null default false,
    origin                  status.origin          not null default 'operator',
    probe_id                bigint                 null,
    version                 bigint                 not null default 1,
    deleted_at              timestamptz(3)         null,
    primary key (id),
    unique (seq),
    unique (page_id, id),
    check (case kind
        when 'realtime' then state <= 'postmortem' and scheduled_for is null and scheduled_until is null
        when 'scheduled' then state >= 'scheduled' and scheduled_for is not null
                              and scheduled_until is not null and reminder_intervals is null end),
    check (scheduled_until > scheduled_for or origin = 'sync'),
    check ((state in ('resolved', 'postmortem', 'completed')) = (resolved_at is not null) or origin = 'sync')
);
create index incident__recent on status.incident (page_id, created_at desc, id desc)
    where kind = 'realtime' and deleted_at is null and not draft;
create index incident__open on status.incident (page_id, kind, state)
    where resolved_at is null and deleted_at is null and not draft;
create index maintenance__recent on status.incident (page_id, (coalesce(resolved_at, scheduled_for)) desc, id desc)
    where kind = 'scheduled' and deleted_at is null and not draft;
create index maintenance__start on status.incident (scheduled_for)
    where state = 'scheduled' and auto_in_progress and deleted_at is null;
create index maintenance__end on status.incident (scheduled_until)
    where state in ('in_progress', 'verifying') and auto_completed and deleted_at is null;

-- Components that were ever attached to a notice, with the status that the notice sets. Null after the notice has released the component.
create table status.incident_component (
    page_id       status.code              not null,
    incident_id   status.code              not null,
    component_id  status.code              not null,
    held_status   status.component_status  null,
    primary key (incident_id, component_id),
    foreign key (page_id, incident_id) references status.incident (page_id, id) on delete cascade,
    foreign key (page_id, component_id) references status.component (page_id, id) on delete cascade
);
create index incident_component__component on status.incident_component (component_id, incident_id);
create index incident_component__held on status.incident_component (component_id) where held_status is not null;

-- Updates of notices.
create table status.incident_update (
    id                     status.code            not null,
    incident_id            status.code            not null references status.incident on delete cascade,
    state                  status.incident_state  not null,
    body                   text                   not null,
    created_at             timestamptz(3)         not null,
    updated_at             timestamptz(3)         not null,
    display_at             timestamptz(3)         null, -- null for postmortems only
    deliver_notifications  boolean                not null default true,
    custom_tweet           text                   null,
    tweet_id               text                   null,
    empty_affected         boolean                not null default false, -- imported with an empty list of components instead of null
    origin                 status.origin          not null default 'operator',
    primary key (id),
    check ((state = 'postmortem') = (display_at is null) or origin = 'sync')
);
create index incident_update__list on status.incident_update (incident_id, created_at desc, id desc);

-- Names and statuses of an update's components at that time. Components may have been renamed or deleted since.
create table status.update_component (
    update_id   status.code              not null references status.incident_update on delete cascade,
    ordinal     integer                  not null,
    code        status.code              not null,
    name        text                     not null,
    old_status  status.component_status  not null,
    new_status  status.component_status  not null,
    primary key (update_id, ordinal),
    unique (update_id, code)
);

-- Status changes of components, for uptime.
create table status.component_change (
    component_id  status.code              not null references status.component on delete cascade,
    changed_at    timestamptz(3)           not null,
    old_status    status.component_status  null,
    new_status    status.component_status  not null,
    update_id     status.code              null references status.incident_update on delete set null,
    origin        status.origin            not null,
    primary key (component_id, changed_at)
);

-- Current status of components: the worst of the base status and the statuses set by open notices. The status of a group is the worst of its components.
-- Groups without components are excluded.
create view status.component_now as
with leaf as (
    select c.id, greatest(c.base_status, max(h.held_status)) as status
    from status.component c
    left join (
        select a.component_id, a.held_status
        from status.incident_component a
        join status.incident i on i.id = a.incident_id and i.deleted_at is null and not i.draft
        where a.held_status is not null
    ) h on h.component_id = c.id
    where not c.is_group and c.deleted_at is null
    group by c.id
)
select c.*, coalesce(l.status, g.status) as status, g.children
from status.component c
left join leaf l on l.id = c.id
left join lateral (
    select max(k.status) as status, array_agg(x.id::text order by x.position, x.list_index, x.created_at, x.id) as children
    from status.component x
    join leaf k on k.id = x.id
    where c.is_group and x.group_id = c.id
) g on true
where c.deleted_at is null and (not c.is_group or g.children is not null);
