//go:build !purego

package lanes

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go -C ../../../internal/gen run ./lanes -out ../../plackett/internal/lanes/lanes_amd64.s -stubs ../../plackett/internal/lanes/stubs_amd64.go -pkg lanes

// An instructionSet is what the functions are computed with.
type instructionSet int

const (
	plainGo instructionSet = iota
	avx2
	avx512
)

// best is the best that the machine has.
var best = func() instructionSet {
	switch {
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasAVX512F:
		return avx512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return avx2
	}
	return plainGo
}()

var inUse = best

// upper is the second half of a Vec; AVX2 registers hold one half.
func upper(p *float64) *float64 { return (*float64)(unsafe.Add(unsafe.Pointer(p), 8*Width/2)) }

func expm1(r []Vec, w []float64, t *Vec, scale float64, halvings int) {
	if inUse == plainGo {
		expm1Go(r, w, t, scale, halvings)
		return
	}
	rp, wp, n, tp := &r[0][0], &w[0], len(w), &t[0]
	if inUse == avx512 {
		expm1AVX512(rp, wp, n, tp, scale, halvings)
		return
	}
	expm1AVX2(rp, wp, n, tp, scale, halvings)
	expm1AVX2(upper(rp), wp, n, upper(tp), scale, halvings)
}

func sums(s []Sum, r, power []Vec, w, v []float64) {
	if inUse == plainGo {
		sumsGo(s, r, power, w, v)
		return
	}
	sp, rp, pp, n, wp, vp := &s[0].Power[0], &r[0][0], &power[0][0], len(r), &w[0], &v[0]
	if inUse == avx512 {
		sumsAVX512(sp, len(s), rp, pp, n, wp, vp)
		return
	}
	sumsAVX2(sp, len(s), rp, pp, n, wp, vp)
	sumsAVX2(upper(sp), len(s), upper(rp), upper(pp), n, wp, vp)
}

func horner(out []float64, c []Pair, r []Vec, w, g []float64) {
	if inUse == plainGo {
		hornerGo(out, c, r, w, g)
		return
	}
	op, cp, rp, n, wp, gp := &out[0], &c[0].A[0], &r[0][0], len(r), &w[0], &g[0]
	if inUse == avx512 {
		hornerAVX512(op, cp, len(c), rp, n, wp, gp)
		return
	}
	hornerAVX2(op, cp, len(c), rp, n, wp, gp)
	hornerAVX2(op, upper(cp), len(c), upper(rp), n, wp, gp)
}

func forward(states []State, ranks, size int, chances []Chance, r []Vec, t *Vec, w, g []float64) {
	if inUse == plainGo {
		forwardGo(states, ranks, size, chances, r, t, w, g)
		return
	}
	sp, cp, rp, docs, tp, wp, gp := &states[0].P[0], &chances[0].Q[0], &r[0][0], len(r), &t[0], &w[0], &g[0]
	if inUse == avx512 {
		forwardAVX512(sp, ranks, size, cp, rp, docs, tp, wp, gp)
		return
	}
	forwardAVX2(sp, ranks, size, cp, rp, docs, tp, wp, gp)
	forwardAVX2(upper(sp), ranks, size, upper(cp), upper(rp), docs, upper(tp), wp, gp)
}

func backward(out []float64, u, states []State, ranks, size int, chances []Chance, g []float64) {
	if inUse == plainGo {
		backwardGo(out, u, states, ranks, size, chances, g)
		return
	}
	op, up, sp, cp, docs, gp := &out[0], &u[0].P[0], &states[0].P[0], &chances[0].Q[0], len(out), &g[0]
	if inUse == avx512 {
		backwardAVX512(op, up, sp, ranks, size, cp, docs, gp)
		return
	}
	backwardAVX2(op, up, sp, ranks, size, cp, docs, gp)
	backwardAVX2(op, upper(up), upper(sp), ranks, size, upper(cp), docs, gp)
}

