package debug

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A debugKey names a signal: of which output of which node on which device it
// tells, and what.
type debugKey struct {
	device, node string
	slot         int
	signal       string
}

// publish writes t as an event to a file under each of the directories that
// urls name, in the form in which TensorFlow's debugger reads it.
func (k debugKey) publish(t *core.Tensor, urls []string) error {
	if len(urls) == 0 {
		return nil
	}
	now := time.Now().UnixMicro()
	event, err := k.event(t, now)
	if err != nil {
		return err
	}
	var failed []string
	for _, url := range urls {
		base := core.LocalPath(filepath.Join(strings.TrimPrefix(url, "file://"), k.devicePath(), filepath.FromSlash(k.node)))
		if err := writeNew(fmt.Sprintf("%s_%d_%s_%d", base, k.slot, k.signal, now), event); err != nil {
			failed = append(failed, " "+core.FileError(base, err).Error()+";")
		}
	}
	if failed != nil {
		return tf.Errorf(tf.Internal, "Publishing to %d of %d debug target URLs failed, due to the following errors:%s", len(failed), len(urls), strings.Join(failed, ""))
	}
	return nil
}

// devicePath is the name of the directory of a device's signals:
// "_tfdbg_device_,job_worker,task_0".
func (k debugKey) devicePath() string {
	return "_tfdbg_device_" + strings.NewReplacer("/", ",", ":", "_").Replace(k.device)
}

func (k debugKey) event(t *core.Tensor, now int64) ([]byte, error) {
	tensor, err := core.EncodeTensor(t)
	if err != nil {
		return nil, err
	}
	content := fmt.Sprintf(`{"device":"%s","outputSlot":%d,"numChunks":1,"chunkIndex":0}`, k.device, k.slot)
	value := &pb.Summary_Value{
		Tag: k.node, NodeName: fmt.Sprintf("%s:%d:%s", k.node, k.slot, k.signal), Value: &pb.Summary_Value_Tensor{Tensor: tensor},
		Metadata: &pb.SummaryMetadata{PluginData: &pb.SummaryMetadata_PluginData{PluginName: "debugger", Content: []byte(content)}},
	}
	return proto.Marshal(&pb.Event{WallTime: float64(now), What: &pb.Event_Summary{Summary: &pb.Summary{Value: []*pb.Summary_Value{value}}}})
}

// writeNew writes a file of the given name or, if that is taken, one with a
// number behind it.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	name := path
	for i := 1; ; i++ {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if os.IsExist(err) && isFile(name) {
			name = fmt.Sprintf("%s-%d", path, i)
			continue
		}
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&fs.ModeType == 0
}
