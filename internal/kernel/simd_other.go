//go:build !amd64 || noasm

package kernel

// level is an instruction set; here there is none to choose from.
type level struct {
	name      string
	available bool
}

func levels() []level { return []level{{"portable", true}} }

func (level) use() {}
