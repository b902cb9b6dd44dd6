package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// methodFile declares the options of methods. Files import it, and what is
// generated of them does not: the package of the messages stays free of it.
const methodFile = "gorge/method.proto"

//go:embed method.proto
var methodProto string

// vocabulary finds methodFile.
type vocabulary struct{}

// FindFileByPath implements protocompile.Resolver.
func (vocabulary) FindFileByPath(name string) (protocompile.SearchResult, error) {
	if name != methodFile {
		return protocompile.SearchResult{}, fmt.Errorf("%s is not %s", name, methodFile)
	}
	return protocompile.SearchResult{Source: strings.NewReader(methodProto)}, nil
}

// A service is what a file declares of one.
type service struct {
	Name    string // without "Service"
	Wire    string // in paths of calls
	Doc     []string
	Methods []method
}

// A method is one that a service declares.
type method struct {
	Name, Request, Response string
	Stream                  bool
	Doc                     []string
	Call                    call
}

// A call has the options of a method, see method.proto.
type call struct {
	role                                    string
	audited, idempotent, prompt, wait       bool
	outlasts, routine, transfer, nonblocked bool
	answer                                  string
}

// servicesOf returns the services of the files that are generated, by file.
func servicesOf(files linker.Files) (map[string][]service, error) {
	out := map[string][]service{}
	for _, f := range files {
		for i := range f.Services().Len() {
			s, err := serviceOf(f.Services().Get(i))
			if err != nil {
				return nil, err
			}
			out[f.Path()] = append(out[f.Path()], s)
		}
	}
	return out, nil
}

func serviceOf(d protoreflect.ServiceDescriptor) (service, error) {
	s := service{Name: strings.TrimSuffix(string(d.Name()), "Service"), Wire: wireName(d.FullName()), Doc: docOf(d)}
	for i := range d.Methods().Len() {
		m, err := methodOf(d.Methods().Get(i))
		if err != nil {
			return s, err
		}
		s.Methods = append(s.Methods, m)
	}
	return s, nil
}

func methodOf(d protoreflect.MethodDescriptor) (method, error) {
	m := method{
		Name: string(d.Name()), Doc: docOf(d), Stream: d.IsStreamingClient(),
		Request: string(d.Input().Name()), Response: string(d.Output().Name()),
	}
	if d.IsStreamingClient() != d.IsStreamingServer() {
		return m, fmt.Errorf("a method must have a stream both ways or none: %s has one", d.FullName())
	}
	var err error
	m.Call, err = callOf(d)
	return m, err
}

// callOf reads the option gorge.method.call.
func callOf(d protoreflect.MethodDescriptor) (c call, err error) {
	d.Options().ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.FullName() == "gorge.method.call" {
			c.read(v.Message())
		}
		return true
	})
	if c.role == "" {
		return c, fmt.Errorf("a method must say by the option gorge.method.call which role may call it: %s does not", d.FullName())
	}
	return c, nil
}

func (c *call) read(m protoreflect.Message) {
	flags := map[protoreflect.Name]*bool{
		"audited": &c.audited, "idempotent": &c.idempotent, "prompt": &c.prompt, "wait_for_ready": &c.wait,
		"outlasts_silence": &c.outlasts, "routine": &c.routine, "transfer": &c.transfer, "nonblocking": &c.nonblocked,
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch f.Name() {
		case "role":
			name := string(f.Enum().Values().ByNumber(v.Enum()).Name())
			c.role = name[:1] + strings.ToLower(name[1:])
		case "answer":
			c.answer = v.String()
		default:
			*flags[f.Name()] = v.Bool()
		}
		return true
	})
}

// wireName is TensorFlow's name of what we declare in package gorge.
func wireName(n protoreflect.FullName) string {
	return "tensorflow" + strings.TrimPrefix(string(n), "gorge")
}

// docOf returns the lines of the comment before a declaration.
func docOf(d protoreflect.Descriptor) (lines []string) {
	text := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	for l := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(l))
	}
	return lines
}

// withoutServices takes services, and the file of their options, out of files:
// messages are generated of what is left.
func withoutServices(files []*descriptorpb.FileDescriptorProto) (out []*descriptorpb.FileDescriptorProto) {
	for _, f := range files {
		if f.GetName() == methodFile {
			continue
		}
		f.Service = nil
		f.Dependency = slices.DeleteFunc(f.Dependency, func(d string) bool { return d == methodFile })
		out = append(out, f)
	}
	return out
}