func series(s []State, c []Sum) {
	if inUse == plainGo {
		seriesGo(s, c)
		return
	}
	sp, n, cp := &s[0].P[0], len(s), &c[0].Power[0]
	if inUse == avx512 {
		seriesAVX512(sp, n, cp, len(c))
		return
	}
	seriesAVX2(sp, n, cp, len(c))
	seriesAVX2(upper(sp), n, upper(cp), len(c))
}

func correlate(c []Pair, u, s []State) {
	if inUse == plainGo {
		correlateGo(c, u, s)
		return
	}
	cp, up, sp, n := &c[0].A[0], &u[0].P[0], &s[0].P[0], len(s)
	if inUse == avx512 {
		correlateAVX512(cp, len(c), up, sp, n)
		return
	}
	correlateAVX2(cp, len(c), up, sp, n)
	correlateAVX2(upper(cp), len(c), upper(up), upper(sp), n)
}

func remain(ranks []Rank, totals *[2]Total) {
	if inUse == plainGo {
		remainGo(ranks, totals)
		return
	}
	rp, n, tp := &ranks[0].W[0], len(ranks), &totals[0].High
	if inUse == avx512 {
		remainAVX512(rp, n, tp)
		return
	}
	remainAVX2(rp, n, tp)
	remainAVX2(upper(rp), n, tp)
}

func place(out []Vec, ranks []Rank, theta, baseline []float64, c *Credit, ceiling *Vec, s *Shared) {
	if inUse == plainGo {
		placeGo(out, ranks, theta, baseline, c, ceiling, s)
		return
	}
	op, rp, n, tp, bp := &out[0][0], &ranks[0].W[0], len(ranks), &theta[0], &baseline[0]
	if inUse == avx512 {
		placeAVX512(op, rp, n, tp, bp, &c.Later, &ceiling[0], &s.A[0])
		return
	}
	placeAVX2(op, rp, n, tp, bp, &c.Later, &ceiling[0], &s.A[0])
	placeAVX2(upper(op), upper(rp), n, tp, bp, &c.Later, upper(&ceiling[0]), upper(&s.A[0]))
}

func transitions(chances []Chance, r []Vec, t *Vec, w []float64) {
	if inUse == plainGo {
		transitionsGo(chances, r, t, w)
		return
	}
	cp, rp, docs, tp, wp := &chances[0].Q[0], &r[0][0], len(r), &t[0], &w[0]
	if inUse == avx512 {
		transitionsAVX512(cp, rp, docs, tp, wp)
		return
	}
	transitionsAVX2(cp, rp, docs, tp, wp)
	transitionsAVX2(upper(cp), upper(rp), docs, upper(tp), wp)
}

func multiply(states []State, z []float64, chances []Chance, g []float64) {
	if inUse == plainGo {
		multiplyGo(states, z, chances, g)
		return
	}
	sp, terms, zp, cp, docs, gp := &states[0].P[0], len(states), &z[0], &chances[0].Q[0], len(chances), &g[0]
	if inUse == avx512 {
		multiplyAVX512(sp, terms, zp, cp, docs, gp)
		return
	}
	multiplyAVX2(sp, terms, zp, cp, docs, gp)
	multiplyAVX2(upper(sp), terms, zp, upper(cp), docs, gp)
}

func divide(out []float64, terms []Pair, z []float64, chances []Chance, g []float64) {
	if inUse == plainGo {
		divideGo(out, terms, z, chances, g)
		return
	}
	op, tp, count, zp, cp, docs, gp := &out[0], &terms[0].A[0], len(terms), &z[0], &chances[0].Q[0], len(chances), &g[0]
	if inUse == avx512 {
		divideAVX512(op, tp, count, zp, cp, docs, gp)
		return
	}
	divideAVX2(op, tp, count, zp, cp, docs, gp)
	divideAVX2(op, upper(tp), count, zp, upper(cp), docs, gp)
}
