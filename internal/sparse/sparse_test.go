package sparse

import (
	"reflect"
	"testing"
)

func TestRowsOutOfOrderAreRefused(t *testing.T) {
	one := []float32{1, 2}
	for name, s := range map[string]Rows{
		"no rows":             {},
		"columns that repeat": {[]int{0, 2}, []int32{3, 3}, one},
		"columns that fall":   {[]int{0, 2}, []int32{3, 1}, one},
		"a negative column":   {[]int{0, 2}, []int32{-1, 1}, one},
		"a column beyond":     {[]int{0, 2}, []int32{1, 5}, one},
		"starts that fall":    {[]int{0, 2, 1}, []int32{1, 2}, one},
		"starts not at 0":     {[]int{1, 2}, []int32{1, 2}, one},
		"too few values":      {[]int{0, 2}, []int32{1, 2}, one[:1]},
	} {
		if s.Check(5) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s := Rows{[]int{0, 1, 1, 2}, []int32{4, 0}, one}
	if err := s.Check(5); err != nil {
		t.Error(err)
	}
	cut := s.Cut(1, 3)
	x := make([]float32, 4)
	cut.Dense(x, 2, Places([]int{0, 4}, 5))
	if !reflect.DeepEqual(x, []float32{0, 0, 2, 0}) || cut.At(1, 0) != 2 || cut.At(0, 0) != 0 {
		t.Error(cut, x)
	}
}
