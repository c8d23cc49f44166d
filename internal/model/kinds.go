package model

import (
	"maps"
	"reflect"
	"slices"
	"sync"
)

// kinds has, for every kind of models, a part for each type that was registered.
var kinds = struct {
	sync.RWMutex
	parts map[string]map[reflect.Type]any
}{parts: map[string]map[reflect.Type]any{}}

// Register makes a part of a kind of models known: to package nn how it is read for graphs
// (nn.Reader), to package ranker its plain forward pass. It replaces a part of that kind and of
// the same type.
func Register[Part any](kind string, part Part) {
	kinds.Lock()
	defer kinds.Unlock()
	if kinds.parts[kind] == nil {
		kinds.parts[kind] = map[reflect.Type]any{}
	}
	kinds.parts[kind][reflect.TypeFor[Part]()] = part
}

// Registered is the part of that kind and type; ok is false if there is none.
func Registered[Part any](kind string) (part Part, ok bool) {
	kinds.RLock()
	defer kinds.RUnlock()
	part, ok = kinds.parts[kind][reflect.TypeFor[Part]()].(Part)
	return part, ok
}

// Kinds lists the kinds that have a part of that type.
func Kinds[Part any]() (names []string) {
	kinds.RLock()
	defer kinds.RUnlock()
	for _, kind := range slices.Sorted(maps.Keys(kinds.parts)) {
		if _, ok := kinds.parts[kind][reflect.TypeFor[Part]()]; ok {
			names = append(names, kind)
		}
	}
	return names
}
