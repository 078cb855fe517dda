package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"heliograph/app/compare"
	"heliograph/rest"
	"heliograph/rest/requests"
	v1 "heliograph/rest/v1"
)

type compareCmd struct {
	Against     string            `required:"" env:"HELIOGRAPH_COMPARE_AGAINST" help:"URL of the service whose responses are expected, such as https://mirror.example.com."`
	URL         string            `name:"url" env:"HELIOGRAPH_COMPARE_URL" default:"http://127.0.0.1:8080" help:"URL of the gateway to check."`
	AccessLog   string            `env:"HELIOGRAPH_COMPARE_ACCESS_LOG" type:"existingfile" help:"Access log whose GET requests are sent, in the common or combined format or with a JSON object per line (default: generated requests)."`
	Requests    int               `env:"HELIOGRAPH_COMPARE_REQUESTS" default:"5000" help:"Maximum number of requests, including those of following pages."`
	Concurrency int               `env:"HELIOGRAPH_COMPARE_CONCURRENCY" default:"4" help:"Number of requests that are sent to each service at once."`
	Timeout     time.Duration     `env:"HELIOGRAPH_COMPARE_TIMEOUT" default:"30s" help:"Timeout of a request."`
	Header      map[string]string `env:"HELIOGRAPH_COMPARE_HEADER" help:"Request header for the other service, as NAME=VALUE; can be repeated."`
}

// The exit codes of compare.
const (
	exitDifferent = 1
	exitFailed    = 2
)

// compareWaits are the times before the repetitions of a request whose responses differ.
var compareWaits = []time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second}

// Run sends the requests of the access log, or generated ones, to the other service and to the gateway, and prints
// the differences of their responses by cause. It exits with exitDifferent if there are any, and with exitFailed if
// they cannot be compared or printed.
func (c *compareCmd) Run(ctx context.Context) error {
	report, err := c.compare(ctx)
	if err != nil {
		return &exitError{exitFailed, err}
	}
	if _, err := report.WriteTo(os.Stdout); err != nil {
		return &exitError{exitFailed, err}
	}
	causes := len(report.Causes())
	fmt.Fprintf(os.Stdout,
		"%d requests compared, %d causes of differences; %d equal after a repetition, %d equal without newer rows, "+
			"%d not compared (status 429)\n",
		report.Requests, causes, report.Repeated, report.Newer, report.Limited)
	if causes > 0 {
		return &exitError{exitDifferent, fmt.Errorf("%s differs from %s", c.URL, c.Against)}
	}
	return nil
}

// compare checks the flags, reads the requests that are compared, and sends them to both services. It shows
// progress on standard error. Differences are in the report, not in the error.
func (c *compareCmd) compare(ctx context.Context) (*compare.Report, error) {
	if c.Requests < 1 || c.Concurrency < 1 || c.Timeout <= 0 {
		return nil, errors.New("--requests, --concurrency and --timeout must be positive")
	}
	against, err := compare.NewService(c.Against, c.Header, c.Timeout, c.Concurrency)
	if err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	own, err := compare.NewService(c.URL, nil, c.Timeout, c.Concurrency)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	api, err := v1.NewOffline(&rest.Config{})
	if err != nil {
		return nil, fmt.Errorf("reading the endpoints: %w", err)
	}
	bar := newProgress(progressDelay)
	defer bar.end()
	comparison := compare.Comparison{
		Against: against, Own: own, API: api, Most: c.Requests, Concurrency: c.Concurrency, Waits: compareWaits,
		Progress: func(done, total int) { bar.show("comparing", done, total) },
	}
	if comparison.Requests, err = c.read(ctx, api, own, bar.show); err != nil {
		return nil, err
	}
	return comparison.Run(ctx)
}

// read returns the requests of the access log, and fails if that has none of the REST API. Without the flag of the
// log, it generates requests, at most [requests.Most] and at most c.Requests, from values that it reads from the
// gateway with own, and reports the progress to show.
func (c *compareCmd) read(
	ctx context.Context, api *rest.API, own compare.Service, show func(string, int, int),
) ([]requests.Request, error) {
	if c.AccessLog == "" {
		read := 0
		return requests.Generate(ctx, api, func(ctx context.Context, path string) (int, []byte, error) {
			read++
			show("reading values", read, 0)
			got, err := own(ctx, path)
			if err != nil {
				return 0, nil, fmt.Errorf("%w; start the gateway, or give its URL with --url", err)
			}
			return got.Status, got.Body, nil
		}, min(c.Requests, requests.Most))
	}
	file, err := os.Open(c.AccessLog)
	if err != nil {
		return nil, fmt.Errorf("opening the access log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	found, err := compare.ReadLog(file, v1.Prefix, c.Requests)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s has no GET requests of %s", c.AccessLog, v1.Prefix)
	}
	return found, err
}
