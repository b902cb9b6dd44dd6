package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// showMetaGraph lists the signatures of a MetaGraph.
func showMetaGraph(w io.Writer, mg *pb.MetaGraphDef) error {
	info := mg.GetMetaInfoDef()
	fmt.Fprintf(w, "tag_set %s  TensorFlow %s  %d nodes  %d functions\n", strings.Join(info.GetTags(), ","), info.GetTensorflowVersion(),
		len(mg.GetGraphDef().GetNode()), len(mg.GetGraphDef().GetLibrary().GetFunction()))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(mg.GetSignatureDef())) {
		if strings.HasPrefix(name, "__saved_model_") {
			continue
		}
		s := mg.GetSignatureDef()[name]
		fmt.Fprintf(t, "signature_def %s\t%s\n", name, s.GetMethodName())
		showTensors(t, "input", s.GetInputs(), s.GetDefaults())
		showTensors(t, "output", s.GetOutputs(), nil)
	}
	return t.Flush()
}

func showTensors(w io.Writer, kind string, infos map[string]*pb.TensorInfo, defaults map[string]*pb.TensorProto) {
	for _, key := range slices.Sorted(maps.Keys(infos)) {
		fmt.Fprintf(w, "  %s %s\t%s\t%s\t%s\n", kind, key, typeAndShape(infos[key]), tensorName(infos[key]), defaultText(defaults[key]))
	}
}

// typeAndShape writes a tensor's type and shape as errors do.
func typeAndShape(info *pb.TensorInfo) string {
	if info.GetCompositeTensor() != nil {
		return "composite"
	}
	shape := "[?]"
	if p := info.GetTensorShape(); p != nil {
		if s, err := core.ShapeFromProto(p); err == nil {
			shape = s.String()
		}
	}
	return core.DType(info.GetDtype()).String() + shape
}

func tensorName(info *pb.TensorInfo) string {
	if c := info.GetCooSparse(); c != nil {
		return "sparse: " + c.GetValuesTensorName() + " " + c.GetIndicesTensorName() + " " + c.GetDenseShapeTensorName()
	}
	if c := info.GetCompositeTensor(); c != nil {
		names := make([]string, len(c.GetComponents()))
		for i, part := range c.GetComponents() {
			names[i] = part.GetName()
		}
		return "composite: " + strings.Join(names, " ")
	}
	return info.GetName()
}

func defaultText(p *pb.TensorProto) string {
	if p == nil {
		return ""
	}
	t, err := core.TensorFromProto(p)
	if err != nil {
		return "default: " + err.Error()
	}
	return "default " + t.String()
}
