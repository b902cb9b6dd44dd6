package eager

import (
	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/tf/core"
)

// alone does what devices do together for the one device of an eager graph. All
// its nodes are of one step, which goes on after a failure.
type alone struct{ *collective.Runtime }

// Do does the part of c's node, which is all there is.
func (a alone) Do(c *core.OpContext, p *core.Collective) error {
	err := a.Runtime.Do(c, p)
	if err != nil {
		a.Cleanup(c.ID)
	}
	return err
}
