package embedded

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDefaultDataDir(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	want := map[string]string{
		"linux":  filepath.Join(home, ".local/state/heliograph"),
		"darwin": filepath.Join(home, "Library/Application Support/heliograph"),
	}[runtime.GOOS]
	if os.Geteuid() == 0 {
		want = "/var/lib/heliograph"
	}
	if got, err := DefaultDataDir(); err != nil || (want != "" && got != want) {
		t.Errorf("the default is %s, %v, want %s", got, err, want)
	}
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if os.Geteuid() != 0 {
		want = filepath.Join(state, "heliograph")
	}
	if got, err := DefaultDataDir(); err != nil || (want != "" && got != want) {
		t.Errorf("with XDG_STATE_HOME, the default is %s, %v, want %s", got, err, want)
	}
	t.Setenv("XDG_STATE_HOME", "relative/is/ignored")
	t.Setenv("HOME", "")
	_, err := DefaultDataDir()
	if runtime.GOOS == "linux" && os.Geteuid() != 0 &&
		(err == nil || !strings.Contains(err.Error(), "HELIOGRAPH_DATA_DIR")) {
		t.Errorf("without a home: %v", err)
	}
}

func TestCacheDir(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", cache)
	want := filepath.Join(cache, "heliograph")
	if os.Geteuid() == 0 {
		want = "/var/cache/heliograph"
	}
	if dir := cacheDir(); dir != want {
		t.Errorf("the programs may lie in %s, want %s", dir, want)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if dir := cacheDir(); !filepath.IsAbs(dir) {
		t.Errorf("without a home, programs below the working directory may run: %s", dir)
	}
}
