package main

import (
	"go/types"
	"strings"
)

// generic reports types that need type arguments.
func generic(t types.Type) bool {
	switch t := t.(type) {
	case *types.Named:
		return t.TypeParams().Len() > t.TypeArgs().Len()
	case *types.Alias:
		return t.TypeParams().Len() > t.TypeArgs().Len()
	}
	return false
}

// implementable reports interfaces that other packages can implement: all methods,
// and all types in them, have names there.
func implementable(iface *types.Interface) bool {
	for i := range iface.NumMethods() {
		m := iface.Method(i)
		if !m.Exported() || !nameable(m.Type(), map[types.Type]bool{}) {
			return false
		}
	}
	return true
}

// nameable reports types that another package can write down; seen are those that
// are being looked at.
func nameable(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	named := func(o *types.TypeName, args *types.TypeList) bool {
		if o.Pkg() != nil && (!o.Exported() || strings.Contains("/"+o.Pkg().Path()+"/", "/internal/")) {
			return false
		}
		for i := range args.Len() {
			if !nameable(args.At(i), seen) {
				return false
			}
		}
		return true
	}
	switch t := t.(type) {
	case *types.Named:
		return named(t.Obj(), t.TypeArgs())
	case *types.Alias:
		return named(t.Obj(), t.TypeArgs())
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for i := range tuple.Len() {
				if !nameable(tuple.At(i).Type(), seen) {
					return false
				}
			}
		}
	case *types.Map:
		return nameable(t.Key(), seen) && nameable(t.Elem(), seen)
	case interface{ Elem() types.Type }:
		return nameable(t.Elem(), seen)
	case *types.Struct:
		for i := range t.NumFields() {
			if !t.Field(i).Exported() || !nameable(t.Field(i).Type(), seen) {
				return false
			}
		}
	case *types.Interface:
		for i := range t.NumMethods() {
			if !t.Method(i).Exported() || !nameable(t.Method(i).Type(), seen) {
				return false
			}
		}
	}
	return true
}
