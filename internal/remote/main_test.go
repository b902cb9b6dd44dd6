package remote

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
