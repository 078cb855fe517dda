// Command release writes what belongs to a release next to its binaries: third-party licences, a list of components
// (CycloneDX), an OCI image, and checksums. The same binaries give the same files.
//
//	release -out DIR -version VERSION -date DATE
//	release -out DIR -check
//
// The folder has a binary heliograph-OS-ARCH for each platform. The command runs in a checkout of the module whose
// binaries they are.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "dist", "folder of the binaries and of the results")
	version := flag.String("version", "", "version of the release")
	date := flag.String("date", "", "date of the commit (RFC 3339), the time of all files in the image")
	source := flag.String("source", ".", "checkout of the module")
	check := flag.Bool("check", false,
		"only run the image of the folder in a chroot, on the database at HELIOGRAPH_DATABASE_URL if it is set; "+
			"needs root")
	flag.Parse()
	if *check {
		if err := checkImage(*out, os.Getenv("HELIOGRAPH_DATABASE_URL")); err != nil {
			fmt.Fprintln(os.Stderr, "release:", err)
			os.Exit(1)
		}
		return
	}
	if err := release(*out, *version, *date, *source); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(out, version, date, source string) error {
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return fmt.Errorf("the date of the commit: %w", err)
	}
	binaries, err := filepath.Glob(filepath.Join(out, "heliograph-*-*"))
	if err != nil || len(binaries) == 0 {
		return errors.Join(err, fmt.Errorf("%s has no binaries: run make release", out))
	}
	parts, err := components(source, binaries)
	if err != nil {
		return err
	}
	notice, err := notice(parts)
	if err != nil {
		return err
	}
	bom, err := billOfMaterials(version, at, parts)
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(source, "LICENSE"))
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"NOTICE": notice, "LICENSE": licence, "heliograph.cdx.json": bom} {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	if err := writeImage(out, version, at, map[string][]byte{"NOTICE": notice, "LICENSE": licence}); err != nil {
		return fmt.Errorf("the image: %w", err)
	}
	return checksums(out)
}

// checksums writes SHA256SUMS, in the format of sha256sum.
func checksums(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		if e.IsDir() || e.Name() == "SHA256SUMS" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+e.Name()+"\n")
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
