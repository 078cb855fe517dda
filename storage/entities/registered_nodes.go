package entities

import (
	"context"
	"encoding/json"
	"fmt"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// registeredColumns are the columns of a registered node r, in the order of registeredTargets.
const registeredColumns = `r.registered_node_id, r.admin_key, r.created_timestamp, r.deleted, r.description, r.service_endpoints,
  lower(r.timestamp_range), upper(r.timestamp_range), r.type`

type registeredRow struct {
	ledger.RegisteredNode
	adminKey  ledger.Key
	endpoints []byte
	types     []int16
}

func registeredTargets(r *registeredRow, into []any) []any {
	return append(into, &r.RegisteredNodeID, (*[]byte)(&r.adminKey), &r.CreatedTimestamp, &r.Deleted, &r.Description, &r.endpoints,
		&r.Timestamp.From, &r.Timestamp.To, &r.types)
}

var registeredRows = storage.NewMapper(registeredTargets, finishRegistered, func(r *registeredRow) *ledger.RegisteredNode { return &r.RegisteredNode })

// registeredEndpoint is a member of the JSON column registered_node.service_endpoints.
type registeredEndpoint struct {
	BlockNode *struct {
		EndpointAPIs []string `json:"endpoint_apis"`
	} `json:"block_node"`
	DomainName     *string `json:"domain_name"`
	GeneralService *struct {
		Description *string `json:"description"`
	} `json:"general_service"`
	IPAddress   *string   `json:"ip_address"`
	MirrorNode  *struct{} `json:"mirror_node"`
	Port        int32     `json:"port"`
	RequiresTLS bool      `json:"requires_tls"`
	RPCRelay    *struct{} `json:"rpc_relay"`
}

func finishRegistered(r *registeredRow) error {
	r.AdminKey = r.adminKey.Info()
	for _, code := range r.types {
		r.Types = append(r.Types, ledger.RegisteredNodeTypeOf(code))
	}
	if r.endpoints == nil {
		return nil
	}
	var endpoints []registeredEndpoint
	if err := json.Unmarshal(r.endpoints, &endpoints); err != nil {
		return fmt.Errorf("endpoints of registered node %d: %w", r.RegisteredNodeID, err)
	}
	for _, e := range endpoints {
		out := &ledger.RegisteredServiceEndpoint{
			DomainName: ledger.FromPointer(e.DomainName), IPAddress: ledger.FromPointer(e.IPAddress), Port: e.Port, RequiresTLS: e.RequiresTLS,
			MirrorNode: ledger.Null[ledger.Empty]{Valid: e.MirrorNode != nil}, RPCRelay: ledger.Null[ledger.Empty]{Valid: e.RPCRelay != nil},
		}
		if e.BlockNode != nil {
			out.BlockNode = &ledger.BlockNodeService{}
			for _, name := range e.BlockNode.EndpointAPIs {
				out.BlockNode.EndpointAPIs = append(out.BlockNode.EndpointAPIs, ledger.BlockNodeAPIOf(name))
			}
		}
		if e.GeneralService != nil {
			out.GeneralService = &ledger.GeneralService{Description: ledger.FromPointer(e.GeneralService.Description)}
		}
		r.ServiceEndpoints = append(r.ServiceEndpoints, out)
	}
	return nil
}

// RegisteredNodes reads a page of the registered nodes that are not deleted, ordered by number.
func RegisteredNodes(ctx context.Context, db *storage.DB, f *ledger.RegisteredNodeFilter, p storage.Page) ([]*ledger.RegisteredNode, error) {
	var w storage.Where
	if f != nil {
		storage.Filter(&w, "r.registered_node_id", f.RegisteredNodeID)
		if f.Type != nil {
			w.And("r.type @> ?", []int16{f.Type.Code()})
		}
	}
	w.Keyset(p, "r.registered_node_id")
	sql := `select ` + registeredColumns + ` from registered_node r where r.deleted is false` + w.String() + w.OrderBy(p, "r.registered_node_id")
	return registeredRows.List(ctx, db, "registered nodes", sql, w.Args...)
}

// CountRegisteredNodes returns the number of registered nodes that are not deleted.
func CountRegisteredNodes(ctx context.Context, db *storage.DB) (int64, error) {
	return storage.Value[int64](ctx, db, "the number of registered nodes", `select count(*) from registered_node where deleted is false`)
}

// RegisteredNode reads a registered node, deleted or not. It returns nil if the node does not exist.
func RegisteredNode(ctx context.Context, db *storage.DB, id int64) (*ledger.RegisteredNode, error) {
	return registeredRows.One(ctx, db, "a registered node", `select `+registeredColumns+` from registered_node r where r.registered_node_id = $1`, id)
}

// QueueRegisteredNodesOf queues a query for the registered nodes that are associated with nodes, ordered by number, without deleted ones. done receives one
// list per node.
func QueueRegisteredNodesOf(b *storage.Batch, nodes []*ledger.NetworkNode, done func([][]*ledger.RegisteredNode)) {
	var owners, ids []int64
	for i, n := range nodes {
		for _, id := range n.AssociatedRegisteredNodes {
			owners, ids = append(owners, int64(i+1)), append(ids, id)
		}
	}
	registeredRows.QueueChildren(b, len(nodes), `select p.owner, `+registeredColumns+`
from (select distinct * from unnest((select $1::bigint[]), (select $2::bigint[])) as p(owner, id)) p
join registered_node r on r.registered_node_id = p.id where r.deleted is false order by p.owner, p.id`, []any{owners, ids}, done)
}
