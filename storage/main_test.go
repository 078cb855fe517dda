package storage_test

import (
	"testing"

	"heliograph/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
