//go:build race

package ranker

func init() { underRace = true }
