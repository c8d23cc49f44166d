package batches

import "testing"

// A panic in a part, or a hook, of one's own gets out when nothing works on the data any more.
func TestPanicWaitsForPacking(t *testing.T) {
	packed := false
	b := &Step{Next: func() { packed = true }}
	func() {
		defer func() {
			if p := recover(); p != "mine" {
				t.Errorf("panic %v", p)
			}
		}()
		with(b, func(*Step) error { panic("mine") })
	}()
	if !packed {
		t.Error("the next batch is still being packed")
	}
}
