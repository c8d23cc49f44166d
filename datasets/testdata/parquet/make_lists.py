# Writes the files of lists, and the same as lists.csv: make_lists.py FOLDER (pyarrow, polars, pandas, duckdb).
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, polars as pl, pandas as pd, duckdb, sys
out=sys.argv[1]
rng=np.random.default_rng(7)
n=60
q=rng.normal(size=(12,4)).astype(np.float32)
rows=[]
for i in range(n):
    qid=i//5
    d=rng.normal(size=4).astype(np.float32)
    if i%11==3: d=None
    elif i%11==7: d=[]
    rows.append((qid,i%3,float(i%7)/2,q[qid].tolist(),None if d is None else list(map(float,d))))
qid=[f"q{r[0]}" for r in rows]; label=[r[1] for r in rows]; f=[r[2] for r in rows]; qs=[r[3] for r in rows]; ds=[r[4] for r in rows]
with open(f'{out}/lists.csv','w') as o:
    o.write('qid,label,f,q,d\n')
    for a,b,c,x,y in zip(qid,label,f,qs,ds):
        t='' if not y else '"['+', '.join(repr(float(v)) for v in y)+']"'
        o.write(f'{a},{b},{c},"{" ".join(repr(float(v)) for v in x)}",{t}\n')
nul=[y if y else None for y in ds]
def tab(typ,dd=ds,qt=None):
    return pa.table({'qid':pa.array(qid),'label':pa.array(label,pa.int32()),'f':pa.array(f,pa.float32()),'q':pa.array(qs,qt or typ),'d':pa.array(dd,typ)})
pq.write_table(tab(pa.list_(pa.float32())),f'{out}/lists-arrow.parquet',row_group_size=25,compression='none',data_page_size=200,write_batch_size=4)
pq.write_table(tab(pa.list_(pa.float32()),qt=pa.list_(pa.float32())),f'{out}/lists-arrow-v2.parquet',data_page_version='2.0',use_dictionary=False,compression='zstd',data_page_size=100,write_batch_size=3)
pq.write_table(tab(pa.list_(pa.float64())),f'{out}/lists-double-legacy.parquet',use_compliant_nested_type=False,use_dictionary=True,compression='snappy')
pq.write_table(tab(pa.list_(pa.float32(),4),dd=nul),f'{out}/lists-fixed.parquet',column_encoding={'label':'PLAIN','f':'PLAIN','qid':'PLAIN','q.list.element':'BYTE_STREAM_SPLIT','d.list.element':'BYTE_STREAM_SPLIT'},use_dictionary=False)
nn=pa.list_(pa.field('element',pa.float32(),nullable=False))
sch=pa.schema([pa.field('qid',pa.string()),pa.field('label',pa.int32()),pa.field('f',pa.float32()),pa.field('q',nn,nullable=False),pa.field('d',pa.list_(pa.float16()))])
h=[None if y is None else np.array(y,np.float16) for y in ds]
pq.write_table(pa.table([pa.array(qid),pa.array(label,pa.int32()),pa.array(f,pa.float32()),pa.array(qs,nn),pa.array(h,pa.list_(pa.float16()))],schema=sch),f'{out}/lists-half.parquet')
df=pd.DataFrame({'qid':qid,'label':np.array(label,np.int32),'f':np.array(f,np.float32),'q':[np.array(x,np.float32) for x in qs],'d':[None if y is None else np.array(y,np.float32) for y in ds]})
df.to_parquet(f'{out}/lists-pandas.parquet')
pl.DataFrame({'qid':qid,'label':label,'f':f,'q':qs,'d':nul},schema={'qid':pl.String,'label':pl.Int32,'f':pl.Float32,'q':pl.Array(pl.Float32,4),'d':pl.Array(pl.Float32,4)}).write_parquet(f'{out}/lists-polars-array.parquet')
pl.DataFrame({'qid':qid,'label':label,'f':f,'q':qs,'d':ds},schema={'qid':pl.String,'label':pl.Int32,'f':pl.Float32,'q':pl.List(pl.Float32),'d':pl.List(pl.Float64)}).write_parquet(f'{out}/lists-polars.parquet',row_group_size=17)
t=tab(pa.list_(pa.float32()))
con=duckdb.connect(); con.register('t',t)
con.execute(f"copy (select qid,label,f,q::FLOAT[4] as q,d from t) to '{out}/lists-duckdb.parquet' (format parquet)")
con.execute(f"copy (select qid,label,f,q,d::DOUBLE[] as d from t) to '{out}/lists-duckdb-v2.parquet' (format parquet, parquet_version v2)")
# an empty row group between others
w=pq.ParquetWriter(f'{out}/lists-empty-group.parquet',t.schema)
w.write_table(t.slice(0,30)); w.write_table(t.slice(0,0)); w.write_table(t.slice(30)); w.close()
