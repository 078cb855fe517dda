// Package status contains the model and the rules of status pages: the statuses of components and of a page, the states of incidents and maintenances, what
// updates and probes change, and how documents of other status pages are read. It has no access to databases or clocks: all functions depend only on their
// arguments.
//
// A notice is an incident or a maintenance. A code is the id of an object in documents and URLs. A component has a status, a notice has a state.
package status
