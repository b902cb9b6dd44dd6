package xla_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf/optest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func init() { optest.Unsampled("XlaCallModule", "it takes a module; see TestModules") }
