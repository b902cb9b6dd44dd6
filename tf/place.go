package tf

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// place gives o its name, device and control inputs, and adds it to the graph.
func (o *Operation) place(spec *Spec) (err error) {
	g := o.g
	if o.Name = g.uniqueName(spec.Name); !validName(o.Name) {
		return Errorf(InvalidArgument, "'%s' is not a valid node name", o.Name)
	}
	if g.Operation(o.Name) != nil {
		return Errorf(InvalidArgument, "Duplicate node name in graph: '%s'", o.Name)
	}
	if o.Device, err = g.deviceFor(&o.Node, spec); err != nil {
		return err
	}
	if err := o.checkKernels(); err != nil {
		return err
	}
	if o.control, err = controlInputs(g.dependenciesOf(o.in), spec.Control); err != nil {
		return err
	}
	if err := o.checkControl(); err != nil {
		return err
	}
	o.control = g.ownControl(o.control)
	if err := o.colocate(append(slices.Clip(inForce(&g.scope, &g.scope.groups)), spec.Colocate...), spec.Device); err != nil {
		return err
	}
	o.chooseGradient()
	o.markRecomputed()
	o.in = slices.Clone(o.in) // the list is the caller's
	if err := o.checkReach(); err != nil {
		return err
	}
	if err := o.joinContext(); err != nil {
		return err
	}
	g.published.add(o)
	g.noteDependent(o)
	return nil
}

// checkKernels refuses types that no device here computes, at the line that
// asks for them. An operation on a device of a kind that is not linked in passes:
// a session's target may have that kind.
func (o *Operation) checkKernels() error {
	d, err := ParseDevice(o.Device)
	if err != nil {
		return err
	}
	if d.Type != "" && d.Type != "CPU" {
		return nil
	}
	return core.CheckKernels(&o.Node)
}

// deviceFor returns the device that the scopes in force, the device function
// and the operation's own options ask for together.
func (g *Graph) deviceFor(n *core.Node, spec *Spec) (string, error) {
	d, err := ParseDevice(spec.Device)
	if err != nil {
		return "", err
	}
	d = inForce(&g.scope, &g.scope.device).Override(d)
	choose := inForce(&g.scope, &g.scope.chooseDevice)
	if choose == nil || len(spec.Colocate)+len(inForce(&g.scope, &g.scope.groups)) > 0 { // colocation is stronger
		return d.String(), nil
	}
	n.Device = d.String()
	f, err := ParseDevice(choose(n))
	return f.Override(d).String(), err
}

// errNoDependency refuses nil in the place of an operation to run after: without the error
// the order that a program asks for would be lost.
var errNoDependency = Errorf(InvalidArgument, "control dependencies must be operations, got nil")

// controlInputs joins lists of operations, each once.
func controlInputs(lists ...[]*Operation) (out []*Operation, err error) {
	for _, l := range lists {
		for _, op := range l {
			switch {
			case op == nil:
				return nil, errNoDependency
			case op.err != nil:
				return nil, op.err
			case !slices.Contains(out, op):
				out = append(out, op)
			}
		}
	}
	return out, nil
}

// colocate puts o on the device of other operations, whatever that will be:
// by attribute _class, in which o joins the groups that they are in. Device
// scopes do not count then, only a device that the operation itself asks for.
func (o *Operation) colocate(with []*Operation, asked string) error {
	if len(with) == 0 {
		return nil
	}
	with = slices.DeleteFunc(with, func(op *Operation) bool { return op != nil && op.g != o.g && op.g.encloses(o.g) })
	if len(with) == 0 {
		return nil
	}
	groups := map[string]bool{}
	for _, op := range with {
		switch {
		case op == nil:
			return Errorf(InvalidArgument, "ColocateWith needs an operation, got none")
		case op.err != nil:
			return op.err
		}
		for _, group := range op.colocationGroups() {
			groups[group] = true
		}
	}
	if dev := with[0].Device; dev != "" || asked == "" {
		o.Device = dev
	}
	o.Attrs["_class"] = slices.Sorted(maps.Keys(groups))
	return nil
}

// colocationPrefix begins the members of attribute _class that name nodes.
const colocationPrefix = "loc:@"

// colocationGroups returns the groups that op is in; one of its own if it has
// joined none.
func (op *Operation) colocationGroups() (groups []string) {
	for _, c := range op.Strs("_class") {
		if strings.HasPrefix(c, colocationPrefix) {
			groups = append(groups, c)
		}
	}
	if groups == nil {
		return []string{colocationPrefix + op.Name}
	}
	return groups
}
