package statuspages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"heliograph/internal/base/list"
)

// maxSavedRevisions is the number of revisions of a page whose documents are saved.
const maxSavedRevisions = 100

// SaveDocuments saves the documents of a revision of a page as they are served, unless they are saved already.
func (s *DB) SaveDocuments(ctx context.Context, page string, revision int64, documents map[string][]byte, at time.Time) error {
	texts := make(map[string]string, len(documents))
	for name, body := range documents {
		texts[name] = string(body)
	}
	text, err := json.Marshal(texts)
	if err != nil {
		return fmt.Errorf("saving revision %d: %w", revision, err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("compressing revision %d: %w", revision, err)
	}
	return s.exec(ctx, "saving documents", `with kept as (
  insert into status.document_cache (page_id, revision, made_at, documents) values ($1, $2, $3, $4) on conflict do nothing returning revision)
delete from status.document_cache where page_id = $1 and revision <= (select revision from kept) - $5`, page, revision, at, b.Bytes(), maxSavedRevisions)
}

// SavedDocuments returns the documents of a revision of a page as they were served, by name, or nil if they are not saved.
func (s *DB) SavedDocuments(ctx context.Context, page string, revision int64) (map[string]string, error) {
	compressed, err := readValue[[]byte](ctx, s, `select documents from status.document_cache where page_id = $1 and revision = $2`, page, revision)
	if err != nil || compressed == nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("decompressing revision %d: %w", revision, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("decompressing revision %d: %w", revision, err)
	}
	var documents map[string]string
	if err := json.Unmarshal(text, &documents); err != nil {
		return nil, fmt.Errorf("reading revision %d: %w", revision, err)
	}
	return documents, nil
}

// SavedRevisions returns the revisions of a page whose documents are saved, newest first.
func (s *DB) SavedRevisions(ctx context.Context, page string) ([]int64, error) {
	rows, err := read(ctx, s, `select revision from status.document_cache where page_id = $1 order by revision desc`, []any{page},
		value[int64], nil)
	return list.Map(rows, func(r *int64) int64 { return *r }), err
}
