package model

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/forward"
)

// The JSON of settings is the same in all model files since format 1: its bytes are part of digests.
func TestSettingsAreJSONOfModelFiles(t *testing.T) {
	mlp := Settings{Features: 3, Hidden: []int{4, 2}, Activation: forward.ReLU, Dropout: .5, Members: 2, Seed: 7}
	attention := mlp
	attention.Embeddings = []forward.Embedding{{Codes: 5, Width: 3}}
	attention.Attention = &Attention{Blocks: 1, Heads: 2}
	for _, c := range []struct {
		kind string
		s    Settings
		want string
	}{
		{MLP, mlp, `{"features":3,"hidden":[4,2],"activation":"relu","dropout":0.5,"members":2,"seed":7}`},
		{Transformer, attention, `{"features":3,"embeddings":[{"codes":5,"width":3}],"hidden":[4,2],"activation":"relu","dropout":0.5,"members":2,"seed":7,"blocks":1,"heads":2}`},
	} {
		text, err := json.Marshal(c.s)
		if err != nil || string(text) != c.want {
			t.Errorf("got %s (%v), want %s", text, err, c.want)
		}
		if back, err := Read(c.kind, text); err != nil || !reflect.DeepEqual(back, c.s) {
			t.Errorf("read %+v (%v), want %+v", back, err, c.s)
		}
	}
	if s, err := Read(MLP, []byte(`{"features":1,"blocks":3,"latentCross":true,"sharedMembers":1}`)); err != nil || s.Attention != nil {
		t.Errorf("an MLP with blocks: %+v, %v", s, err)
	}
}

// Arrays have the names of model files, each once, and their number is known beforehand.
func TestArraysAreCounted(t *testing.T) {
	s := Settings{Features: 3, Hidden: []int{4}, Members: 2, Embeddings: []forward.Embedding{{Codes: 5, Width: 3}}}
	names := func() (names []string) {
		for _, a := range s.Arrays() {
			names = append(names, a.Name)
		}
		return names
	}
	want := strings.Fields("m0.w0 m0.b0 m0.w1 m0.b1 m1.w0 m1.b0 m1.w1 m1.b1 embedding0")
	if got := names(); !slices.Equal(got, want) || s.count() != len(want) {
		t.Errorf("arrays %v, counted %d, want %v", got, s.count(), want)
	}
	s.Attention = &Attention{Blocks: 3}
	if got := len(names()); s.count() != got {
		t.Errorf("%d arrays, counted %d", got, s.count())
	}
	s.Members, s.Embeddings, s.Attention = 1, []forward.Embedding{{Codes: 5, Width: 3}}, &Attention{Blocks: 1}
	want = strings.Fields(`w0 b0 w1 b1 embedding0
		block0.qkv.w block0.qkv.b block0.merge.w block0.merge.b block0.up.w block0.up.b block0.down.w block0.down.b
		block0.norm1.gain block0.norm1.bias block0.norm2.gain block0.norm2.bias norm.gain norm.bias`)
	if got := names(); !slices.Equal(got, want) || s.count() != len(want) {
		t.Errorf("arrays %v, counted %d, want %v", got, s.count(), want)
	}
}

// Settings of models that are not computed any more are refused, and not read as of another model.
func TestDroppedSettingsAreErrors(t *testing.T) {
	for want, c := range map[string][2]string{
		"4 shared members": {MLP, `{"features":1,"hidden":[2],"sharedMembers":4}`},
		"a latent cross":   {Transformer, `{"features":1,"hidden":[2],"blocks":1,"heads":1,"latentCross":true}`},
	} {
		if _, err := Read(c[0], []byte(c[1])); !errors.Is(err, ErrDropped) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}
