package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"heliograph/app/gateway"
	"heliograph/rest"
)

type statusExportCmd struct {
	Folder string `arg:"" help:"Folder. It is created if it does not exist."`
}

// run replaces each file atomically, and removes the pages of notices and months that do not exist any more.
func (c *statusExportCmd) run(ctx context.Context, s *session) error {
	cfg := &rest.Config{LimitDefault: 25, LimitMax: 100, Now: s.now, Cache: true}
	g, err := gateway.New(gateway.Options{Status: s.db, REST: cfg, Logger: slog.New(slog.DiscardHandler), Static: true})
	if err != nil {
		return err
	}
	written := map[string]bool{}
	err = g.Export(ctx, s.page, func(file string, body []byte) error {
		path := filepath.Join(c.Folder, filepath.FromSlash(file))
		written[path] = true
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path+".new", body, 0o644); err != nil {
			return err
		}
		return os.Rename(path+".new", path)
	})
	if err != nil {
		return err
	}
	for _, folder := range []string{"incidents", "history"} {
		pages, err := filepath.Glob(filepath.Join(c.Folder, folder, "*", "index.html"))
		if err != nil {
			return fmt.Errorf("listing the exported pages: %w", err)
		}
		for _, path := range pages {
			if !written[path] {
				if err := os.RemoveAll(filepath.Dir(path)); err != nil {
					return err
				}
			}
		}
	}
	return s.print(map[string]any{"folder": c.Folder, "files": len(written)}, "%d files were written to %s", len(written), c.Folder)
}
