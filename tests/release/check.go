package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// checkImage unpacks the image of this machine's architecture and runs its program in a chroot, as the user of the
// image, with nothing but the files of the image. It needs root. Without database it only checks that the program asks
// for one.
func checkImage(out, database string) error {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		fmt.Println("The image was not run: that needs root on Linux.")
		return nil
	}
	root, err := os.MkdirTemp("", "heliograph-root-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }() // temporary
	if err := os.Chmod(root, 0o755); err != nil {
		return err
	}
	config, compressed, err := unpack(filepath.Join(out, "heliograph-image.tar"), root)
	if err != nil {
		return err
	}
	fmt.Printf("The image for linux/%s has %.1f MB compressed.\n", runtime.GOARCH, float64(compressed)/1e6)
	if config.User != user+":"+user || config.Healthcheck == nil {
		return fmt.Errorf("the image has the user %q and the health check %v", config.User, config.Healthcheck)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	run := func(arguments ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
		c.Env = append([]string{"HELIOGRAPH_DATABASE_URL=" + database}, config.Env...)
		c.Dir = "/"
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		return c
	}
	serve := append(append([]string{}, config.Entrypoint...), config.Cmd...)
	if database == "" {
		message, err := run(serve...).CombinedOutput()
		if err == nil || !strings.Contains(string(message), "--database-url") {
			return fmt.Errorf("without a database, the program does not ask for --database-url: %w, %s", err, message)
		}
		fmt.Println("Without a database, it asks for --database-url.")
		return nil
	}
	var log bytes.Buffer
	c := run(append(serve, "--listen", "127.0.0.1:18080", "--admin-listen", "127.0.0.1:19464")...)
	c.Stdout, c.Stderr = &log, &log
	begin := time.Now()
	if err := c.Start(); err != nil {
		return err
	}
	defer func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have exited
		_ = c.Wait()
	}()
	for {
		resp, err := http.Get("http://127.0.0.1:18080/api/v1/blocks?limit=1")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no response after a minute: %w; the log:\n%s", err, log.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
	fmt.Printf("The first response came after %.2f s.\n", time.Since(begin).Seconds())
	if message, err := run(append(config.Healthcheck.Test[1:], "--admin-listen",
		"127.0.0.1:19464")...).CombinedOutput(); err != nil {
		return fmt.Errorf("the health check: %w, %s", err, message)
	}
	fmt.Println("The health check succeeds.")
	return nil
}

// unpack writes the files of the image for this architecture to a folder. It returns the configuration of the image
// and the size of its layers.
func unpack(path, root string) (*v1.Config, int64, error) {
	folder, err := os.MkdirTemp("", "heliograph-layout-")
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // temporary
	archive, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = archive.Close() }() // only read
	if err := extract(archive, folder); err != nil {
		return nil, 0, err
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, 0, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, 0, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, 0, fmt.Errorf("the archive has %d entries; podman load and skopeo copy accept one",
			len(manifest.Manifests))
	}
	if index, err = index.ImageIndex(manifest.Manifests[0].Digest); err != nil {
		return nil, 0, err
	}
	if manifest, err = index.IndexManifest(); err != nil {
		return nil, 0, err
	}
	for _, d := range manifest.Manifests {
		if d.Platform.Architecture != runtime.GOARCH {
			continue
		}
		img, err := index.Image(d.Digest)
		if err != nil {
			return nil, 0, err
		}
		config, err := img.ConfigFile()
		if err != nil {
			return nil, 0, err
		}
		layers, err := img.Layers()
		if err != nil {
			return nil, 0, err
		}
		var size int64
		for _, l := range layers {
			n, err := l.Size()
			if err != nil {
				return nil, 0, err
			}
			size += n
		}
		files := mutate.Extract(img)
		defer func() { _ = files.Close() }() // only read
		return &config.Config, size, extract(files, root)
	}
	return nil, 0, fmt.Errorf("the image has nothing for %s", runtime.GOARCH)
}

// extract writes the files of a tar archive to a folder.
func extract(r io.Reader, folder string) error {
	files := tar.NewReader(r)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(folder, filepath.FromSlash(h.Name))
		if !filepath.IsLocal(filepath.FromSlash(h.Name)) {
			return fmt.Errorf("the archive has the path %s", h.Name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, content, os.FileMode(h.Mode)); err != nil {
			return err
		}
	}
}
