// Package statuspages reads and writes the status pages: pages, components, incidents, maintenance windows, probes and their audit.
package statuspages
