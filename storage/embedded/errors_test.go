//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// wantError checks that an error message contains the given texts and names the start as the failed operation.
func wantError(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range append(want, "starting the embedded PostgreSQL: ") {
		if !strings.Contains(got, w) {
			t.Errorf("the error is\n%s\nand does not say %q", got, w)
		}
	}
}

// fakePrograms creates programs that only print a version.
func fakePrograms(t *testing.T, version string) (dir string) {
	t.Helper()
	dir = filepath.Join(tempDir(t), "bin")
	write(t, filepath.Join(dir, "postgres"), "#!/bin/sh\necho 'postgres (PostgreSQL) "+version+"'\n", 0o755)
	write(t, filepath.Join(dir, "initdb"), "#!/bin/sh\nexit 1\n", 0o755)
	return dir
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// installed returns the PostgreSQL programs of this machine.
func installed(t *testing.T) binaries {
	t.Helper()
	b, err := find(t.Context(), Options{BinDir: os.Getenv("HELIOGRAPH_PG_BINDIR")}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestErrors is not parallel. A script cannot be executed while it is being written and another process is started.
func TestErrors(t *testing.T) {
	major := installed(t).major
	const unknown = 99 // a major version that is not installed
	cluster := func(t *testing.T, dirMajor int, version string) string {
		base := tempDir(t)
		write(t, filepath.Join(newLayout(base, dirMajor).data, "PG_VERSION"), version+"\n", 0o644)
		return base
	}
	for _, test := range []struct {
		name    string
		options func(t *testing.T) Options
		is      error
		want    []string
	}{
		{"no server", func(t *testing.T) Options {
			return Options{folders: []string{"/nowhere"}}
		}, ErrNoServer, []string{
			"no usable PostgreSQL server found; it takes version 14 or newer, with initdb and the extensions " +
				"btree_gist and pg_trgm.\n",
			"\n  1. install PostgreSQL with the system's package manager",
			"\n  2. set HELIOGRAPH_PG_BINDIR ",
			"\n  3. set HELIOGRAPH_DATABASE_URL ",
		}},
		{"only unusable servers", func(t *testing.T) Options {
			return Options{folders: []string{
				fakePrograms(t, "9.6.24"),
			}}
		}, ErrNoServer, []string{
			"\nPassed over:\n", "bin: PostgreSQL 9.6.24 is older than 14",
			"3. set HELIOGRAPH_DATABASE_URL",
		}},
		{"chosen server is not there", func(t *testing.T) Options {
			return Options{BinDir: "/nowhere"}
		}, os.ErrNotExist, []string{"HELIOGRAPH_PG_BINDIR is set to /nowhere, which is unusable: "}},
		{"chosen server is too old", func(t *testing.T) Options {
			return Options{BinDir: fakePrograms(t, "13.2 (Debian)")}
		}, nil, []string{"HELIOGRAPH_PG_BINDIR is set to /", "PostgreSQL 13.2 is older than 14"}},
		{"chosen server is something else", func(t *testing.T) Options {
			return Options{BinDir: fakePrograms(t, "eleven")}
		}, nil, []string{`unexpected output of postgres --version: "postgres (PostgreSQL) eleven"`}},
		{"data of another major version", func(t *testing.T) Options {
			return Options{DataDir: cluster(t, unknown, strconv.Itoa(unknown))}
		}, ErrOtherVersion, []string{
			fmt.Sprintf("holds data of PostgreSQL %d, but found is %d", unknown, major),
			"Nothing was changed", fmt.Sprintf("Install PostgreSQL %d", unknown), "choose another data folder",
		}},
		{"data of another major version than the chosen server", func(t *testing.T) Options {
			return Options{DataDir: cluster(t, unknown, strconv.Itoa(unknown)), BinDir: installed(t).dir}
		}, ErrOtherVersion, []string{"holds data of PostgreSQL", "Nothing was changed"}},
		{"data in the wrong folder", func(t *testing.T) Options {
			return Options{DataDir: cluster(t, major, "14")}
		}, ErrOtherVersion, []string{"/data is of PostgreSQL 14, but ", "Nothing was changed"}},
		{"data that are something else", func(t *testing.T) Options {
			base := tempDir(t)
			write(t, filepath.Join(newLayout(base, major).data, "notes.txt"), "", 0o644)
			return Options{DataDir: base}
		}, os.ErrNotExist, []string{"/data is not a PostgreSQL data folder"}},
		{"file in the place of the folder", func(t *testing.T) Options {
			path := filepath.Join(tempDir(t), "file")
			write(t, path, "", 0o644)
			return Options{DataDir: filepath.Join(path, "data")}
		}, nil, []string{"making the data folder: ", "not a directory"}},
		{"server that ends at once", func(t *testing.T) Options {
			return Options{DataDir: tempDir(t), Settings: map[string]string{"shared_buffers": "plenty"}}
		}, nil, []string{
			"PostgreSQL ended by itself (exit status 1): ", `invalid value for parameter "shared_buffers": "plenty"`,
			"/postgres.log)",
		}},
		{"initdb that fails", func(t *testing.T) Options {
			return Options{DataDir: tempDir(t), BinDir: fakePrograms(t, "15.1")}
		}, nil, []string{"initdb: exit status 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := test.options(t)
			if o.DataDir == "" {
				o.DataDir = tempDir(t)
			}
			before := files(t, o.DataDir)
			s, err := Start(t.Context(), o)
			if err == nil {
				_ = s.Stop(t.Context())
				t.Fatal("the server starts")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
			wantError(t, err.Error(), test.want...)
			after := files(t, o.DataDir)
			for path := range before {
				if !after[path] {
					t.Errorf("%s was removed", path)
				}
			}
		})
	}
	if os.Geteuid() == 0 {
		rootErrors(t)
		t.Run("closed folder above the data", func(t *testing.T) { closedFolder(t, "data") })
		t.Run("closed folder above the programs", func(t *testing.T) { closedFolder(t, "programs") })
	}
}

// files returns the paths of all files below dir.
func files(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found[path] = true
		}
		return nil // the folder does not exist yet
	})
	return found
}

// closedFolder puts the data or the programs in a folder that only root can access.
func closedFolder(t *testing.T, what string) {
	closed := filepath.Join(tempDir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	o := Options{DataDir: filepath.Join(closed, "data")}
	if what == "programs" {
		o.DataDir, o.BinDir = tempDir(t), filepath.Join(closed, "bin")
		if err := os.Symlink(installed(t).dir, o.BinDir); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Start(t.Context(), o)
	if err == nil {
		_ = s.Stop(t.Context())
		t.Fatal("the server starts")
	}
	wantError(t, err.Error(), "because root may not, cannot reach /", closed, "chmod o+x ")
}

func TestParseVersion(t *testing.T) {
	for line, want := range map[string]string{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)": "15.18 15",
		"postgres (PostgreSQL) 18.4":                           "18.4 18",
		"postgres (PostgreSQL) 19beta1":                        "19beta1 19",
		"postgres (PostgreSQL) 9.6.24":                         "9.6.24 9",
		"postgres (PostgreSQL)":                                " 0",
		"postgres (PostgreSQL) devel":                          " 0",
		"postgres (EnterpriseDB) 15.1":                         " 0",
		"":                                                     " 0",
	} {
		version, major, err := parseVersion(line)
		if got := fmt.Sprint(version, " ", major); got != want || (err == nil) != (major > 0) {
			t.Errorf("%q is parsed as %s (%v), want %s", line, got, err, want)
		}
	}
}

// TestFind searches among fake programs. It is not parallel, for the same reason as TestErrors.
func TestFind(t *testing.T) {
	v15, v16, v17 := fakePrograms(t, "15.9"), fakePrograms(t, "16.2"), fakePrograms(t, "17.1")
	second17 := fakePrograms(t, "17.9")
	for _, test := range []struct {
		name    string
		folders []string
		majors  []int
		want    string
	}{
		{"newest", []string{v15, v17, v16}, nil, v17},
		{"first of the same version", []string{v15, v17, second17}, nil, v17},
		{"that of the data", []string{v15, v17, v16}, []int{16}, v16},
		{"newest with data", []string{v15, v17, v16}, []int{14, 15, 16}, v16},
		{"same folder twice", []string{v15, v15}, nil, v15},
	} {
		b, err := find(t.Context(), Options{folders: test.folders}, "/data", test.majors)
		if err != nil || b.dir != test.want {
			t.Errorf("%s: %s %s, %v", test.name, b.version, b.dir, err)
		}
	}
	if b, err := find(t.Context(), Options{folders: []string{v15, v17}}, "/data", []int{16, 14}); !errors.Is(err,
		ErrOtherVersion) {
		t.Errorf("none for the data: %s, %v", b.version, err)
	}
}

func TestSearchFolders(t *testing.T) {
	onPath, cache := fakePrograms(t, "15.9"), tempDir(t)
	t.Setenv("PATH", onPath)
	t.Setenv("XDG_CACHE_HOME", cache)
	unpacked := filepath.Join(cache, "heliograph", "postgresql", "16.14", "bin")
	if err := os.MkdirAll(unpacked, 0o755); err != nil {
		t.Fatal(err)
	}
	dirs := searchFolders(t.Context())
	if len(dirs) == 0 || dirs[0] != onPath {
		t.Errorf("PATH does not come first in %v", dirs)
	}
	// Root does not search the folders of a user.
	if last := dirs[len(dirs)-1]; (last == unpacked) != (os.Geteuid() != 0) {
		t.Errorf("the last place is %s; the user's cache has %s", last, unpacked)
	}
}
