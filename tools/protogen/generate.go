package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// generate returns the Go file of every .proto file in own, by base name, and the
// services that they declare, by file. The files may import those of more, too.
func generate(ctx context.Context, own, more sources) (map[string]string, map[string][]service, error) {
	names, err := protoFiles(own.dir, own.prefix)
	if err != nil {
		return nil, nil, err
	}
	files, err := compile(ctx, protocompile.CompositeResolver{own, more, vocabulary{}}, names)
	if err != nil {
		return nil, nil, err
	}
	services, err := servicesOf(files)
	if err != nil {
		return nil, nil, err
	}
	messages, err := goFiles(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		ProtoFile:      withoutServices(withDependencies(files)),
	})
	return messages, services, err
}

// protoFiles lists the .proto files of dir under the names that they import
// each other by.
func protoFiles(dir, prefix string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("a directory must hold .proto files: %s holds none", dir)
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = path.Join(prefix, filepath.Base(p))
	}
	return names, nil
}

// compile parses and links the named files. Comments are kept, because they
// become the doc comments of the Go code.
func compile(ctx context.Context, from protocompile.Resolver, names []string) (linker.Files, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(from),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	return compiler.Compile(ctx, names...)
}

// sources finds prefix/x.proto as dir/x.proto: the registered names must not
// follow the place of the files in the repository, which may move.
type sources struct{ dir, prefix string }

// FindFileByPath implements protocompile.Resolver.
func (s sources) FindFileByPath(name string) (protocompile.SearchResult, error) {
	base, ok := strings.CutPrefix(name, s.prefix+"/")
	if !ok || s.prefix == "" {
		return protocompile.SearchResult{}, os.ErrNotExist
	}
	f, err := os.Open(filepath.Join(s.dir, base))
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Source: f}, nil // the compiler closes it
}

// withDependencies lists the files after everything that they import, the order
// that a generator is promised.
func withDependencies(files linker.Files) []*descriptorpb.FileDescriptorProto {
	var sorted []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var visit func(protoreflect.FileDescriptor)
	visit = func(fd protoreflect.FileDescriptor) {
		if seen[fd.Path()] {
			return
		}
		seen[fd.Path()] = true
		for i := range fd.Imports().Len() {
			visit(fd.Imports().Get(i).FileDescriptor)
		}
		sorted = append(sorted, protoutil.ProtoFromFileDescriptor(fd))
	}
	for _, f := range files {
		visit(f)
	}
	return sorted
}

// goFiles runs protoc-gen-go on the request.
func goFiles(req *pluginpb.CodeGeneratorRequest) (map[string]string, error) {
	req.Parameter = proto.String("paths=source_relative")
	plugin, err := protogen.Options{}.New(req)
	if err != nil {
		return nil, err
	}
	for _, f := range plugin.Files {
		if f.Generate {
			internal_gengo.GenerateFile(plugin, f)
		}
	}
	resp := plugin.Response()
	if resp.Error != nil {
		return nil, errors.New(resp.GetError())
	}
	out := make(map[string]string, len(resp.File))
	for _, f := range resp.File {
		out[path.Base(f.GetName())] = f.GetContent()
	}
	return out, nil
}
