package pgtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"go/build"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// module is the path of the module whose packages prepare templates.
const module = "heliograph"

// sources hashes the packages of the module that code consists of.
type sources struct {
	root string          // folder of the module
	seen map[string]bool // packages by import path
	sum  hash.Hash
}

// hashOf returns a hash of the files of a package, including its tests, of all packages of the module that it
// imports, directly or through others, and of go.sum. What only its tests import does not count. It is part of the
// name of a template, which is built again if the code changes.
func hashOf(path string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	return hashIn(root, path)
}

// hashIn returns the hash of a package and of those of the module that it imports, as [hashOf] does, for the module in
// the folder root.
func hashIn(root, path string) (string, error) {
	s := &sources{root: root, seen: map[string]bool{}, sum: sha256.New()}
	if err := errors.Join(s.file(filepath.Join(root, "go.sum")), s.add(path, true)); err != nil {
		return "", err
	}
	return hex.EncodeToString(s.sum.Sum(nil)[:6]), nil
}

// moduleRoot returns the folder of the module that contains the working directory, which is the folder of the tested
// package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module "+module+"\n")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("pgtest: the tests do not run in the module " + module)
		}
		dir = filepath.Dir(dir)
	}
}

// add adds a package and those that it imports to the hash, each once. tests includes its test files, but not what
// only they import. Folders without Go files belong to the package above them, for example embedded files; folders
// called testdata do not count.
func (s *sources) add(path string, tests bool) error {
	if s.seen[path] {
		return nil
	}
	s.seen[path] = true
	dir := filepath.Join(s.root, strings.TrimPrefix(path, module))
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir() && (tests || !strings.HasSuffix(file, "_test.go")):
			return s.file(file)
		case !entry.IsDir() || file == dir:
			return nil
		}
		code, err := filepath.Glob(filepath.Join(file, "*.go"))
		if err == nil && (len(code) > 0 || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		return err
	})
	parsed, failed := build.ImportDir(dir, 0)
	err = errors.Join(err, failed)
	if err != nil {
		return err
	}
	for _, path := range parsed.Imports {
		if strings.HasPrefix(path, module+"/") {
			err = errors.Join(err, s.add(path, false))
		}
	}
	return err
}

// file adds the name, size and content of a file to s.sum, the hash of the sources by which a stored database is
// found.
func (s *sources) file(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s.sum.Write([]byte(strings.TrimPrefix(file, s.root) + "\x00" + strconv.Itoa(len(text)) + "\x00"))
	s.sum.Write(text)
	return nil
}
