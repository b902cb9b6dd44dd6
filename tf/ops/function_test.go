package ops_test

import "github.com/gorge-tf/gorge/tf/optest"

func init() {
	const calls = "calls functions of a library: see the tests of package step"
	for _, op := range []string{"PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "SymbolicGradient", "FakeParam", "DeviceIndex",
		"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "_If", "_While", "For", "ToBool"} {
		optest.Unsampled(op, calls)
	}
}
