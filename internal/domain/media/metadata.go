package media

import (
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"

	"heliograph/internal/domain/ledger"
)

// FilePath is the path of a gateway below which it serves inscribed files, by topic.
const FilePath = "/hcs/1/"

// Places are where files are found that are not in the metadata itself.
type Places struct {
	// Base has the default shard and realm of topics.
	Base ledger.EntityID
	// IPFS and Arweave are the URLs of public gateways. If nil, files there have no URL.
	IPFS, Arweave *url.URL
}

// Place is where a file is.
type Place struct {
	// URL is where clients find the file, or "" if there is no such place.
	URL string
	// Topic is the topic with the file, or 0.
	Topic ledger.EntityID
	// Outside is set if the file is outside of the ledger.
	Outside bool
}

// Find returns the place of a file from its location: a topic, a data URI of an image, an https URL, or a path behind
// the configured gateway of IPFS or Arweave. It fetches nothing. The URL of a topic is a path below [FilePath], and
// that of a data URI is the URI itself. Without the gateway, the place is outside of the ledger and has no URL. The
// place is empty for other locations.
func (p *Places) Find(location string) Place {
	scheme, rest, _ := strings.Cut(location, ":")
	rest = strings.TrimLeft(rest, "/")
	switch strings.ToLower(scheme) {
	case "hcs":
		topic, err := ledger.ParseEntityID(strings.TrimPrefix(rest, "1/"), p.Base)
		if strings.HasPrefix(rest, "1/") && err == nil {
			return Place{URL: FilePath + topic.String(), Topic: topic}
		}
	case "ipfs":
		return through(p.IPFS, strings.TrimPrefix(rest, "ipfs/"))
	case "ar":
		return through(p.Arweave, rest)
	case "https":
		if u, err := url.Parse(location); err == nil && u.Host != "" && u.User == nil {
			return Place{URL: u.String(), Outside: true}
		}
	case "data":
		if kind, _, _ := splitData(location); strings.HasPrefix(kind, "image/") {
			return Place{URL: location}
		}
	}
	return Place{}
}

// through returns the place of a file behind a gateway of IPFS or Arweave, without a URL if gateway is nil or
// location, the path of the file, is empty. Locations are often not escaped. They do not lead out of the folder of
// the gateway.
func through(gateway *url.URL, location string) Place {
	name, err := url.PathUnescape(location)
	if err != nil {
		name = location
	}
	if gateway == nil || location == "" {
		return Place{Outside: true}
	}
	u := *gateway
	u.Path = strings.TrimSuffix(u.Path, "/") + path.Clean("/"+name)
	return Place{URL: u.String(), Outside: true}
}

// Inline returns the file in the metadata of an NFT that are no location: JSON, or a data URI. It fails with a
// [Refusal] for other metadata.
func Inline(metadata string) (*File, error) {
	switch {
	case strings.HasPrefix(metadata, "{") && json.Valid([]byte(metadata)):
		return &File{Type: "application/json", Content: []byte(metadata)}, nil
	case strings.HasPrefix(metadata, "data:"):
		return readData(metadata)
	default:
		return nil, refused("the metadata is neither JSON nor a location of a known form")
	}
}

// Describe returns what an NFT shows: the metadata in f, or f itself if it is something else. at is the place of f,
// and location its location, or "" if the NFT itself has the metadata. err is nil, or the [Refusal] that is the reason
// why there is no file: then f is not used, and the result has the reason as its problem. It fetches no other files.
func (p *Places) Describe(location string, at Place, f *File, err error) *ledger.NFTMedia {
	m := &ledger.NFTMedia{}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		m.Problem = ledger.Of(refusal.Reason)
	} else if fields := f.fields(); fields != nil {
		m = p.read(fields)
	} else {
		file := &ledger.NFTFile{URL: known(at.URL), MimeType: ledger.Of(f.kind()), IsDefault: true}
		if strings.HasPrefix(f.Type, "image/") {
			m.Image = file
		} else {
			m.Files = append(m.Files, file)
		}
	}
	if m.Location = known(location); location != "" {
		m.URL = known(at.URL)
	}
	return m
}

// IsMetadata reports whether a file can be metadata, by its MIME type. It does not check the content.
func (f *File) IsMetadata() bool {
	kind := f.kind()
	return strings.HasSuffix(kind, "json") || kind == "text/plain" || kind == "application/octet-stream"
}

// kind returns the MIME type of a file without parameters, such as charset.
func (f *File) kind() string {
	kind, _, _ := strings.Cut(f.Type, ";")
	return kind
}

// fields returns the JSON members of metadata, or nil if the file is something else.
func (f *File) fields() (fields map[string]json.RawMessage) {
	if f.IsMetadata() && json.Unmarshal(f.Content, &fields) != nil {
		return nil
	}
	return fields
}

// read returns name, files and attributes from the members of a metadata file (HIP-412). Members with another type
// are omitted. It fetches no files.
func (p *Places) read(fields map[string]json.RawMessage) *ledger.NFTMedia {
	m := &ledger.NFTMedia{
		Name: text(fields["name"]), Description: text(fields["description"]), Creator: text(fields["creator"]),
		Standard: text(fields["format"]), Image: p.file(fields["image"], fields["type"]),
	}
	for _, of := range objects(fields["files"]) {
		if file := p.file(of["uri"], of["type"]); file != nil {
			file.IsDefault = string(of["is_default_file"]) == "true"
			m.Files = append(m.Files, file)
		}
	}
	for _, of := range objects(fields["attributes"]) {
		m.Attributes = append(m.Attributes, &ledger.NFTAttribute{
			TraitType: text(of["trait_type"]), DisplayType: text(of["display_type"]), Value: text(of["value"]),
			MaxValue: text(of["max_value"]),
		})
	}
	return m
}

// file returns the file with a location, with its URL but without content, or nil if the location is not a text.
// location and kind, its MIME type, are JSON values, nil if they are missing. The location in the result is null for a
// data URI.
func (p *Places) file(location, kind json.RawMessage) *ledger.NFTFile {
	at := text(location)
	if !at.Valid {
		return nil
	}
	place := p.Find(at.V)
	f := &ledger.NFTFile{Location: at, URL: known(place.URL), MimeType: text(kind)}
	if strings.HasPrefix(at.V, "data:") { // clients need it once
		f.Location = ledger.Null[string]{}
	}
	return f
}

// known returns a text, or null if it is empty.
func known(text string) ledger.Null[string] { return ledger.Null[string]{V: text, Valid: text != ""} }

// text returns a JSON string, number or boolean as a text. Everything else is null, also a missing member, which is
// nil.
func text(raw json.RawMessage) (t ledger.Null[string]) {
	if len(raw) == 0 || strings.ContainsRune("{[n", rune(raw[0])) {
		return t
	}
	if raw[0] == '"' {
		t.Valid = json.Unmarshal(raw, &t.V) == nil
		return t
	}
	return ledger.Of(string(raw))
}

// objects returns those of the first [MaxListed] elements of a list that are objects, or nil if raw is not a list.
func objects(raw json.RawMessage) (found []map[string]json.RawMessage) {
	var all []json.RawMessage
	_ = json.Unmarshal(raw, &all) // anything else is no list
	for _, one := range all[:min(len(all), MaxListed)] {
		var object map[string]json.RawMessage
		if json.Unmarshal(one, &object) == nil && object != nil {
			found = append(found, object)
		}
	}
	return found
}
