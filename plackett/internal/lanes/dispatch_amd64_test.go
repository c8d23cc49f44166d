//go:build !purego

package lanes

import "testing"

// each runs a test with every instruction set that the machine has.
func each(t *testing.T, test func(t *testing.T)) {
	defer func() { inUse = best }()
	for set, name := range []string{"plain Go", "AVX2", "AVX-512"} {
		if inUse = instructionSet(set); inUse <= best {
			t.Run(name, test)
		}
	}
}
