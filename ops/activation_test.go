package ops

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestActivationsAreReadByTheirNames(t *testing.T) {
	for _, name := range ActivationNames() {
		a, err := ParseActivation(name)
		if err != nil || a.String() != name {
			t.Errorf("%q: %v, %v", name, a, err)
		}
		text, err := json.Marshal(a)
		var back Activation
		if err != nil || json.Unmarshal(text, &back) != nil || back != a || string(text) != `"`+name+`"` {
			t.Errorf("%q: JSON %s gives %v", name, text, back)
		}
	}
	for a, name := range map[Activation]string{Identity: "none", Sigmoid: "sigmoid", Tanh: "tanh", ReLU: "relu", GELU: "gelu", SwiGLU: "swiglu"} {
		if a.String() != name {
			t.Errorf("activation %d is %v, want %s", int(a), a, name)
		}
	}
	if a, err := ParseActivation("linear"); err != nil || a != Identity {
		t.Errorf("linear: %v, %v", a, err)
	}
	_, err := ParseActivation("swish")
	if err == nil || !strings.Contains(err.Error(), `"swish"`) || !strings.Contains(err.Error(), "none, sigmoid, tanh, relu, gelu, swiglu") {
		t.Errorf("got %v", err)
	}
	if _, err := json.Marshal(Activation(7)); err == nil {
		t.Error("an activation that does not exist was written")
	}
}
