package statuspages_test

import (
	"testing"

	"heliograph/internal/testing/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
