package num

import "testing"

// The first outputs for the seed 1234567 of the C code of Vigna's splitmix64.c
// (https://prng.di.unimi.it/splitmix64.c), as Rosetta Code lists them.
func TestOutputsAgreeWithTheReference(t *testing.T) {
	counter := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := SplitMixNext(counter); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
		counter += SplitMixGamma
	}
}
