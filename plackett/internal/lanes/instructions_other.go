//go:build !amd64 || purego

package lanes

func vectorInstructions() []instructions { return nil }
