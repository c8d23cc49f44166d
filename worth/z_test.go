package worth
import ("testing";"context";"fmt";"math/rand/v2";"time")
func TestZ(t *testing.T){
 rng:=rand.New(rand.NewPCG(1,2))
 th:=make([]float64,1000); for i:=range th{th[i]=rng.NormFloat64()}
 r:=&Rankings{Items:numbered(1000)}
 a:=simulate(rng,th,20000,10)
 for i:=range a.Len(){ x:=a.At(i); var pl [][]int; for _,p:=range x.Places{ if len(pl)>0&&len(pl[len(pl)-1])<3&&rng.Float64()<.2 {pl[len(pl)-1]=append(append([]int(nil),pl[len(pl)-1]...),p...)} else {pl=append(pl,p)} }; r.Add(Ranking{Places:pl}) }
 t0:=time.Now()
 _,err:=Fit(context.Background(),r,Options{})
 fmt.Println("ties",err,time.Since(t0)); t0=time.Now()
 for _,n:=range []int{1000}{
 c:=&Rankings{Items:numbered(n)}
 for i:=range n-1 { p:=rng.Float64()*3+0.2; c.Add(Ranking{Places:[][]int{{i},{i+1}},Weight:p}); c.Add(Ranking{Places:[][]int{{i+1},{i}}}) }
 t0=time.Now(); m,err:=Fit(context.Background(),c,Options{}); fmt.Println("chain",n,err,m.Steps,m.Change,m.LogWorths[0]-m.LogWorths[n-1],time.Since(t0)) }
}
