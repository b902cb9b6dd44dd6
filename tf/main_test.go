package tf_test

import (
	"testing"

	"go.uber.org/goleak"

	_ "github.com/gorge-tf/gorge/tf/ops" // the operations that the tests add
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
