package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"heliograph/app/gateway"
	"heliograph/internal/base/profile"
)

// requestOf returns the body of a GraphQL request from the text of a file: the text if it is JSON, otherwise a
// request with the text as its document and without variables.
func requestOf(text []byte) any {
	if json.Valid(text) {
		return json.RawMessage(text)
	}
	return map[string]string{"query": string(text)}
}

// analyzeTimeout is the timeout of a request whose plan is printed. That of the gateway is shorter by default.
const analyzeTimeout = time.Minute

// analyze sends a GraphQL request to the admin port of a running gateway, which executes it, and prints its plan, as
// JSON if the flag is set. It prints errors of the response to standard error, and fails only if there is no plan or
// no response within [analyzeTimeout].
func (c *explainCmd) analyze(ctx context.Context, request any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	target := adminURL(c.AdminListen) + "/graphql"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("--admin-listen: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(gateway.PlanHeader, "on")
	resp, err := (&http.Client{Timeout: analyzeTimeout}).Do(req)
	if err != nil {
		return fmt.Errorf("the gateway does not respond; is it running with --admin-listen %s? %w", c.AdminListen, err)
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	var got struct {
		Errors     []struct{ Message string }
		Extensions struct{ Plan *profile.Profile }
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return fmt.Errorf("%s returned %s: %w", target, resp.Status, err)
	}
	for _, e := range got.Errors {
		fmt.Fprintln(os.Stderr, "heliograph:", e.Message)
	}
	if got.Extensions.Plan == nil {
		return errors.New("the gateway has not run the document")
	}
	if c.JSON {
		return printJSON(got.Extensions.Plan)
	}
	printPlan(got.Extensions.Plan)
	return nil
}

// planWidth is the width of the bars of a plan in characters.
const planWidth = 40

// printPlan prints a plan of a request to standard output: the totals, and a line for each listed statement with a
// bar over time. Below the slowest statement are the tables and indexes that it reads. Times are in milliseconds.
func printPlan(p *profile.Profile) {
	fmt.Fprintf(os.Stdout, "%.1f ms (queue %.1f, waiting for connections %.1f), %d bytes\n"+
		"%d levels, %d round trips, %d statements, %d cache hits\n\nlevel trip      ms    rows\n",
		p.Milliseconds, p.Queue, p.Waiting, p.Bytes, p.Levels, p.RoundTrips, len(p.Statements)+p.Omitted, p.CacheHits)
	all := max(p.Milliseconds, 0.001)
	at := func(ms float64) int { return min(int(ms/all*planWidth), planWidth-1) }
	for _, s := range p.Statements {
		from := at(s.Start)
		bar := strings.Repeat(" ", from) + strings.Repeat("█", at(s.Start+s.Milliseconds)-from+1)
		fmt.Fprintf(os.Stdout, "%5d %4d %7.1f %7d  %-*s  %s\n", s.Level, s.RoundTrip, s.Milliseconds, s.Rows, planWidth,
			bar, s.Field)
		for i, scan := range s.Scans {
			if i == 0 {
				fmt.Fprintf(os.Stdout, "%13s the slowest, %.1f ms in PostgreSQL:\n", "", s.Server)
			}
			if scan.Index == "" {
				scan.Index = "no index"
			}
			fmt.Fprintf(os.Stdout, "%13s %s %s\n", "", scan.Table, scan.Index)
		}
	}
}
