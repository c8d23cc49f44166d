"""Makes the Parquet files of this folder, with pyarrow 26."""

import datetime as dt
import decimal
import uuid

import numpy as np
import pyarrow as pa
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
