package checkpoint

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "GenerateVocabRemapping", In: "new_vocab_file: string; old_vocab_file: string", Out: "remapping: int64; num_present: int32",
		Attrs: "new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1",
		Shape: vocabularyShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(remapVocabulary),
	})
}

// OldVocabSize is the optional attribute of GenerateVocabRemapping: how many
// lines of the old file count. All do, if it is not given.
type OldVocabSize int

// Apply sets the attribute.
func (n OldVocabSize) Apply(s *tf.Spec) { s.Set("old_vocab_size", int(n)) }

// GenerateVocabRemapping returns where count words of a file, those from line
// offset on, stand in another one, or -1, and how many of them do. The names
// of the files, which have a word a line, are scalars. remapping is an int64
// vector of count elements, present an int32 scalar. Names that are no scalars
// are refused with INVALID_ARGUMENT, when the graph is built if the shapes are
// known, else in the step. So are, in the step, an empty name, a new file with
// fewer than offset + count lines, and an old one with fewer than
// OldVocabSize; a file that is not there with NOT_FOUND.
// Its options are [OldVocabSize].
func GenerateVocabRemapping(newFile, oldFile tf.Output, offset, count int, opts ...tf.Option) (remapping, present tf.Output) {
	o := tf.Apply(nil, "GenerateVocabRemapping", []tf.Output{newFile, oldFile}, tf.Join(opts, tf.Attr("new_vocab_offset", offset), tf.Attr("num_new_vocab", count))...)
	return o.Output(0), o.Output(1)
}

func vocabularyShape(c *core.Infer) error {
	for i := range 2 {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	c.Set(0, tf.Shape{c.Int("num_new_vocab")})
	c.Set(1, tf.Shape{})
	return nil
}

func remapVocabulary(n *core.Node) (core.Kernel, error) {
	offset, count, limit := n.Int("new_vocab_offset"), n.Int("num_new_vocab"), n.Int("old_vocab_size")
	// As a kernel that can wait it is not computed in advance: files change.
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		words, err := vocabulary(c, 0, "new_vocab_file")
		if err == nil && (offset > len(words) || count > len(words)-offset) {
			err = tf.Errorf(tf.InvalidArgument, "lookup table size must be larger than last new vocab entry's line")
		}
		var old []string
		if err == nil {
			old, err = vocabulary(c, 1, "old_vocab_file")
		}
		if err == nil && limit > len(old) {
			err = tf.Errorf(tf.InvalidArgument, "Invalid vocab_size in %s: expected %d but got %d", core.Data[string](c.Input(1))[0], limit, len(old))
		}
		if err != nil {
			done(err)
			return
		}
		if limit >= 0 {
			old = old[:limit]
		}
		done(remapWords(c, words[offset:offset+count], old))
	}), nil
}

// remapWords sets the outputs.
func remapWords(c *core.OpContext, words, old []string) error {
	lines := make(map[string]int64, len(old))
	for i, w := range old {
		lines[w] = int64(i)
	}
	t, err := c.Alloc(0, tf.Int64, tf.Shape{len(words)})
	if err != nil {
		return err
	}
	present := int32(0)
	for i, w := range words {
		line, ok := lines[w]
		if ok {
			present++
		} else {
			line = -1
		}
		core.Data[int64](t)[i] = line
	}
	c.Set(1, core.Scalar(present))
	return nil
}

// vocabulary reads the lines of the file that input i names.
func vocabulary(c *core.OpContext, i int, what string) ([]string, error) {
	if s := c.Input(i).Shape(); len(s) != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "%s should be a single string, but got %s", what, s.String())
	}
	name := core.Data[string](c.Input(i))[0]
	if name == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "new vocab filename cannot be empty.")
	}
	text, err := core.ReadFile(c.StepContext(), name)
	if err != nil {
		return nil, err
	}
	core.Room(len(text) + 16*strings.Count(text, "\n")) // what follows copies it, and makes as many strings
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r", ""), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}
