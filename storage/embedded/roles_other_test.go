//go:build unix && !linux

package embedded

import (
	"errors"
	"testing"
)

func execWithoutCap(assignment) error { return errors.New("this system has no capabilities") }

func negligentParentRole(assignment) error { return errors.New("this system has no subreapers") }

func rootErrors(*testing.T) {}
