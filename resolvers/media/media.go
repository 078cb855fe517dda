// Package media implements the field of NFTs that has what they show, and reads files that are inscribed in topics.
package media

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/media"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// Fields has the field.
type Fields struct {
	// Places are where files are that are not in the metadata itself.
	Places media.Places
	// Fetch reads metadata outside of the ledger. If nil, it is not read. Its errors are of type [media.Refusal].
	Fetch func(ctx context.Context, url string) (*media.File, error)
}

// source is the metadata of an NFT.
type source struct {
	location string // "" if the NFT itself has the metadata
	place    media.Place
	file     *media.File
	err      error // why there is no file
}

// NFTMedia resolves NFT.media: what NFTs show, or nil for NFTs without metadata. It queues reading all topics with
// metadata in the batch of q, in one round trip. It starts a goroutine for each metadata outside of the ledger; the
// result waits for them, unless the batch fails. The reason why metadata cannot be read is part of the result and no
// error.
func (f Fields) NFTMedia(ctx context.Context, q rowplan.Request, of []*ledger.NFT) (
	rowplan.Results[*ledger.NFTMedia], error,
) {
	sources := make([]*source, len(of))
	byTopic := map[ledger.EntityID][]*source{}
	var fetches sync.WaitGroup
	for i, n := range of {
		text := strings.TrimSpace(n.MetadataText().V)
		if text == "" {
			continue
		}
		s := &source{location: text, place: f.Places.Find(text)}
		switch sources[i] = s; {
		case s.place.Topic != 0:
			byTopic[s.place.Topic] = append(byTopic[s.place.Topic], s)
		case !s.place.Outside:
			s.location = ""
			s.file, s.err = media.Inline(text)
		case f.Fetch == nil || s.place.URL == "":
			s.err = &media.Refusal{Reason: "the metadata is outside of the ledger"}
		default:
			fetches.Go(func() { s.file, s.err = f.Fetch(ctx, s.place.URL) })
		}
	}
	topics := slices.Sorted(maps.Keys(byTopic))
	read := queueFiles(loading.BatchOf(q), topics, media.MaxMetadataParts, media.MaxMetadata)
	return func() ([]*ledger.NFTMedia, error) {
		found, err := read()
		if err != nil {
			return nil, err
		}
		for i, topic := range topics {
			for _, s := range byTopic[topic] {
				s.file, s.err = found[i].file, found[i].err
			}
		}
		fetches.Wait()
		return list.Map(sources, func(s *source) *ledger.NFTMedia {
			if s == nil {
				return nil
			}
			return f.Places.Describe(s.location, s.place, s.file, s.err)
		}), nil
	}, nil
}

// queueFiles queues reading the files that are inscribed in topics, in b. count and size are the maximum number of
// messages and bytes; see [media.Read]. The error of one file is in its source.
func queueFiles(b *storage.Batch, topics []ledger.EntityID, count, size int) storage.Result[[]source] {
	if len(topics) == 0 {
		return storage.Known[[]source](nil)
	}
	rows := entities.QueueTopics(b, topics)
	messages := entities.QueueTopicMessages(b, topics, ledger.TopicMessageFilter{}, storage.Page{Limit: count + 1})
	return func() ([]source, error) {
		found, err := rows()
		if err != nil {
			return nil, err
		}
		inscribed, err := messages()
		if err != nil {
			return nil, err
		}
		out := make([]source, len(topics))
		for i := range out {
			out[i].file, out[i].err = media.Read(found[i], inscribed[i], count, size)
		}
		return out, nil
	}
}

// Inscribed reads the file that is inscribed in a topic with a batch of its own. It fails with a [media.Refusal]
// if there is none.
func Inscribed(ctx context.Context, db *storage.DB, topic ledger.EntityID) (*media.File, error) {
	b := db.NewBatch()
	found, err := storage.Run(ctx, b, queueFiles(b, []ledger.EntityID{topic}, media.MaxParts, media.MaxFile))
	if err != nil {
		return nil, wrap.Error(err, "reading the file in topic %s", topic)
	}
	return found[0].file, found[0].err
}
