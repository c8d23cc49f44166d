// Package model describes the built-in kinds of models, for all that use them: the settings
// that a model file has, with their limits ([Settings]); the layers and the arrays of weights
// that follow from these ([Member], [Array]); how a graph is built of them ([Build]); and the
// scores, on plain slices ([Pass]).
//
// Package nn builds graphs for Gorgonia, and package ranker scores and writes graphs in ONNX
// format. Neither imports the other.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/forward"
)

// The built-in kinds, as model files name them.
const (
	MLP         = "mlp"
	Transformer = "attention"
)

// BuiltIn lists them.
var BuiltIn = []string{MLP, Transformer}

// ErrDropped is returned for settings of versions before v0.1.0 that later versions do not compute.
var ErrDropped = errors.New("not computed from v0.1.0 on")

// Limits. Settings multiply: a short file could ask for any number of arrays, which take memory when they are listed.
const (
	maxMembers = 1000
	maxBlocks  = 1000
	maxArrays  = 100_000
)

// Settings describe a model of a built-in kind, in the form of a model file. nn.MLPConfig and
// nn.TransformerConfig have the documentation of the fields.
type Settings struct {
	Features   int                 `json:"features"`
	Bins       []int               `json:"bins,omitempty"` // of the features before the codes; nil: the first layer sees these as they are
	Embeddings []forward.Embedding `json:"embeddings,omitempty"`
	Hidden     []int               `json:"hidden"`
	Activation forward.Activation  `json:"activation"`
	Dropout    float64             `json:"dropout"`
	Members    int                 `json:"members"` // 0: 1
	Seed       uint64              `json:"seed"`

	*Attention // nil: an MLP
}

// Attention has the further settings of a transformer.
type Attention struct {
	Blocks int `json:"blocks"`
	Heads  int `json:"heads"` // 0: 1
}

// Read reads the settings of a built-in kind of models, and checks them.
func Read(kind string, text []byte) (Settings, error) {
	s, name := Settings{}, "an MLP"
	if kind == Transformer {
		s.Attention, name = &Attention{}, "a transformer"
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("settings of %s: %w", name, err)
	}
	if kind == MLP {
		s.Attention = nil // fields of the same names mean nothing
	}
	var dropped struct {
		SharedMembers int
		LatentCross   bool
	}
	switch err := json.Unmarshal(text, &dropped); {
	case err != nil:
		return s, fmt.Errorf("settings of %s: %w", name, err)
	case dropped.SharedMembers > 1:
		return s, fmt.Errorf("%d shared members: %w", dropped.SharedMembers, ErrDropped)
	case dropped.LatentCross && kind == Transformer:
		return s, fmt.Errorf("a latent cross: %w", ErrDropped)
	}
	return s, s.Check()
}

// Check reports settings that no model can have.
func (s Settings) Check() error {
	narrow := slices.IndexFunc(s.Hidden, func(width int) bool { return width < 1 })
	table := slices.IndexFunc(s.Embeddings, func(e forward.Embedding) bool { return e.Codes < 1 || e.Width < 1 })
	switch numbers := s.Features - len(s.Embeddings); {
	case s.Features < 1:
		return fmt.Errorf("%d features: a model needs one or more", s.Features)
	case s.Members < 0 || s.Members > maxMembers:
		return fmt.Errorf("%d members: want 1 to %d", s.Members, maxMembers)
	case narrow >= 0:
		return fmt.Errorf("hidden layer %d has width %d, want 1 or more", narrow+1, s.Hidden[narrow])
	case !s.Activation.Valid():
		return fmt.Errorf("no such activation: %d", int(s.Activation))
	case numbers < 0:
		return fmt.Errorf("%d embeddings for %d features", len(s.Embeddings), s.Features)
	case s.Bins != nil && len(s.Bins) != numbers:
		return fmt.Errorf("bins of %d features: want %d, one number for each feature but codes", len(s.Bins), numbers)
	case table >= 0:
		e := s.Embeddings[table]
		return fmt.Errorf("embedding %d has %d codes and a width of %d: want 1 or more of both", table, e.Codes, e.Width)
	case s.Attention == nil:
	case len(s.Hidden) == 0:
		return errors.New("no hidden layers: blocks of attention need one or more before them")
	case s.Blocks < 0 || s.Blocks > maxBlocks:
		return fmt.Errorf("%d blocks: want 0 to %d", s.Blocks, maxBlocks)
	case s.Attention.Heads < 0 || s.Width()%s.Heads() != 0:
		return fmt.Errorf("%d heads: want a number that divides %d, the width of the last hidden layer", s.Attention.Heads, s.Width())
	}
	if err := forward.CheckBins(s.Bins, s.Features); err != nil {
		return err
	}
	if n := s.count(); n > maxArrays {
		return fmt.Errorf("%d arrays of weights: want %d at most, by fewer members, layers or blocks", n, maxArrays)
	}
	return nil
}

// Heads returns the number of heads of each attention.
func (s Settings) Heads() int { return max(1, s.Attention.Heads) }

// Width returns the width of the last hidden layer, and of the blocks behind it.
func (s Settings) Width() int { return s.Hidden[len(s.Hidden)-1] }

// Inputs returns the number of columns that the first layer sees.
func (s Settings) Inputs() int { return forward.EmbeddedWidth(s.Features, s.Embeddings) }
