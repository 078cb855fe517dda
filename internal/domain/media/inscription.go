// Package media reads what NFTs show: where metadata and files are, metadata after HIP-412, and files that are
// inscribed in topics (HCS-1).
package media

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"

	"heliograph/internal/domain/ledger"
)

// Limits of files and metadata.
const (
	MaxFile          = 4 << 20  // bytes of a file
	MaxParts         = 6000     // messages of a topic with a file
	MaxMetadata      = 64 << 10 // bytes of metadata
	MaxMetadataParts = 64       // messages of a topic with metadata
	MaxListed        = 100      // attributes, and other files
)

// Memory of decompression: all decoders together need twice their product at most. The window is that of the highest
// level that compressors use without being told.
const (
	decoders = 2
	window   = 8 << 20
)

// Refusal is the reason why there is no file.
type Refusal struct {
	// Missing is set if there is no file, or not yet. Otherwise there is one that is not served.
	Missing bool
	Reason  string
}

// Error implements error. The reason is a text for clients.
func (r *Refusal) Error() string { return r.Reason }

// missing returns a [Refusal] for a file that the ledger does not have, or not yet completely. The text is for
// clients.
func missing(format string, args ...any) error {
	return &Refusal{Missing: true, Reason: fmt.Sprintf(format, args...)}
}

// refused returns a [Refusal] for a file that exists but cannot be used. The text is for clients.
func refused(format string, args ...any) error { return &Refusal{Reason: fmt.Sprintf(format, args...)} }

// File is a file.
type File struct {
	Type    string // MIME type
	Hash    string // SHA-256 in hexadecimal, of an inscribed file
	Content []byte
}

var memo = regexp.MustCompile(`^(?i:([0-9a-f]{64})):zstd:base64$`)

// Read returns the file that is inscribed in the topic t. t is nil if the topic does not exist. messages are the first
// ones of the topic, oldest first, which the caller has read. Only the first count are used; a further one shows that
// there are more. size is the maximum size of the file in bytes. If that is [MaxMetadata], a file that cannot be
// metadata has no content and is not checked. It fails with a [Refusal] if there is no such file. With a further
// message, the reason why the parts give no file is always that there are too many messages. Decompression may wait
// for other calls.
func Read(t *ledger.Topic, messages []*ledger.TopicMessage, count, size int) (*File, error) {
	hash, err := hashOf(t)
	if err != nil {
		return nil, err
	}
	p := parts{}
	for _, m := range messages[:min(len(messages), count)] {
		p.add(m.Message)
	}
	kind, _, _ := splitData(p[0])
	if head := (&File{Type: kind}); size == MaxMetadata && !head.IsMetadata() {
		return head, nil
	}
	f, err := p.file(hash, size)
	if err != nil && len(messages) > count {
		err = refused("the topic has more than %d messages", count)
	}
	return f, err
}

// hashOf returns the SHA-256, in lower-case hex, of the file that is inscribed in a topic, from its memo. It fails
// with a [Refusal] if the topic has no file. Without an admin key, nobody can change the memo.
func hashOf(t *ledger.Topic) (string, error) {
	if t == nil {
		return "", missing("the topic does not exist")
	}
	found := memo.FindStringSubmatch(t.Memo)
	if found == nil || t.SubmitKey == nil || t.AdminKey != nil {
		return "", missing("a topic with a file has the memo <SHA-256>:zstd:base64, a submit key and no admin key")
	}
	return strings.ToLower(found[1]), nil
}

// parts are the parts of an inscribed file by number, from 0. Joined, they are a data URI.
type parts map[int]string

// add adds the part in a message: a JSON object with the number o and the text c. Of several parts with one number,
// the first counts. Other messages, and negative numbers, are ignored.
func (p parts) add(message []byte) {
	var part struct {
		Number *int    `json:"o"`
		Text   *string `json:"c"`
	}
	if json.Unmarshal(message, &part) != nil || part.Number == nil || part.Text == nil || *part.Number < 0 {
		return
	}
	if _, repeated := p[*part.Number]; !repeated {
		p[*part.Number] = *part.Text
	}
}

// decoder decompresses files. Errors are those of invalid options.
var decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(decoders), zstd.WithDecoderMaxMemory(window),
	zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(true))

// file joins and decompresses the parts. It waits for a free one of the decoders, which all calls share. hash is the
// SHA-256 of the file in lower-case hex, and most its maximum size in bytes. It fails with a [Refusal] if a part is
// missing, the parts cannot be decoded, or the file is too large or does not have the hash.
func (p parts) file(hash string, most int) (*File, error) {
	var joined strings.Builder
	for i := range len(p) {
		part, ok := p[i]
		if !ok {
			return nil, missing("part %d of the file is missing", i)
		}
		joined.WriteString(part)
	}
	kind, encoded, text := splitData(joined.String())
	packed, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || !encoded {
		return nil, missing("the parts of the file are not a data URI with base64, or the last one is missing")
	}
	content, err := decoder.DecodeAll(packed, nil)
	switch sum := sha256.Sum256(content); {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded), len(content) > most:
		return nil, refused("the file has more than %d bytes", most)
	case err != nil:
		return nil, refused("the file cannot be decompressed, or the last part is missing")
	case hex.EncodeToString(sum[:]) != hash:
		return nil, refused("the file does not have the SHA-256 in the memo of the topic")
	}
	return &File{kind, hash, content}, nil
}

// splitData splits a data URI (RFC 2397) into the MIME type, whether the text is in base64, and the text. A missing
// type is text/plain, and an invalid one becomes application/octet-stream. Without a comma, the text is empty. It
// decodes nothing.
func splitData(uri string) (kind string, encoded bool, text string) {
	head, text, _ := strings.Cut(uri, ",")
	head, encoded = strings.CutSuffix(strings.TrimPrefix(head, "data:"), ";base64")
	return TypeOf(cmp.Or(head, "text/plain")), encoded, text
}

// TypeOf returns a MIME type with its parameters in the usual form: names in lower case, parameters sorted, or
// "application/octet-stream" if it is invalid.
func TypeOf(text string) string {
	kind, parameters, err := mime.ParseMediaType(text)
	if kind = mime.FormatMediaType(kind, parameters); err != nil || kind == "" {
		return "application/octet-stream"
	}
	return kind
}

// readData returns the file in a data URI (RFC 2397), without a hash. It does not limit the size. It fails with a
// [Refusal] if the URI cannot be decoded.
func readData(uri string) (*File, error) {
	kind, encoded, escaped := splitData(uri)
	text, err := url.PathUnescape(escaped)
	content := []byte(text)
	if err == nil && encoded {
		content, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	}
	if err != nil {
		return nil, refused("the data URI cannot be decoded")
	}
	return &File{Type: kind, Content: content}, nil
}
