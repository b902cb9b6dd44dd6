package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// An index holds the exported names of the packages below tf, such as "tf.Graph",
// "tf.Output.Add", "ops/linalg.Svd" and "session.Config.Target". A package is
// called by its path below tf, and tf itself "tf".
type index map[string]bool

// readIndex parses the packages below root/tf, without their tests.
func readIndex(root string) (index, error) {
	x, dir := index{}, filepath.Join(root, "tf")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(dir, filepath.Dir(name))
		if err != nil {
			return err
		}
		return x.file(name, packageName(filepath.ToSlash(rel)))
	})
	return x, err
}

// packageName is how the table calls the package of a directory below tf.
func packageName(rel string) string {
	if rel = path.Clean(rel); rel == "." {
		return "tf"
	}
	return rel
}

// file adds the exported names of one file.
func (x index) file(name, pkg string) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			x.function(d, pkg)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				x.spec(s, pkg)
			}
		}
	}
	return nil
}

func (x index) function(d *ast.FuncDecl, pkg string) {
	name := pkg + "."
	if d.Recv != nil && len(d.Recv.List) == 1 {
		t := receiver(d.Recv.List[0].Type)
		if !ast.IsExported(t) {
			return
		}
		name += t + "."
	}
	if d.Name.IsExported() {
		x[name+d.Name.Name] = true
	}
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// spec adds constants, variables, and types with their fields and methods.
func (x index) spec(s ast.Spec, pkg string) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				x[pkg+"."+n.Name] = true
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		name := pkg + "." + s.Name.Name
		x[name] = true
		for _, f := range fields(s.Type) {
			for _, n := range f.Names {
				if n.IsExported() {
					x[name+"."+n.Name] = true
				}
			}
		}
	}
}

// fields returns the fields of a struct or the methods of an interface.
func fields(t ast.Expr) []*ast.Field {
	switch t := t.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}
