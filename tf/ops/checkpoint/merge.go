package checkpoint

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func merge(n *core.Node) (core.Kernel, error) {
	deleteDirs, allowMissing := n.Bool("delete_old_dirs"), n.Bool("allow_missing_files")
	return core.Compute(func(c *core.OpContext) error {
		if s := c.Input(0).Shape(); len(s) != 1 {
			return tf.Errorf(tf.InvalidArgument, "Input checkpoint_prefixes should be an 1-D tensor, got %s instead.", s.String())
		}
		if s := c.Input(1).Shape(); len(s) != 0 {
			return tf.Errorf(tf.InvalidArgument, "Input destination_prefix should be a scalar tensor, got %s instead.", s.String())
		}
		prefixes, dest := core.Data[string](c.Input(0)), core.Data[string](c.Input(1))[0]
		if err := bundle.Merge(prefixes, dest, allowMissing); err != nil {
			return err
		}
		if deleteDirs {
			deleteDirsOf(prefixes, filepath.Dir(core.LocalPath(dest)))
		}
		return nil
	}), nil
}

// deleteDirsOf deletes the directories of prefixes, but for one. Those in which
// there is something else stay, unless they were made for parts alone; several
// prefixes may have had the same one.
func deleteDirsOf(prefixes []string, except string) {
	for _, p := range prefixes {
		switch dir := filepath.Dir(core.LocalPath(p)); {
		case dir == except:
		case strings.HasSuffix(dir, "_temp"): // a saver that died may have left parts
			bundle.SweepDir(dir)
		default:
			_ = os.Remove(dir)
		}
	}
}
