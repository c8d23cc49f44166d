package num

import "testing"

func TestSizedUsesMemoryThatIsLargeEnough(t *testing.T) {
	s := Sized([]int(nil), 100)
	if len(s) != 100 || cap(s) < 125 {
		t.Fatalf("length %d, capacity %d", len(s), cap(s))
	}
	for _, n := range []int{0, 1, 100, 125} {
		if again := Sized(s, n); len(again) != n || &again[:1][0] != &s[0] {
			t.Errorf("new memory for %d of %d", n, cap(s))
		}
	}
	if more := Sized(s, cap(s)+1); len(more) != cap(s)+1 {
		t.Errorf("length %d", len(more))
	}
}
