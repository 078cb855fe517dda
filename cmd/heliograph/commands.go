package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"heliograph/internal/gateway"
	"heliograph/internal/ledger"
	"heliograph/rest"
	"heliograph/storage/embedded"
	"heliograph/storage/migrations"
)

// ledgerID is an entity id whose shard and realm matter.
type ledgerID = ledger.EntityID

type migrateCmd struct {
	databaseSettings
	logSettings
}

// Run creates or updates the tables.
func (c *migrateCmd) Run(ctx context.Context) (err error) {
	log := c.logger()
	if c.DatabaseURL == "" {
		d, err := c.open(ctx, log) // which migrates
		if err != nil {
			return err
		}
		return d.close()
	}
	if _, err := c.open(ctx, log); err != nil {
		return err
	}
	err = migrations.Ledger(ctx, c.DatabaseURL, log)
	var foreign *migrations.ForeignError
	switch {
	case errors.As(err, &foreign):
		return err
	case err != nil:
		return unreachable(c.DatabaseURL, err)
	}
	fmt.Fprintf(os.Stdout, "the tables are up to date (schema version %d)\n", migrations.Version())
	return nil
}

type demoCmd struct {
	databaseSettings
	ledgerSettings
	logSettings
}

// Run loads the demo network.
func (c *demoCmd) Run(ctx context.Context) (err error) {
	log := c.logger()
	now, err := c.clock()
	if err != nil {
		return err
	}
	d, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if d.server == nil {
		if err := migrations.Ledger(ctx, d.url, slog.New(slog.DiscardHandler)); err != nil {
			var foreign *migrations.ForeignError
			if errors.As(err, &foreign) {
				return err
			}
			return unreachable(d.url, err)
		}
	}
	if err := loadDemo(ctx, d.url, now(), true); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "the demo network is loaded")
	return nil
}

type explainCmd struct {
	Path string `arg:"" help:"REST path with its query string, such as '/api/v1/accounts?account.balance=gt:100&order=desc'; with 'POST ' in front, the path as it is asked with a body."`
	Body string `type:"existingfile" help:"File with the body of a POST (default: an example)."`
	JSON bool   `help:"Print document, variables and operation name as JSON."`
	ledgerSettings
}

// Run prints the document of a path. It needs no database.
func (c *explainCmd) Run(ctx context.Context) error {
	cfg, err := c.rest()
	if err != nil {
		return err
	}
	g, err := gateway.New(gateway.Options{REST: cfg, Graph: gateway.DefaultGraph(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("reading the documents: %w", err)
	}
	var body []byte
	if c.Body != "" {
		if body, err = os.ReadFile(c.Body); err != nil {
			return fmt.Errorf("reading the body: %w", err)
		}
	}
	x, err := g.ExplainBody(ctx, c.Path, body)
	var problem *rest.Problem
	switch {
	case errors.As(err, &problem):
		var texts []string
		for _, i := range problem.Items {
			texts = append(texts, i.Message)
		}
		return fmt.Errorf("%s: %s", c.Path, strings.Join(texts, "; "))
	case err != nil:
		return err
	case c.JSON:
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(x) //nolint:wrapcheck // writing to the terminal
	}
	_, err = os.Stdout.WriteString(x.Standalone)
	return err
}

type versionCmd struct{}

// Run prints versions.
func (versionCmd) Run() error {
	_, err := fmt.Fprintf(os.Stdout, "heliograph %s (commit %s, %s)\n%s\nschema %d\nembedded PostgreSQL %d or newer\n",
		version, commit, date, runtime.Version(), migrations.Version(), embedded.MinMajor)
	return err //nolint:wrapcheck // as above
}
