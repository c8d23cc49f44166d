-- For wrk: requests of FEATURES features and DOCUMENTS documents: a number, or two with a dash
-- between, such as 1-2000, for queries of mixed sizes, small ones more often. With RANKS, as many
-- ranks are drawn, and the request has what a log of clicks needs.
math.randomseed(1)
local features = tonumber(os.getenv("FEATURES") or 46)
local ranks = os.getenv("RANKS")
local low, high = string.match(os.getenv("DOCUMENTS") or "100", "(%d+)-?(%d*)")
low, high = tonumber(low), tonumber(high) or tonumber(low)

local bodies = {}
function init()
  for i = 1, low == high and 1 or 40 do
    local documents, ids = {}, {}
    for d = 1, math.floor(low * (high / low) ^ math.random() + 0.5) do
      local row = {}
      for f = 1, features do
        row[f] = string.format("%.6f", math.random())
      end
      ids[d] = '"document ' .. d .. '"'
      documents[d] = "[" .. table.concat(row, ",") .. "]"
    end
    bodies[i] = wrk.format("POST", "/v1/rank", {["Content-Type"] = "application/json"},
      '{"documents":[' .. table.concat(documents, ",") .. "]" ..
      (ranks and ',"draw":{"cutoff":' .. ranks .. '},"query":"query ' .. i .. '","document_ids":[' .. table.concat(ids, ",") .. "]" or "") .. "}")
  end
end

local at = 0
function request()
  at = at % #bodies + 1
  return bodies[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("p50 %.2f ms, p99 %.2f ms, %.0f requests/s, %d requests; errors: connect %d, read %d, write %d, status %d, timeout %d\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.requests / summary.duration * 1e6, summary.requests,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
