package rendezvous

import "github.com/gorge-tf/gorge/tf/core"

// transfer brings t, in the memory of the device that sends, into that of the
// device that receives. A device of another process stands for the host's
// memory, from and to which transports carry. It consumes t.
func (l *Local) transfer(key string, t *core.Tensor, dead bool) (*core.Tensor, error) {
	if l.devices == nil || dead || t == nil {
		return t, nil
	}
	src, dst := endpoints(key)
	if src == dst {
		return t, nil
	}
	var err error
	if d := l.devices.Lookup(src); d != nil && !t.Addressable() {
		if t, err = moved(t, d.ToHost); err != nil {
			return nil, err
		}
	}
	if d := l.devices.Lookup(dst); d != nil {
		return moved(t, d.FromHost)
	}
	return t, nil
}

// moved replaces t by its copy, unless the device shares t's memory.
func moved(t *core.Tensor, move func(*core.Tensor) (*core.Tensor, error)) (*core.Tensor, error) {
	m, err := move(t)
	if err != nil {
		t.Release()
		return nil, err
	}
	if m != t {
		t.Release()
	}
	return m, nil
}
