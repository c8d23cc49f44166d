// Package num has small helpers of numeric code: functions that flush subnormal numbers to 0, as processors take a
// hundred times as long for them; orders of scores; slices that are reused; and the random numbers of SplitMix64 (Steele,
// Lea & Flood, OOPSLA 2014), a counter and a mixing function, so that draws do not wait for each other.
package num
