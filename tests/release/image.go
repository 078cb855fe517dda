package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// binaryPath is the path of the binary in the image.
const binaryPath = "usr/local/bin/heliograph"

// user is the user of the image, who owns no file of it.
const user = "65532"

// writeImage writes heliograph-image.tar: an OCI image for each Linux binary, in an index. The archive has one entry,
// this index: podman load and skopeo copy reject an archive with several. documents are files for
// /usr/share/doc/heliograph.
func writeImage(out, version string, at time.Time, documents map[string][]byte) error {
	platforms := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	binaries, err := filepath.Glob(filepath.Join(out, "heliograph-linux-*"))
	if err != nil {
		return err
	}
	for _, path := range binaries {
		architecture := path[strings.LastIndex(path, "-")+1:]
		img, err := image(path, architecture, version, at, documents)
		if err != nil {
			return err
		}
		platforms = mutate.AppendManifests(platforms, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "linux", Architecture: architecture},
		}})
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		mutate.IndexAddendum{Add: platforms, Descriptor: v1.Descriptor{
			Annotations: map[string]string{
				"org.opencontainers.image.ref.name": "heliograph:" + version,
				"io.containerd.image.name":          "docker.io/library/heliograph:" + version,
			},
		}})
	folder, err := os.MkdirTemp("", "heliograph-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // temporary
	if _, err := layout.Write(folder, index); err != nil {
		return err
	}
	var b bytes.Buffer
	w := archive{tar.NewWriter(&b), at}
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return w.add(filepath.ToSlash(name), content, 0o644)
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "heliograph-image.tar"), b.Bytes(), 0o644)
}

// image returns the image of a binary. Time zones are in the binary.
func image(path, architecture, version string, at time.Time, documents map[string][]byte) (v1.Image, error) {
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	files := map[string][]byte{
		binaryPath: binary, "etc/ssl/certs/ca-certificates.crt": roots.Bytes(),
		"etc/passwd": []byte("heliograph:x:" + user + ":" + user + "::/:/nologin\n"),
		"etc/group":  []byte("heliograph:x:" + user + ":\n"),
	}
	for name, content := range documents {
		files["usr/share/doc/heliograph/"+name] = content
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	w := archive{tar.NewWriter(&b), at}
	for _, name := range names {
		mode := int64(0o644)
		if name == binaryPath {
			mode = 0o755
		}
		if err := w.add(name, files[name], mode); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b.Bytes())), nil
	},
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(9))
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layer)
	if err != nil {
		return nil, err
	}
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, v1.Time{Time: at.UTC()}
	config.History = nil
	config.Config = v1.Config{
		User: user + ":" + user, Entrypoint: []string{"/" + binaryPath}, Cmd: []string{"serve"}, WorkingDir: "/",
		Env:          []string{"HELIOGRAPH_LISTEN=0.0.0.0:8080", "HELIOGRAPH_ADMIN_LISTEN=0.0.0.0:9464"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9464/tcp": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/" + binaryPath, "health"}, Interval: 10 * time.Second, Timeout: 5 * time.Second,
			StartPeriod: 30 * time.Second, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":   "Heliograph",
			"org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(img, config)
}

// archive is a tar archive whose files have the same time and owner.
type archive struct {
	*tar.Writer

	at time.Time
}

func (a archive) add(name string, content []byte, mode int64) error {
	err := a.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: mode,
		ModTime: a.at.UTC(), Format: tar.FormatPAX,
	})
	if err != nil {
		return err
	}
	_, err = a.Write(content)
	return err
}
