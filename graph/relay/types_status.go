package relay

import "heliograph/internal/domain/status"

// The connections and edges of status pages.
type (
	StatusComponentConnection   = Connection[status.Component]
	StatusComponentEdge         = Edge[status.Component]
	StatusIncidentConnection    = Connection[status.Incident]
	StatusIncidentEdge          = Edge[status.Incident]
	StatusMaintenanceConnection = Connection[status.Maintenance]
	StatusMaintenanceEdge       = Edge[status.Maintenance]
)

// StatusNotice is an incident or a maintenance.
type StatusNotice interface{ IsStatusNotice() }
