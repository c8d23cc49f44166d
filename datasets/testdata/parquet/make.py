"""Makes the Parquet files of this folder, with pyarrow 26, Polars 2 and DuckDB 2."""

import datetime as dt
import decimal
import uuid

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

base = {"label": pa.array([2, 0, 1], pa.int32()), "qid": ["a", "a", "b"]}


def write(name, columns, **options):
    pq.write_table(pa.table(columns), name + ".parquet", write_statistics=False, compression="none", **options)


moments = [dt.datetime(2024, 5, 1, 10, 0, 0, 250000), None, dt.datetime(1969, 12, 31, 23, 59, 59)]
times = {f"at_{u}": pa.array(moments, pa.timestamp(u)) for u in ("ms", "us", "ns")}
times |= {f"utc_{u}": pa.array(moments, pa.timestamp(u, "UTC")) for u in ("ms", "us", "ns")}
times |= {f"took_{u}": pa.array([1, 2, None], pa.duration(u)) for u in ("s", "ms", "us", "ns")}
clock = [dt.time(1, 2, 3), dt.time(23, 59, 59), None]
times |= {"clock_ms": pa.array(clock, pa.time32("ms")), "clock_us": pa.array(clock, pa.time64("us")), "clock_ns": pa.array(clock, pa.time64("ns"))}
times |= {"day": pa.array([dt.date(2024, 5, 1), dt.date(1969, 12, 31), None], pa.date32())}
write("times", base | times)
write("int96", base | {"at": pa.array(moments, pa.timestamp("ns"))}, use_deprecated_int96_timestamps=True)

exact = [decimal.Decimal("1.25"), decimal.Decimal("-0.05"), None]
write("types", base | {
    "u8": pa.array([255, 0, None], pa.uint8()), "u16": pa.array([65535, 0, 1], pa.uint16()),
    "u32": pa.array([2**32 - 1, 0, 1], pa.uint32()), "u64": pa.array([2**64 - 1, 2**63, 1], pa.uint64()),
    "i8": pa.array([-128, 0, None], pa.int8()),
    "d5": pa.array(exact, pa.decimal128(5, 2)), "d70": pa.array(exact, pa.decimal256(70, 2)),
    "half": pa.array(np.array([1.5, -2, 0], np.float16)), "none": pa.nulls(3),
    "new": [True, False, None], "figures": ["1.5", "2", None], "empty": pa.nulls(3, pa.string()),
    "doc": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([uuid.UUID(int=i).bytes for i in range(3)], pa.binary(16))),
    "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"] * 3)),
    "kind": pa.array(["x", "y", "x"]).dictionary_encode(), "raw": pa.array([b"abc"] * 3, pa.binary(3)),
    "list": [[1], [], None], "struct": [{"x": 1}] * 3, "map": pa.array([[("k", 1)]] * 3, pa.map_(pa.string(), pa.int32())),
})

rows = pa.table(base | {"x": [1.0, 2.0, 3.0]})
with pq.ParquetWriter("empty-groups.parquet", rows.schema) as w:
    for part in (rows.slice(0, 0), rows, rows.slice(0, 0)):
        w.write_table(part)
pq.write_table(rows.slice(0, 0), "no-rows.parquet")
pq.write_table(pa.table({}), "nothing.parquet")

# The same table in the encodings and compressions of several programs, and in CSV.
rng = np.random.default_rng(1)
n = 60


def whole(low, high, kind):
    values = [low, high, *(int(v) for v in rng.integers(low, high, n - 2, dtype=np.dtype(kind.to_pandas_dtype()), endpoint=True))]
    return pa.array([None if rng.random() < 0.2 else v for v in values], kind)


def some(values, kind):
    return pa.array([None if rng.random() < 0.2 else v for v in values], kind)


table = pa.table({
    "label": pa.array([0, 1, 2] * (n // 3), pa.int32()),
    "qid": [f"query {i // 7}" for i in range(n)],
    "docid": [f"document {i * i:05d} of {n}" for i in range(n)],
    "i8": whole(-(2**7), 2**7 - 1, pa.int8()), "i32": whole(-(2**31), 2**31 - 1, pa.int32()),
    "i64": whole(-(2**63), 2**63 - 1, pa.int64()), "u32": whole(0, 2**32 - 1, pa.uint32()), "u64": whole(0, 2**64 - 1, pa.uint64()),
    "f32": some(rng.normal(size=n).astype(np.float32), pa.float32()), "f64": pa.array(rng.normal(size=n)),
    "half": pa.array(rng.integers(-9, 9, n).astype(np.float16) / 4),
    "price": some([decimal.Decimal(int(v)) / 100 for v in rng.integers(-(10**9), 10**9, n)], pa.decimal128(22, 2)),
    "new": pa.array(np.repeat([True, False, True, False], [1, 3, 45, n - 49])), "sale": some(rng.random(n) < 0.5, pa.bool_()),
    "city": some([("Lima", "Oslo", "Bern", "Zürich, the largest of these")[v] for v in rng.integers(0, 4, n)], pa.string()),
})
pyarrow.csv.write_csv(table.set_column(10, "half", table["half"].cast(pa.float32())), "encoded.csv")


def encode(name, encodings, **options):
    every = {c: e for columns, e in encodings.items() for c in columns.split()}
    plain = {c: "PLAIN" for c in table.column_names}
    pq.write_table(table, name + ".parquet", write_statistics=False, use_dictionary=False, column_encoding=plain | every,
                   row_group_size=35, data_page_size=150, write_batch_size=10, **options)


numbers, floats = "label i8 i32 i64 u32 u64", "f32 f64"
encode("delta-length", {numbers: "DELTA_BINARY_PACKED", "qid docid city": "DELTA_LENGTH_BYTE_ARRAY", "new sale": "RLE"},
       compression="lz4", data_page_version="1.0")
encode("delta", {numbers: "DELTA_BINARY_PACKED", "qid docid city half price": "DELTA_BYTE_ARRAY"},
       compression="none", data_page_version="2.0")
encode("split", {numbers + " " + floats + " half price": "BYTE_STREAM_SPLIT"}, compression="brotli", data_page_version="2.0")
pl.from_arrow(table).write_parquet("polars.parquet", compression="lz4", row_group_size=35, statistics=False)
duckdb.register("documents", table.set_column(10, "half", table["half"].cast(pa.float32())))
duckdb.execute("COPY documents TO 'duckdb.parquet' (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION lz4_raw)")
