package session_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

// TestMain fails if a goroutine outlives its session.
func TestMain(m *testing.M) { leaktest.Main(m) }
