package core

// SessionTensors keeps tensors between the steps of a session, each under a
// handle that a client can feed to later steps.
type SessionTensors interface {
	// Add keeps t, of which it takes a reference of its own, if a step ends well
	// that fetches the handle.
	Add(step int64, node, device string, t *Tensor) (handle string, err error)
	// Get returns a tensor that has been kept, of which the caller owns a
	// reference.
	Get(handle string) (*Tensor, error)
	// Delete gives up a tensor.
	Delete(handle string) error
}
