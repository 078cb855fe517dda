-- +goose Up
-- Start of the known history of an imported component: older incidents are not in the documents of its page. Null for the creation of the component.
alter table status.component add column known_from timestamptz(3) null;

-- Documents list the fifty newest incidents.
update status.component c set known_from = oldest.at
from (select page_id, min(created_at) as at from status.incident where origin = 'sync' and kind = 'realtime' group by page_id having count(*) >= 50) oldest
where c.page_id = oldest.page_id and c.origin = 'sync' and c.created_at < oldest.at;

-- Uptime is computed from the updates that mention a component.
create index update_component__code on status.update_component (code);

alter table status.edition rename to document_cache;
alter table status.document_cache rename constraint edition_pkey to document_cache_pkey;
alter table status.document_cache rename constraint edition_page_id_fkey to document_cache_page_id_fkey;
