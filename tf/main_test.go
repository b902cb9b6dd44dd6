package tf_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	_ "github.com/gorge-tf/gorge/tf/ops" // the operations that the tests add
)

func TestMain(m *testing.M) { leaktest.Main(m) }
