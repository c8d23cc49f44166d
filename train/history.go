package train

import "math"

// A history is the hook that keeps the lines of epochs.
type history struct {
	NopHook
	metric  criterion
	epochs  []Epoch
	initial Values // of the initial model on the validation split; nil: there is none
}

func (h *history) AfterEpoch(e Epoch) error {
	h.epochs = append(h.epochs, e)
	return nil
}

func (h *history) State() State {
	return State{Values: map[string]any{"history": &h.epochs, "initial": &h.initial}}
}

// best is the index of the best epoch, −1 if there is none.
func (h *history) best() int {
	for i := len(h.epochs) - 1; i >= 0; i-- {
		if h.epochs[i].Best {
			return i
		}
	}
	return -1
}

// closer reports whether an epoch is better than the best one, where its validation value is better or not: the one whose targets lack
// less is.
func (h *history) closer(e *Epoch, better bool) bool {
	i := h.best()
	if i < 0 {
		return true
	}
	if was, is := h.epochs[i].Lack(), e.Lack(); was != is {
		return is < was
	}
	return better
}

// bestValue is the best validation value until now, NaN if there is none.
func (h *history) bestValue() float64 {
	values := h.initial
	if i := h.best(); i >= 0 {
		values = h.epochs[i].Vali
	}
	if v, ok := values[h.metric.name]; ok {
		return float64(v)
	}
	return math.NaN()
}

// patience is the hook that ends a run after Config.Epochs, or where Config.Patience epochs in a
// row were not better than the best one; 0: never for that.
type patience struct {
	NopHook
	history          *history
	epochs, patience int
}

func (p *patience) Done() bool {
	done := len(p.history.epochs)
	return done >= p.epochs || p.patience > 0 && done-1-p.history.best() >= p.patience
}
