package media_test

import (
	"testing"

	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
