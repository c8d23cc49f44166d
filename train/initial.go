package train

import "fmt"

// beginWithInitial validates the initial model, where a run begins with one: it is the best
// until an epoch is better.
func (t *Trainer) beginWithInitial(h Hooks) error {
	if t.parts.Initial == nil || len(t.history) > 0 {
		return nil
	}
	vali, err := t.evaluateSplit(t.current, t.splits.Vali)
	if err == nil {
		t.initial = nil
		_, err = t.isBest(vali)
	}
	if err != nil {
		return fmt.Errorf("train: the initial model: %w", err)
	}
	t.initial = vali
	t.keepBest()
	if h.Initial != nil {
		err = h.Initial(vali)
	}
	return Agree(t.processes(), err)
}
