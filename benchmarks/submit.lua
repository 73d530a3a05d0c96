-- What wrk sends: tasks for a few hundred hosts, each URL another. What it prints: one JSON object.
local key = os.getenv("BENCH_KEY")
local number = 0

request = function()
  number = number + 1
  local body = string.format(
    '{"target_type":"product","target_url":"http://shop%d.example/product/%d.html",' ..
    '"workspace_id":"bench"}', number % 500, number)
  local headers = { ["Content-Type"] = "application/json", ["X-Service-Key"] = key }
  return wrk.format("POST", "/api/v1/scrape", headers, body)
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"accepted": %d, "seconds": %f, "refused": %d, "broken": %d, ' ..
    '"p50": %f, "p99": %f, "slowest": %f}\n',
    summary.requests - errors.status, summary.duration / 1e6, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
